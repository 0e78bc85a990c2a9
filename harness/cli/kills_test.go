//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dgkip/harness/store"
)

// slowRuns writes an experiment with a slow method and five values of ipc to a new folder, where this
// test program is dgkip.
func slowRuns(t *testing.T, updates, seeds int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := strings.NewReplacer(`"random", "slow"`, `"slow"`, "ipc = [1, 2]", "ipc = [1, 2, 3, 4, 5]", "updates = 6", fmt.Sprint("updates = ", updates), "count = 2", fmt.Sprint("count = ", seeds)).Replace(tiny)
	write(t, filepath.Join(dir, "experiments", "tiny.toml"), text)
	images, err := tinyData("tiny")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tiny.npz"), string(images))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "dgkip")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// one is a worker, and the way it ended.
type one struct {
	*exec.Cmd
	ended chan error
	said  bytes.Buffer
}

func startWorker(t *testing.T, dir string, args ...string) *one {
	t.Helper()
	w := &one{Cmd: exec.Command("./dgkip", append([]string{"-exp", "tiny", "-threads", "1"}, args...)...), ended: make(chan error, 1)}
	w.Dir = dir
	w.Stderr = &w.said
	w.Env = append(os.Environ(), "SLOW_MS=50", "CHECKPOINT_MS=100", "STALE_MS=4000", "STARTS="+filepath.Join(dir, "starts"))
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { w.ended <- w.Wait() }()
	return w
}

// heldBy returns the keys of the locks of a process.
func heldBy(dir string, pid int) (keys []string) {
	names, _ := filepath.Glob(filepath.Join(dir, "work", "locks", "*.lock"))
	for _, name := range names {
		b, _ := os.ReadFile(name)
		var who struct{ PID int }
		if json.Unmarshal(b, &who) == nil && who.PID == pid {
			keys = append(keys, strings.TrimSuffix(filepath.Base(name), ".lock"))
		}
	}
	return keys
}

// Eight workers compute a hundred runs while ten workers are killed and replaced. No run is lost,
// and only killed runs are started twice.
func TestKilledWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("computes two hundred runs")
	}
	const workers, kills = 8, 10
	dir := slowRuns(t, 20, 20)
	from := time.Now()
	if err := <-startWorker(t, dir, "-jobs", fmt.Sprint(workers), "-quiet", "-out", "single").ended; err != nil {
		t.Fatal(err)
	}
	single := time.Since(from)
	if err := os.Remove(filepath.Join(dir, "starts")); err != nil {
		t.Fatal(err)
	}
	from = time.Now()
	var alive []*one
	for range workers {
		alive = append(alive, startWorker(t, dir, "-worker"))
	}
	random := rand.New(rand.NewPCG(1, 2))
	killed := map[string]int{} // number of kills by key
	for range kills {
		i := random.IntN(workers)
		held := func() []string { return heldBy(filepath.Join(dir, "results"), alive[i].Process.Pid) }
		for from := time.Now(); len(held()) == 0 && time.Since(from) < 10*time.Second; i = random.IntN(workers) {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		// Stop it first, so that its locks do not change before it is killed.
		alive[i].Process.Signal(syscall.SIGSTOP)
		for _, key := range held() {
			killed[key]++
		}
		alive[i].Process.Kill()
		if <-alive[i].ended == nil {
			t.Fatal("a worker ended before all kills: the test needs more runs")
		}
		alive[i] = startWorker(t, dir, "-worker")
	}
	for _, w := range alive {
		if err := <-w.ended; err != nil {
			t.Errorf("%v\n%s", err, &w.said)
		}
	}
	took := time.Since(from)
	again := 0
	begun, resumed := asOfOne(t, dir, 100)
	for key, n := range begun {
		if n > 1+killed[key] {
			t.Errorf("%s was started %d times and killed %d times", key, n, killed[key])
		}
		again += n - 1
	}
	t.Logf("%d kills, %d of them during a run: %d runs started again, %d continued; %.1f s, and %.1f s for one process with -jobs %d",
		kills, len(killed), again, resumed, took.Seconds(), single.Seconds(), workers)
}

// asOfOne compares the n records in the folder results with those of a single process in the folder
// single. It returns how often each run was started, by key, and how often runs were continued.
func asOfOne(t *testing.T, dir string, n int) (begun map[string]int, resumed int) {
	t.Helper()
	starts, err := os.ReadFile(filepath.Join(dir, "starts"))
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]int{}
	for line := range strings.Lines(string(starts)) {
		byName[strings.TrimSpace(line)]++
	}
	a, b := store.Open(filepath.Join(dir, "single")), store.Open(filepath.Join(dir, "results"))
	keys, err := a.Keys()
	if err != nil || len(keys) != n || len(byName) != n {
		t.Fatalf("%d records of %d started runs, %v", len(keys), len(byName), err)
	}
	begun = map[string]int{}
	for _, key := range keys {
		x, errX := a.Get(key)
		y, errY := b.Get(key)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		for _, name := range []string{"result.json", "trace.csv", "distilled.npz"} {
			p, errP := x.File(name)
			q, errQ := y.File(name)
			if errP != nil || errQ != nil || !bytes.Equal(p, q) {
				t.Errorf("%s of %s differs (%v, %v)", name, key, errP, errQ)
			}
		}
		id := y.Result.Identity
		begun[key] = byName[fmt.Sprint(id.IPC, " ", id.Seed)]
		resumed += len(y.Provenance.Sessions) - 1
	}
	if locks, _ := filepath.Glob(filepath.Join(dir, "results", "work", "locks", "*")); len(locks) > 0 {
		t.Errorf("locks are left: %q", locks)
	}
	return begun, resumed
}

// A worker that cannot save its state at the end of its time reports the error and exits with 1,
// not 75.
func TestStoppedWithoutRoom(t *testing.T) {
	dir := slowRuns(t, 20, 20)
	w := exec.Command("./dgkip", "-exp", "tiny", "-worker", "-for", "4s")
	w.Dir = dir
	w.Env = append(os.Environ(), "SLOW_MS=1000") // 20 s per run
	var said bytes.Buffer
	w.Stderr = &said
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "results", "work")
	begun := await(filepath.Join(work, "locks", "*.lock"))
	// Even the superuser cannot write to a folder that is a file.
	err := errors.Join(begun, os.RemoveAll(filepath.Join(work, "tmp")), os.WriteFile(filepath.Join(work, "tmp"), nil, 0o666))
	ended := w.Wait()
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if !errors.As(ended, &exit) || exit.ExitCode() != exitFailed || !strings.Contains(said.String(), "cannot write results") {
		t.Errorf("ended with %v and the output\n%s", ended, &said)
	}
}
