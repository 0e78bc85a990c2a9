package engine_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/env"
	"dgkip/harness/store"
)

// A worker leaves what others are at to them, takes over what nobody is at any more,
// and a plain process waits for the rest.
func TestWorkerLeaves(t *testing.T) {
	p, want := reference(t, text)
	dir := t.TempDir()
	other := store.Open(dir)
	if err := other.Prepare(); err != nil {
		t.Fatal(err)
	}
	lock, err := other.Lock(p.Runs[2].Key)
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(filepath.Join(dir, "work", "locks", p.Runs[2].Key+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	// Of a process that ended without giving its lock back.
	if err := os.WriteFile(filepath.Join(dir, "work", "locks", p.Runs[3].Key+".lock"), left, 0o666); err != nil {
		t.Fatal(err)
	}
	s := store.Open(dir)
	o := options()
	o.Worker = true
	if out := execute(t, p, s, o); out != (engine.Outcome{Made: 7, Left: 1}) {
		t.Errorf("outcome %+v", out)
	}
	if out := execute(t, p, s, o); out != (engine.Outcome{Before: 7, Left: 1}) {
		t.Errorf("nothing left to claim: %+v", out)
	}
	time.AfterFunc(300*time.Millisecond, lock.Unlock)
	if out := execute(t, p, s, options()); out != (engine.Outcome{Before: 7, Made: 1}) {
		t.Errorf("after waiting: %+v", out)
	}
	if !maps.Equal(contents(t, p, s), want) {
		t.Error("the records differ")
	}
}

// Of several processes that need the same, one computes it. The others make runs that
// need something else, and wait for it when there are no more of those.
func TestComputedOnce(t *testing.T) {
	keeps := text + "[method.walk]\nkeeps = true\n"
	p, want := reference(t, keeps)
	thinking = 300 * time.Millisecond
	defer func() { thinking = 0 }()
	found.Store(0)
	computed.Store(0)
	dir := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	sum := 0
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := store.Open(dir)
			o := options()
			o.Worker, o.Disk = true, s.Cache(1<<20, func(text string) { t.Error(text) })
			o.Jobs = 1 + i%2
			out, err := engine.Execute(context.Background(), plan(t, keeps), s, o)
			if err != nil || out.Failed > 0 {
				t.Errorf("%+v, %v", out, err)
			}
			mu.Lock()
			sum += out.Made
			mu.Unlock()
		}()
	}
	wg.Wait()
	if sum != 8 || computed.Load() != 2 {
		t.Errorf("%d runs were made and %d values computed, want 8 and 2", sum, computed.Load())
	}
	if !maps.Equal(contents(t, p, store.Open(dir)), want) {
		t.Error("the records differ")
	}
	if locks, _ := filepath.Glob(filepath.Join(dir, "work", "locks", "*")); len(locks) > 0 {
		t.Errorf("locks are left: %q", locks)
	}
}

// Times taken beside other processes that make runs are marked, and others are not.
func TestBeside(t *testing.T) {
	if env.Kernel() == "" {
		t.Skip("SKIPPED: this system does not name its kernel")
	}
	p := plan(t, text)
	dir := t.TempDir()
	s := store.Open(dir)
	other := store.Open(dir).Attend()
	execute(t, &engine.Plan{Runs: p.Runs[:1]}, s, options())
	other.Leave()
	execute(t, &engine.Plan{Runs: p.Runs[:2]}, s, options())
	for i, want := range []bool{true, false} {
		r, err := s.Get(p.Runs[i].Key)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Provenance; got.Timing.Shared != want || got.Sessions[0].Beside != want || got.Shared {
			t.Errorf("run %d: timing shared %v, beside %v, process shared %v", i, got.Timing.Shared, got.Sessions[0].Beside, got.Shared)
		}
	}
}

// A set that several runs score otherwise is made by one worker, which scores it for all.
func TestWorkersShareSets(t *testing.T) {
	both := strings.Replace(strings.Replace(text, "score = 3", "score = 0", 1), "[eval]", "\"eval.half.way\" = [false, true]\n[eval]", 1)
	p, want := reference(t, both)
	order.runs = nil
	hook = func(context.Context, int) { time.Sleep(2 * time.Millisecond) }
	defer func() { hook = func(context.Context, int) {} }()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Duration(i) * 30 * time.Millisecond)
			o := options()
			o.Worker = true
			if out, err := engine.Execute(context.Background(), plan(t, both), store.Open(dir), o); err != nil || out.Failed > 0 {
				t.Errorf("%+v, %v", out, err)
			}
		}()
	}
	wg.Wait()
	if n := len(order.runs); n < 8 || n > 10 { // two may begin at the same moment
		t.Errorf("%d sets were made for 16 runs in pairs: %q", n, order.runs)
	}
	if !maps.Equal(contents(t, p, store.Open(dir)), want) {
		t.Error("the records differ")
	}
}
