package tensor

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// busy counts the running goroutines that Parallel started.
var busy atomic.Int64

// reserve reserves up to n goroutines. Together with the caller, at most GOMAXPROCS are
// at work.
func reserve(n int) int {
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

// threads returns how many tasks a call of Parallel would now run at a time.
func threads() int { return max(1, runtime.GOMAXPROCS(0)-int(busy.Load())) }

// Parallel calls do(0) ... do(n-1), several at a time, and returns when all are done. It
// raises a panic of a task again in the caller, after the other tasks have stopped.
//
// All calls together start at most GOMAXPROCS-1 goroutines. A task may therefore call
// Parallel: the inner call uses idle processors, or only its own goroutine.
//
// The assignment of tasks to goroutines is not fixed. A task must be the only one that
// writes its output.
func Parallel(n int, do func(task int)) {
	hired := 0
	if n > 1 {
		hired = reserve(n - 1)
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
