package engine_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/store"
)

// A worker skips jobs that other processes hold and takes over abandoned ones. A plain process
// waits for the rest.
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
	// The lock of a process that was killed.
	if err := os.WriteFile(filepath.Join(dir, "work", "locks", p.Runs[3].Key+".lock"), left, 0o666); err != nil {
		t.Fatal(err)
	}
	s := store.Open(dir)
	o := options()
	o.Worker = true
	if out := execute(t, p, s, o); out != (engine.Outcome{Computed: 7, Left: 1}) {
		t.Errorf("outcome %+v", out)
	}
	if out := execute(t, p, s, o); out != (engine.Outcome{Before: 7, Left: 1}) {
		t.Errorf("nothing left to claim: %+v", out)
	}
	time.AfterFunc(300*time.Millisecond, lock.Unlock)
	if out := execute(t, p, s, options()); out != (engine.Outcome{Before: 7, Computed: 1}) {
		t.Errorf("after waiting: %+v", out)
	}
	if !maps.Equal(contents(t, p, s), want) {
		t.Error("the records differ")
	}
}

// Times are marked if other processes compute runs at the same time, or if the machine is busy.
func TestBeside(t *testing.T) {
	p := plan(t, text)
	dir := t.TempDir()
	s := store.Open(dir)
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	lock, err := store.Open(dir).Lock(p.Runs[1].Key)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, &engine.Plan{Runs: p.Runs[:1]}, s, options())
	lock.Unlock()
	execute(t, &engine.Plan{Runs: p.Runs[:2]}, s, options())
	o := options()
	o.Busy = func() bool { return true }
	execute(t, &engine.Plan{Runs: p.Runs[:3]}, s, o)
	for i, want := range []bool{true, false, true} {
		r, err := s.Get(p.Runs[i].Key)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Provenance; got.Timing.Shared != want || got.Sessions[0].Busy != want || got.Shared {
			t.Errorf("run %d: timing shared %v, busy %v, process shared %v", i, got.Timing.Shared, got.Sessions[0].Busy, got.Shared)
		}
	}
	// A session that only scores the set does not affect the times of updates.
	p, s = plan(t, single), store.Open(t.TempDir())
	if _, err := interrupt(p, s, options(), at(-1)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	execute(t, p, s, o)
	r, err := s.Get(p.Runs[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Provenance; len(got.Sessions) != 2 || !got.Sessions[1].Busy || got.Timing.Shared {
		t.Errorf("scored on a busy machine: %+v, timing shared %v", got.Sessions, got.Timing.Shared)
	}
}

// One worker distils a shared set and scores it for all its runs.
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
	if n := len(order.runs); n < 8 || n > 10 { // two workers may start one at the same moment
		t.Errorf("%d sets were distilled for 16 runs in pairs: %q", n, order.runs)
	}
	if !maps.Equal(contents(t, p, store.Open(dir)), want) {
		t.Error("the records differ")
	}
}

// If another process distils a set, a plain process waits for it, and a worker leaves.
func TestSetOfAnotherPlan(t *testing.T) {
	p, alone := pair(t), store.Open(t.TempDir())
	execute(t, p, alone, options())
	want := contents(t, p, alone)
	order.runs = nil
	defer func() { hook = func(context.Context, int) {} }()
	dir := t.TempDir()
	begun, goOn := make(chan bool, 1), make(chan struct{})
	hook = func(context.Context, int) {
		select {
		case begun <- true:
		default:
		}
		<-goOn
	}
	var maker sync.WaitGroup
	maker.Go(func() {
		if out, err := engine.Execute(context.Background(), &engine.Plan{Runs: p.Runs[:1]}, store.Open(dir), options()); err != nil || out.Computed != 1 {
			t.Errorf("%+v, %v", out, err)
		}
	})
	<-begun
	o := options()
	o.Worker = true
	if out := execute(t, p, store.Open(dir), o); out != (engine.Outcome{Left: 2}) {
		t.Errorf("a worker: outcome %+v", out)
	}
	time.AfterFunc(300*time.Millisecond, func() { close(goOn) })
	if out := execute(t, p, store.Open(dir), options()); out != (engine.Outcome{Before: 1, Computed: 1}) {
		t.Errorf("a plain process: outcome %+v", out)
	}
	maker.Wait()
	if len(order.runs) != 1 {
		t.Errorf("the set was computed %d times", len(order.runs))
	}
	if !maps.Equal(contents(t, p, store.Open(dir)), want) {
		t.Error("the records differ")
	}
}
