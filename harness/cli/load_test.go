//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// traced is a system call with the time of it, as strace -f -ttt -y writes it.
var traced = regexp.MustCompile(`(?m)^\d+ +(\d+\.\d+) \w+\(.*results.*$`)

// Fifty workers on a folder do little to it while their runs are under way: fewer than 50
// operations on names a second, which is what servers of shared folders are slow at.
func TestLoad(t *testing.T) {
	if !*takesMinutes {
		t.Skip("SKIPPED: takes minutes; -slow runs it")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("SKIPPED: strace is not installed")
	}
	const workers = 50
	dir := hundred(t)
	began := time.Now()
	var all []*exec.Cmd
	for i := range workers {
		w := exec.Command("strace", "-f", "-qq", "-ttt", "-y", "-e", "trace=%file,getdents64", "-o", fmt.Sprint("calls", i), "./dgkip", "-exp", "tiny", "-worker", "-threads", "1")
		w.Dir = dir
		w.Env = append(os.Environ(), "SLOW_MS=2500") // 50 s for a run
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	for _, w := range all {
		if err := w.Wait(); err != nil {
			t.Error(err)
		}
	}
	total := 0
	perSecond := map[int]int{}
	for i := range workers {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("calls", i)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range traced.FindAllStringSubmatch(string(b), -1) {
			at, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			total++
			perSecond[int(at)-int(began.Unix())]++
		}
	}
	sum := 0
	for second := 20; second < 45; second++ { // all have begun, and none has ended
		sum += perSecond[second]
	}
	records, _ := filepath.Glob(filepath.Join(dir, "results", "runs", "*", "*"))
	t.Logf("%d workers, %d runs: %.1f operations a second while runs are under way, %d in all", workers, len(records), float64(sum)/25, total)
	if sum/25 >= 50 || total == 0 || len(records) != 100 {
		t.Errorf("by the second: %s", strings.TrimPrefix(fmt.Sprint(perSecond), "map"))
	}
}
