package engine_test

import (
	"context"
	"fmt"
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

// Times taken beside other processes that make runs are marked, and others are not.
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

// A worker that has nothing else to do waits for a set that another one makes to score it
// otherwise, if that one will not score it for this worker as well; else it leaves.
func TestSetOfAnotherPlan(t *testing.T) {
	both := strings.Replace(strings.Replace(text, "score = 3", "score = 0", 1), "[eval]", "\"eval.half.way\" = [false, true]\n[eval]", 1)
	p, want := reference(t, both)
	of := func(r *engine.Run) string { return fmt.Sprint(r.Data.Identity.Name, r.Cell.IPC, r.Seed) }
	var pair []*engine.Run
	for _, r := range p.Runs {
		if of(r) == of(p.Runs[0]) {
			pair = append(pair, r)
		}
	}
	if len(pair) != 2 {
		t.Fatalf("%d runs with the same set", len(pair))
	}
	defer func() { hook = func(context.Context, int) {} }()
	for _, c := range []struct {
		name   string
		theirs []*engine.Run
		want   engine.Outcome
	}{
		{"without this score", pair[:1], engine.Outcome{Before: 1, Made: 1}},
		{"with this score", pair, engine.Outcome{Left: 2}},
	} {
		dir := t.TempDir()
		begun, goOn := make(chan bool, 1), make(chan struct{})
		hook = func(context.Context, int) {
			select {
			case begun <- true:
			default:
			}
			<-goOn
		}
		order.Lock()
		order.runs = nil
		order.Unlock()
		o := options()
		o.Worker = true
		var maker sync.WaitGroup
		maker.Add(1)
		go func() {
			defer maker.Done()
			if out, err := engine.Execute(context.Background(), &engine.Plan{Runs: c.theirs}, store.Open(dir), o); err != nil || out.Made != len(c.theirs) {
				t.Errorf("%s: %+v, %v", c.name, out, err)
			}
		}()
		<-begun
		if len(c.theirs) == 1 {
			time.AfterFunc(300*time.Millisecond, func() { close(goOn) })
		}
		if out := execute(t, &engine.Plan{Runs: pair}, store.Open(dir), o); out != c.want {
			t.Errorf("%s: outcome %+v, want %+v", c.name, out, c.want)
		}
		if len(c.theirs) > 1 {
			close(goOn)
		}
		maker.Wait()
		if len(order.runs) != 1 {
			t.Errorf("%s: the set was made %d times", c.name, len(order.runs))
		}
		for name, text := range contents(t, &engine.Plan{Runs: pair}, store.Open(dir)) {
			if want[name] != text {
				t.Errorf("%s: %s differs", c.name, name)
			}
		}
	}
}

// After a long run a worker goes through all runs again: what became free meanwhile and
// is longest comes next.
func TestAfterALongRun(t *testing.T) {
	defer engine.SetLongAgo(0)()
	lengths := strings.Replace(text, `method = ["walk"]`, `method = ["walk", "long"]`, 1) + "[method.long]\nuse = \"walk\"\nflops = 1e12\n"
	var runs []*engine.Run
	for _, r := range plan(t, lengths).Runs {
		if long := r.Cell.Column == "long"; long == (len(runs) == 0) && (long || r.Cell.IPC == 2) {
			runs = append(runs, r)
		}
	}
	dir := t.TempDir()
	other := store.Open(dir)
	if err := other.Prepare(); err != nil {
		t.Fatal(err)
	}
	lock, err := other.Lock(runs[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	order.runs = nil
	var once sync.Once
	hook = func(context.Context, int) {
		once.Do(func() {
			lock.Unlock()
			time.Sleep(1100 * time.Millisecond) // nobody looks for locks more often than once a second
		})
	}
	defer func() { hook = func(context.Context, int) {} }()
	o := options()
	o.Worker = true
	if out := execute(t, &engine.Plan{Runs: runs}, store.Open(dir), o); out.Made != len(runs) || len(runs) != 5 {
		t.Errorf("outcome %+v of %d runs", out, len(runs))
	}
	if order.runs[1] != "a1 0" {
		t.Errorf("made in the order %q", order.runs)
	}
}

// With several jobs, one that found nothing left waits for the others: what they put back
// when a run is over is for all.
func TestJobsOfAWorkerStay(t *testing.T) {
	defer engine.SetLongAgo(0)()
	runs := plan(t, strings.Replace(text, `["a", "b"]`, `["a"]`, 1)).Runs[:3]
	dir := t.TempDir()
	other := store.Open(dir)
	if err := other.Prepare(); err != nil {
		t.Fatal(err)
	}
	var locks []*store.Lock
	for _, r := range runs[:2] {
		lock, err := other.Lock(r.Key)
		if err != nil {
			t.Fatal(err)
		}
		locks = append(locks, lock)
	}
	var mu sync.Mutex
	begun, together := 0, make(chan struct{})
	hook = func(_ context.Context, update int) {
		if update != 1 {
			return
		}
		mu.Lock()
		begun++
		nth := begun
		mu.Unlock()
		switch nth {
		case 1:
			for _, lock := range locks {
				lock.Unlock()
			}
			time.Sleep(1100 * time.Millisecond) // nobody looks for locks more often than once a second
		case 2:
			select {
			case <-together:
			case <-time.After(10 * time.Second):
				t.Error("the last two were not made at a time")
			}
		case 3:
			close(together)
		}
	}
	defer func() { hook = func(context.Context, int) {} }()
	o := options()
	o.Worker, o.Jobs = true, 2
	if out := execute(t, &engine.Plan{Runs: runs}, store.Open(dir), o); out.Made != 3 {
		t.Errorf("outcome %+v", out)
	}
}
