package tensor

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Parallel calls do(0) ... do(n-1) on up to GOMAXPROCS goroutines and returns
// when all are done. A panic in one of them is raised again in the caller, when
// the others have stopped.
//
// Which goroutine does which task is not fixed, so a task must own what it
// writes.
func Parallel(n int, do func(task int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
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
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			do(i)
		}
	}
	for range workers - 1 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work()
		}()
	}
	work()
	wg.Wait()
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}

// threads is how many tasks run at a time.
func threads() int { return runtime.GOMAXPROCS(0) }
