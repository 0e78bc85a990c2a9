package tensor

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// busy counts the goroutines that Parallel has started and that still run.
var busy atomic.Int64

// hire reserves up to n goroutines, as many as leave GOMAXPROCS of them at work
// together with the caller.
func hire(n int) int {
	for {
		b := busy.Load()
		n := min(int64(n), int64(runtime.GOMAXPROCS(0))-1-b)
		if n <= 0 {
			return 0
		}
		if busy.CompareAndSwap(b, b+n) {
			return int(n)
		}
	}
}

// threads is how many tasks a call of Parallel would run at a time now.
func threads() int { return max(1, runtime.GOMAXPROCS(0)-int(busy.Load())) }

// Parallel calls do(0) ... do(n-1), several at a time, and returns when all are
// done. Beside the goroutines that call it, at most GOMAXPROCS-1 are at work for
// all calls together, so that a task may call Parallel itself: it then runs on
// what is idle, or on its own goroutine alone. A panic in a task is raised again in the caller when the
// others have stopped.
//
// Which goroutine does which task is not fixed, so a task must own what it
// writes.
func Parallel(n int, do func(task int)) {
	hired := 0
	if n > 1 {
		hired = hire(n - 1)
	}
	if hired == 0 {
		for i := range n {
			do(i)
		}
		return
	}
	var (
		next   atomic.Int64
		wg     sync.WaitGroup
		failed atomic.Pointer[any]
	)
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				failed.CompareAndSwap(nil, &r)
				next.Store(int64(n))
			}
		}()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	for range hired {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer busy.Add(-1)
			work()
		}()
	}
	work()
	wg.Wait()
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}
