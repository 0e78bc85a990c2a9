//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// traced matches a system call with its time, as printed by strace -f -ttt -y.
var traced = regexp.MustCompile(`(?m)^\d+ +(\d+\.\d+) \w+\(.*results.*$`)

// Fifty workers put little load on a shared folder. They make fewer than 75 operations on names per
// second, which are slow on file servers. The test is the worst case: workers start together and
// compute two short runs of equal length, so they finish runs together. The load may then be three
// times as high for a minute. While all compute their first run, the usual state, it is below 25.
func TestLoad(t *testing.T) {
	if !*takesMinutes {
		t.Skip("SKIPPED: takes minutes; -slow runs it")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("SKIPPED: strace is not installed")
	}
	const workers = 50
	dir := hundred(t)
	var all []*exec.Cmd
	for i := range workers {
		w := exec.Command("strace", "-f", "-qq", "-ttt", "-y", "-e", "trace=%file,getdents64", "-o", fmt.Sprint("calls", i),
			"./dgkip", "-exp", "tiny", "-worker", "-workers", fmt.Sprint(workers), "-threads", "1")
		w.Dir = dir
		w.Env = append(os.Environ(), "SLOW_MS=8000") // 168 s per run
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
	var seconds []int // operations in each second
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
			seconds = append(seconds, int(at))
		}
	}
	if len(seconds) == 0 {
		t.Fatal("strace shows no operation")
	}
	perSecond := make([]int, slices.Max(seconds)-slices.Min(seconds)+1)
	for _, at := range seconds {
		perSecond[at-slices.Min(seconds)]++
	}
	records, _ := filepath.Glob(filepath.Join(dir, "results", "runs", "*", "*"))
	// The last worker starts 100 seconds after the first, and the first run ends 68 seconds later.
	const allBegun, noneEnded = 115, 160
	quiet := busiest(perSecond[min(allBegun, len(perSecond)):min(noneEnded, len(perSecond))], noneEnded-allBegun)
	average, minute := busiest(perSecond, len(perSecond)), busiest(perSecond, 60)
	t.Logf("%d records, %.1f operations a second; %.1f while all are at their first run, %.1f in the busiest minute", len(records), average, quiet, minute)
	if average >= 75 || quiet >= 25 || minute >= 225 || len(records) != 100 {
		t.Error("too many operations, or too few records")
	}
}

// busiest returns the highest rate of operations over the given number of consecutive seconds.
func busiest(perSecond []int, seconds int) (most float64) {
	seconds = min(seconds, len(perSecond))
	for i := range len(perSecond) - seconds + 1 {
		sum := 0
		for _, n := range perSecond[i:][:seconds] {
			sum += n
		}
		most = max(most, float64(sum)/float64(seconds))
	}
	return most
}
