package methodtest

import (
	"bytes"
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
		t.Error("updates were made after the context ended")
	}

	// A run that goes on from a checkpoint must not lose it.
	p := c.problem(1)
	want, _, err := c.run(context.Background(), p, func(s method.Step) {
		if s.Checkpoint != nil && p.Resume == nil {
			p.Resume, _ = s.Checkpoint()
		}
	})
	if err != nil || p.Resume == nil {
		return // checkpoints has what is wrong, if anything
	}
	if _, _, err = c.run(ctx, p, nil); !errors.As(err, &stopped) || stopped.Checkpoint == nil {
		t.Fatalf("got %v, or no checkpoint, of a run with one that ended before it went on", err)
	}
	p.Resume = stopped.Checkpoint
	if got, _, err := c.run(context.Background(), p, nil); err != nil || show(got) != show(want) {
		t.Errorf("%v, or other bits, of a run that ended before it went on", err)
	}
}

// cancelAndResume interrupts the run after each of the first updates, and after
// the resumed run's next one, and so on.
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
					t.Errorf("after %d steps the context ended, and another was observed: look at the context before every update", stride)
				}
			})
			cancel()
			steps = append(steps, part...)
			var stopped *method.Interrupted
			if errors.As(err, &stopped) {
				p.Resume = stopped.Checkpoint
				p.Shared = new(method.Shared) // as in another process
				if stopped.Checkpoint == nil {
					steps = nil
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if show(set) != show(want) {
				t.Errorf("interrupted every %d updates, the run ends in other bits", stride)
			}
			if !slices.Equal(steps, all) {
				t.Errorf("interrupted every %d updates, other steps were observed", stride)
			}
			break
		}
	}
}

// checkpoints continues from those taken along the way.
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
			t.Errorf("the checkpoint after step %d leads to other bits", i)
		}
	}
}

// damagedCheckpoints continues from what is no checkpoint of the run: that is an error,
// or a fresh start where the method has no use for checkpoints, and never a crash.
func (c *checker) damagedCheckpoints(t *testing.T) {
	var state []byte
	want, _, err := c.run(context.Background(), c.problem(1), func(s method.Step) {
		if s.Checkpoint == nil || s.Update > 1 {
			return
		}
		var err error
		if state, err = s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	resume := func(what string, b []byte, change func(*method.Problem)) {
		t.Helper()
		p := c.problem(1)
		p.Resume = b
		if change != nil {
			change(&p)
		}
		var stopped *method.Interrupted
		set, _, err := c.run(context.Background(), p, nil)
		if errors.As(err, &stopped) {
			t.Errorf("%s: %v, though nobody asked for it", what, err)
		}
		if err == nil && change == nil && state == nil && show(set) != show(want) {
			t.Errorf("%s: the run ends in other bits", what)
		}
		if err == nil && change != nil && state != nil {
			t.Errorf("%s was accepted", what)
		}
	}
	resume("a text", []byte("nothing of the kind"), nil)
	for i := range 8 {
		at := i * len(state) / 8
		resume("a part of a checkpoint", append([]byte{}, state[:at]...), nil)
		if len(state) > 0 {
			b := bytes.Clone(state)
			b[at] ^= 1
			resume("a checkpoint with a wrong bit", b, nil)
		}
	}
	resume("the checkpoint of a run with fewer images", state, func(p *method.Problem) { p.IPC-- })
}

// asked is a context that ends once it has been asked a number of times whether it
// has.
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

// maxAsked bounds the places that stopAnywhere tries; after some it takes samples.
const maxAsked = 60

// stopAnywhere ends the context between observations: wherever the method looks
// at it, the run that goes on sees the same updates, each once.
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
			t.Fatalf("stopped when asked for the %dth time: %v, want an *Interrupted", left+1, err)
		}
		p := c.problem(1)
		if p.Resume = stopped.Checkpoint; p.Resume == nil {
			steps = nil // it starts again
		}
		got, rest := c.must(t, p)
		if show(got) != show(want) {
			t.Errorf("stopped when asked for the %dth time, the run ends in other bits", left+1)
		}
		if steps = append(steps, rest...); !slices.Equal(steps, all) {
			t.Errorf("stopped when asked for the %dth time, %d steps were observed and not %d, or others", left+1, len(steps), len(all))
		}
	}
}
