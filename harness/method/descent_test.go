package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/optim"
)

// line is a descent of one number with constant slope. It records the calls of its functions.
type line struct {
	Descent
	x    *optim.Variable[float32]
	said []string
}

func (l *line) say(format string, args ...any) { l.said = append(l.said, fmt.Sprintf(format, args...)) }

func newLine(t *testing.T, updates int) *line {
	t.Helper()
	x := optim.NewVariable("number", []float32{10}, optim.SGD(1, 0, 0))
	l := &line{x: x}
	l.Descent = Descent{
		Name: "line", Updates: updates, Variables: []Variable{x}, Set: func() *Distilled { return &Distilled{Images: slices.Clone(x.X)} },
		Gradient: func(_ context.Context, update int) (float64, error) {
			l.say("gradient %d", update)
			x.Grad[0] = 1
			return float64(x.X[0]), nil
		},
	}
	return l
}

func lineProblem() Problem {
	return Problem{Data: &Data{Name: "d"}, IPC: 1, Seed: 1}
}

func (l *line) run(ctx context.Context, p Problem, observe func(Step)) (float32, error) {
	set, err := l.Run(ctx, p, func(s Step) {
		loss := "no loss"
		if s.HasLoss {
			loss = fmt.Sprint("loss ", s.Loss)
		}
		l.say("update %d of %d, %s", s.Update, s.Of, loss)
		if observe != nil {
			observe(s)
		}
	})
	if err != nil {
		return 0, err
	}
	return set.Images[0], nil
}

func (l *line) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(l.said, want) {
		t.Errorf("got  %q\nwant %q", l.said, want)
	}
}

// A loss of Gradient is observed after the update. Nothing is computed after the last update.
func TestDescent(t *testing.T) {
	l := newLine(t, 2)
	if x, err := l.run(context.Background(), lineProblem(), nil); err != nil || x != 8 {
		t.Errorf("%v, %v", x, err)
	}
	l.expect(t, "update 0 of 2, no loss", "gradient 0", "update 1 of 2, loss 10", "gradient 1", "update 2 of 2, loss 9")
	l = newLine(t, 0)
	if x, err := l.run(context.Background(), lineProblem(), nil); err != nil || x != 10 {
		t.Errorf("%v, %v", x, err)
	}
	l.expect(t, "update 0 of 0, no loss")
}

// A loss of Eval, even 0, is observed with its own set. The last Eval does not prepare for a
// gradient.
func TestDescentWithEval(t *testing.T) {
	l := newLine(t, 1)
	l.Eval = func(_ context.Context, update int, gradient bool) (float64, error) {
		l.say("eval %d %v", update, gradient)
		return float64(l.x.X[0]) - 10, nil
	}
	if _, err := l.run(context.Background(), lineProblem(), nil); err != nil {
		t.Error(err)
	}
	l.expect(t, "eval 0 true", "update 0 of 1, loss 0", "gradient 0", "eval 1 false", "update 1 of 1, loss -1")
}

// The time of an update excludes Prepare. Prepare does not run again if the update itself was
// stopped.
func TestPrepare(t *testing.T) {
	l, p := newLine(t, 2), lineProblem()
	p.Begin = func() { l.say("begin") }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l.Prepare = func(_ context.Context, update int) error { l.say("prepare %d", update); return nil }
	gradient := l.Gradient
	l.Gradient = func(ctx context.Context, update int) (float64, error) {
		if update == 1 {
			cancel()
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
		}
		return gradient(ctx, update)
	}
	var stopped *Interrupted
	if _, err := l.run(ctx, p, nil); !errors.As(err, &stopped) {
		t.Fatal(err)
	}
	p.Resume = stopped.Checkpoint
	if x, err := l.run(context.Background(), p, nil); err != nil || x != 8 {
		t.Errorf("%v, %v", x, err)
	}
	l.expect(t, "update 0 of 2, no loss", "prepare 0", "begin", "gradient 0", "update 1 of 2, loss 10", "prepare 1", "begin",
		"begin", "gradient 1", "update 2 of 2, loss 9")
}

func TestSchedule(t *testing.T) {
	l := newLine(t, 3)
	l.Schedule = func(update int) float64 { return 1 / float64(update+1) }
	if x, err := l.run(context.Background(), lineProblem(), nil); err != nil || math.Abs(float64(x)-(10-1-0.5-1./3)) > 1e-6 {
		t.Errorf("%v, %v", x, err)
	}
}

// A value that is not finite ends the run with the update and a hint. That set is not observed.
func TestDivergence(t *testing.T) {
	for want, spoil := range map[string]func(*line){
		"update 1: the gradient of the number contains +Inf": func(l *line) {
			l.Gradient = func(context.Context, int) (float64, error) { l.x.Grad[0] = float32(math.Inf(1)); return 0, nil }
		},
		"update 1: the gradient of the number contains 1e+20, whose square is not finite": func(l *line) {
			l.Gradient = func(context.Context, int) (float64, error) { l.x.Grad[0] = 1e20; return 0, nil }
		},
		"update 1: the loss is NaN": func(l *line) {
			l.Gradient = func(context.Context, int) (float64, error) { return math.NaN(), nil }
		},
		"update 2: the loss is -Inf": func(l *line) {
			l.Eval = func(_ context.Context, update int, _ bool) (float64, error) {
				return []float64{1, 1, math.Inf(-1)}[update], nil
			}
		},
	} {
		l := newLine(t, 5)
		spoil(l)
		l.Hint = "go slow"
		_, err := l.run(context.Background(), lineProblem(), func(s Step) {
			if v := s.Distilled().Images[0]; v-v != 0 || math.IsInf(s.Loss, 0) {
				t.Errorf("%s: a set of %v was observed", want, v)
			}
		})
		if err == nil || !strings.HasPrefix(err.Error(), "line: "+want+": ") || !strings.HasSuffix(err.Error(), "\nhint: go slow") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// taken returns the checkpoint after an update.
func taken(t *testing.T, l *line, update int) (state []byte) {
	t.Helper()
	_, err := l.run(context.Background(), lineProblem(), func(s Step) {
		if s.Update == update {
			state, _ = s.Checkpoint()
		}
	})
	if err != nil || state == nil {
		t.Fatal(err)
	}
	return state
}

// Checkpoints that are cut off, have another number of parts or values, or come from an earlier
// version of the program are refused.
func TestBadCheckpoints(t *testing.T) {
	state := taken(t, newLine(t, 5), 2)
	try := func(what string, b []byte, variables ...Variable) {
		t.Helper()
		l, p := newLine(t, 5), lineProblem()
		p.Resume = b
		if variables != nil {
			l.Variables = variables
		}
		if _, err := l.run(context.Background(), p, nil); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for i := range state {
		try(fmt.Sprint(i, " bytes"), state[:i:i])
	}
	try("an earlier version", append([]byte("dgkip/descent/1\n\x01\x02\x03\x04"), state...))
	number := func(x ...float32) Variable { return optim.NewVariable("number", x, optim.SGD(1, 0, 0)) }
	try("two variables", state, number(10), number(10))
	try("two values", state, number(10, 1))
}

func TestStopped(t *testing.T) {
	oops := errors.New("oops")
	if err := Stopped(context.Background(), Problem{}, oops); err != oops {
		t.Errorf("got %v", err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	var stopped *Interrupted
	if err := Stopped(ctx, Problem{Resume: []byte("state")}, oops); !errors.As(err, &stopped) || string(stopped.Checkpoint) != "state" || stopped.Cause != cause {
		t.Errorf("got %v", err)
	}
}
