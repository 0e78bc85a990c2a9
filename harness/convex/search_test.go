package convex

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// kept is a Keeper that calls stop after left states.
type kept struct {
	t     *testing.T
	state map[string][]byte
	left  int
	stop  func()
}

func (k *kept) Keep(solver string, size int64, write func(io.Writer) error) {
	var b bytes.Buffer
	if err := write(&b); err != nil || int64(b.Len()) != size {
		k.t.Errorf("%s: %d bytes of %d: %v", solver, b.Len(), size, err)
	}
	k.state[solver] = b.Bytes()
	if k.left--; k.left == 0 {
		k.stop()
	}
}

func (k *kept) Load(solver string, read func(io.Reader) error) bool {
	b, ok := k.state[solver]
	if !ok {
		return false
	}
	if err := read(bytes.NewReader(b)); err != nil {
		k.t.Errorf("%s: %v", solver, err)
	}
	return true
}

// Every solver for many images gives the same bits if it is interrupted after every step.
func TestInterruptedSearch(t *testing.T) {
	r := rng.Stream(1, "interrupted")
	a, of := classes(r, 600, 700, 3)
	targets := Labels{Form: Target, Values: hot(of, 3)}
	y := make([]float64, len(of))
	for i, class := range of {
		y[i] = float64(2*(class%2) - 1)
	}
	gram := tensor.NewMat[float32](a.Rows, a.Rows)
	tensor.Gram(gram, a)
	// An exact kernel has strips and no features.
	lower := func(context.Context) (Triangle, error) {
		return Triangle{gram.Part(0, 600, 0, 600)}, nil
	}
	large := func(context.Context) (tensor.Mat[float32], error) { return gram, nil }
	for name, c := range map[string]struct {
		problem Problem
		tol     float64
		solvers []string
	}{
		"logistic":      {Problem{Features: a, Labels: gainsOf(LogisticLoss, y)}, 1e-4, []string{"coordinate ascent"}},
		"hinge":         {Problem{Features: a, Labels: gainsOf(HingeLoss, y)}, 1e-3, []string{"interior point"}},
		"slow hinge":    {Problem{Features: a, Labels: gainsOf(HingeLoss, y)}, 1.5e-3, []string{"interior point", "multipliers"}},
		"precise hinge": {Problem{Features: a, Labels: gainsOf(HingeLoss, y)}, 1e-5, []string{"multipliers"}},
		"squared":       {Problem{Features: a, Labels: targets.For(SquaredLoss)}, 1e-4, []string{"conjugate gradients"}},
		"softmax":       {Problem{Features: a, Labels: targets.For(SoftmaxLoss)}, 1e-2, []string{"block ascent"}},
		"kernel":        {Problem{Large: large, Lower: lower, Labels: targets.For(SoftmaxLoss)}, 1e-2, []string{"block ascent"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.problem.Lambda = 1e-2
			if len(c.solvers) > 1 {
				defer func(products int) { interiorProducts = products }(interiorProducts)
				interiorProducts = 20
			}
			want, err := Solve(context.Background(), c.problem, c.tol)
			if err != nil {
				t.Fatal(err)
			}
			k := &kept{t: t, state: map[string][]byte{}}
			c.problem.Keeper = k
			var got Solution
			for stops := 0; ; stops++ {
				var ctx context.Context
				ctx, k.stop = context.WithCancel(context.Background())
				k.left = 2 // the initial state and one more
				if got, err = Solve(ctx, c.problem, c.tol); err == nil {
					if stops < 3 {
						t.Errorf("interrupted %d times", stops)
					}
					break
				}
				if !errors.Is(err, context.Canceled) || stops == 10000 {
					t.Fatal(stops, err)
				}
			}
			if used := slices.Sorted(maps.Keys(k.state)); !slices.Equal(used, c.solvers) {
				t.Errorf("solved by %q, not %q", used, c.solvers)
			}
			if !slices.Equal(got.Outputs.Data, want.Outputs.Data) || !slices.Equal(got.Weights.Data, want.Weights.Data) || got.Gap != want.Gap || got.Sweeps != want.Sweeps {
				t.Errorf("gap %v after %v steps, not %v after %v", got.Gap, got.Sweeps, want.Gap, want.Sweeps)
			}
		})
	}
}

// A stored state of the wrong length is ignored.
func TestStateOfAnotherSearch(t *testing.T) {
	for _, size := range []int{0, 31, 33, 1000} {
		x := []float64{1, 2}
		s := search{ctx: context.Background(), keeper: file(make([]byte, size))}
		if s.resume("any", x) || !slices.Equal(x, []float64{1, 2}) {
			t.Errorf("%d bytes were accepted in place of 32", size)
		}
	}
}

type file []byte

func (f file) Keep(string, int64, func(io.Writer) error) {}

func (f file) Load(_ string, read func(io.Reader) error) bool { return read(bytes.NewReader(f)) == nil }
