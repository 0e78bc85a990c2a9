package methodtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"dgkip/harness/method"
)

func (c *checker) cancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, steps, err := c.run(ctx, c.problem(1), nil)
	var stopped *method.Interrupted
	if !errors.As(err, &stopped) {
		t.Errorf("got %v, want an *Interrupted: begin with  if err := ctx.Err(); err != nil { return nil, method.Stopped(ctx, p, err) }", err)
	}
	if len(steps) > 1 {
		t.Error("the run made updates although its context was cancelled")
	}

	// A run that continues from a checkpoint must not lose it.
	p := c.problem(1)
	want, _, err := c.run(context.Background(), p, func(s method.Step) {
		if s.Checkpoint != nil && p.Resume == nil {
			p.Resume, _ = s.Checkpoint()
		}
	})
	if err != nil || p.Resume == nil {
		return // the test "checkpoints" reports the error
	}
	if _, _, err = c.run(ctx, p, nil); !errors.As(err, &stopped) || stopped.Checkpoint == nil {
		t.Fatalf("a resumed run that is cancelled at once must return an *Interrupted with its checkpoint, not %v", err)
	}
	p.Resume = stopped.Checkpoint
	if got, _, err := c.run(context.Background(), p, nil); err != nil || show(got) != show(want) {
		t.Errorf("a resumed run that was cancelled at once and resumed again gives different bits, or the error %v", err)
	}
}

// cancelAndResume cancels the run every few updates, up to a limit, and resumes it each time.
func (c *checker) cancelAndResume(t *testing.T) {
	want, all := c.must(t, c.problem(1))
	strides := []int{1, 2, 3}
	if testing.Short() {
		strides = []int{1, 3}
	}
	for _, stride := range strides {
		p := c.problem(1)
		var steps []seen
		for round := 0; ; round++ {
			ctx, cancel := context.WithCancel(context.Background())
			calls := 0
			set, part, err := c.run(ctx, p, func(method.Step) {
				if calls++; calls == stride && round < tries {
					cancel()
				} else if calls == stride+1 && round < tries {
					t.Errorf("after %d steps the context was cancelled, but another step was observed: check the context before every update", stride)
				}
			})
			cancel()
			steps = append(steps, part...)
			var stopped *method.Interrupted
			if errors.As(err, &stopped) {
				p.Resume = stopped.Checkpoint
				p.Shared = new(method.Shared) // as in a new process
				if stopped.Checkpoint == nil {
					steps = nil
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if show(set) != show(want) {
				t.Errorf("interrupted every %d updates, the run ends with different bits", stride)
			}
			if !slices.Equal(steps, all) {
				t.Errorf("interrupted every %d updates, the observed steps differ", stride)
			}
			break
		}
	}
}

// checkpoints resumes from every checkpoint of a run.
func (c *checker) checkpoints(t *testing.T) {
	var states [][]byte
	want, all, err := c.run(context.Background(), c.problem(1), func(s method.Step) {
		if s.Checkpoint == nil || len(states) > tries {
			return
		}
		b, err := s.Checkpoint()
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, b)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(states) == 0 && len(all) > 1 {
		t.Error("a method with updates must offer checkpoints")
	}
	for i, b := range states {
		p := c.problem(1)
		p.Resume = b
		set, steps := c.must(t, p)
		if show(set) != show(want) || !slices.Equal(steps, all[i+1:]) {
			t.Errorf("the checkpoint after step %d leads to different bits", i)
		}
	}
}

// asked is a context that cancels itself after a number of calls of Err.
type asked struct {
	context.Context
	mu   sync.Mutex
	left int
	done chan struct{}
}

func (a *asked) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left--; a.left >= 0 {
		return nil
	}
	if a.left == -1 {
		close(a.done)
	}
	return context.Canceled
}

func (a *asked) Done() <-chan struct{} { return a.done }

// maxAsked is the largest number of places that stopAnywhere tries. It samples if there are more.
const maxAsked = 60

// stopAnywhere cancels the context at each place where the method checks it. The resumed run must
// observe the same updates, each once.
func (c *checker) stopAnywhere(t *testing.T) {
	want, all := c.must(t, c.problem(1))
	for left := range maxAsked {
		if left > 12 && (left%7 != 0 || testing.Short()) {
			continue
		}
		_, steps, err := c.run(&asked{Context: context.Background(), left: left, done: make(chan struct{})}, c.problem(1), nil)
		if err == nil {
			return
		}
		var stopped *method.Interrupted
		if !errors.As(err, &stopped) {
			t.Fatalf("cancelled at check %d of the context: %v, want an *Interrupted", left+1, err)
		}
		p := c.problem(1)
		if p.Resume = stopped.Checkpoint; p.Resume == nil {
			steps = nil // the run starts from the beginning
		}
		got, rest := c.must(t, p)
		if show(got) != show(want) {
			t.Errorf("cancelled at check %d of the context, the run ends with different bits", left+1)
		}
		if steps = append(steps, rest...); !slices.Equal(steps, all) {
			t.Errorf("cancelled at check %d of the context, %d steps were observed instead of %d, or they differ", left+1, len(steps), len(all))
		}
	}
}
