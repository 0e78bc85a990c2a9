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

// traced is a system call with the time of it, as strace -f -ttt -y writes it.
var traced = regexp.MustCompile(`(?m)^\d+ +(\d+\.\d+) \w+\(.*results.*$`)

// Fifty workers do little to a folder, from the first one's start to the last one's end:
// fewer than 75 operations on names a second, which is what servers of shared folders are
// slow at. This is as bad as it gets: they begin together, each makes two short runs, and
// all runs take as long, so that they change and end at about the same time as well. Then
// it may be three times as many for a minute. It is fewer than 25 while all are at their
// first run, which is what a folder sees most of the time.
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
		w.Env = append(os.Environ(), "SLOW_MS=8000") // 168 s for a run
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
	var seconds []int // in which there was an operation
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
		t.Fatal("no operation was seen")
	}
	perSecond := make([]int, slices.Max(seconds)-slices.Min(seconds)+1)
	for _, at := range seconds {
		perSecond[at-slices.Min(seconds)]++
	}
	records, _ := filepath.Glob(filepath.Join(dir, "results", "runs", "*", "*"))
	// The last one begins 100 seconds after the first, and the first run ends 68 after that.
	const allBegun, noneEnded = 115, 160
	quiet := busiest(perSecond[min(allBegun, len(perSecond)):min(noneEnded, len(perSecond))], noneEnded-allBegun)
	average, minute := busiest(perSecond, len(perSecond)), busiest(perSecond, 60)
	t.Logf("%d workers, %d runs, %d operations in %d s: %.1f a second; %.1f while all are at their first run, %.1f in the busiest minute, %.1f in the busiest ten seconds, %.0f in the busiest second; by ten seconds %d",
		workers, len(records), len(seconds), len(perSecond), average, quiet, minute, busiest(perSecond, 10), busiest(perSecond, 1), byTen(perSecond))
	if average >= 75 || quiet >= 25 || minute >= 225 || len(records) != 100 {
		t.Error("too many operations, or too few records")
	}
}

// busiest returns the most operations a second in so many seconds on end.
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

// byTen sums ten seconds at a time.
func byTen(perSecond []int) (sums []int) {
	for ten := range slices.Chunk(perSecond, 10) {
		sum := 0
		for _, n := range ten {
			sum += n
		}
		sums = append(sums, sum)
	}
	return sums
}
