package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Unrolled repeats exactly the steps of gradient descent with which a set was learned, and scores
// the resulting weights. Arrays of the set describe the steps:
//
//	rates       the learning rate of every step
//	step_slot   the slot of images that every step uses
//	image_slot  the slot of every image
//	epochs      the number of passes over the steps; for information
//	network     kind (its Code in package nn, such as 0 for fc and 1 for conv), width, depth,
//	            instance norm (0 or 1), padding of the first convolution
//	init        0 for fixed initial weights, 1 for random ones
//	init_seed   the seed of fixed weights: its upper and lower 32 bits
//
// Initial weights are uniform within 1/sqrt(fan-in). Fixed weights need one repetition. Random
// weights are drawn anew in every repetition.
type Unrolled struct {
	Nets      int `toml:"nets" min:"1" max:"1000"`       // repetitions with random weights
	TraceNets int `toml:"trace_nets" min:"1" max:"1000"` // repetitions for scores during distillation
}

func init() {
	method.RegisterProtocol(func() method.Protocol { return &Unrolled{Nets: 5, TraceNets: 1} })
}

// Info implements method.Protocol.
func (u *Unrolled) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "unrolled", Title: "Unrolled steps", Version: 1, Family: method.Unrolled, About: "the few steps of gradient descent with which the set was learned"}
}

// CheckSizes implements method.SizesChecker. It accepts methods that learn steps, and sets from
// files, which may contain steps.
func (u *Unrolled) CheckSizes(s method.Sizes) error {
	_, fromFile := s.Method.(method.Locator)
	if m := s.Method; m != nil && m.Info().Protocol != "unrolled" && !fromFile {
		return fmt.Errorf("the protocol \"unrolled\" repeats learned steps, but %s learns none\nhint: set protocol = \"network\", which trains on any set", m.Info().Name)
	}
	return nil // the method has checked the networks
}

// descent is the steps of a set.
type descent struct {
	net    *nn.Net[float32]
	rates  []float32
	steps  []int64 // the slot of every step
	slots  []slotImages
	random bool
	seed   uint64
}

// slotImages are the images of a slot with their targets.
type slotImages struct {
	n    int
	x, p []float32
}

// Score implements method.Protocol.
func (u *Unrolled) Score(ctx context.Context, t method.Trial, observe func(method.Step)) (*method.Scores, error) {
	d, err := readDescent(t)
	if err != nil {
		return nil, fmt.Errorf("unrolled: %w", err)
	}
	count := 1
	if d.random {
		count = u.Nets
		if !t.Final {
			count = u.TraceNets
		}
	}
	var done []int64 // test errors of finished repetitions
	if err := resume(t, &done); err != nil {
		return nil, err
	}
	checkpoint := func() ([]byte, error) { return method.Encode(done) }
	pass, theta := d.net.NewPass(), make([]float32, d.net.Params())
	for len(done) < count {
		stream := rng.Stream(d.seed, "unrolled", "init")
		if d.random {
			stream = rng.Stream(t.Seed, "eval", "unrolled", strconv.Itoa(len(done)), "init")
		}
		d.net.InitUniform(theta, stream)
		loss, err := d.descend(ctx, pass, theta)
		if err == nil {
			var wrong int
			if wrong, err = pass.Errors(ctx, theta, t.Test.X, t.Test.Labels); err == nil {
				done = append(done, int64(wrong))
			}
		}
		if err != nil {
			return nil, interrupted(ctx, fmt.Errorf("unrolled: %w", err), checkpoint)
		}
		observe(method.Step{Update: len(done), Of: count, Loss: loss, HasLoss: true, Checkpoint: checkpoint})
	}
	return scores(done, t), nil
}

// descend takes all steps w_{k+1} = w_k - r_k grad L(w_k) from theta, and returns the loss before
// the last step.
func (d *descent) descend(ctx context.Context, pass *nn.Pass[float32], theta []float32) (loss float64, err error) {
	g := make([]float32, len(theta))
	for k, slot := range d.steps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		s := d.slots[slot]
		loss = pass.Loss(theta, s.x, s.p, s.n)
		if loss-loss != 0 {
			return 0, fmt.Errorf("step %d of %d: the loss is %v: the descent diverged\nhint: check that the set belongs to this dataset; its steps may be too long for other images or weights", k+1, len(d.steps), loss)
		}
		pass.Gradient(nn.Grad[float32]{Theta: g})
		tensor.Axpy(theta, -d.rates[k], g, theta)
	}
	return loss, nn.Finite(theta)
}

// readDescent reads the steps of a set and groups its images by slot.
func readDescent(t method.Trial) (*descent, error) {
	if t.Set.Whole {
		return nil, errors.New("the whole training set has no learned steps\nhint: set protocol = \"network\", which trains on any set")
	}
	data, err := trainingData(t, len(t.Data.Classes))
	if err != nil {
		return nil, err
	}
	n := int64(t.Set.Len())
	a := arrays{of: t.Set.Extra}
	rates := a.numbers("rates", 0, 0, math.MaxFloat32)
	d := &descent{steps: a.integers("step_slot", len(rates), 0, n-1)}
	slotOf := a.integers("image_slot", t.Set.Len(), 0, n-1)
	shape := a.integers("network", 5, 0, 1<<16)
	if first := a.integers("init", 1, 0, 1); len(first) == 1 && first[0] == 1 {
		d.random = true
	} else if words := a.integers("init_seed", 2, 0, math.MaxUint32); len(words) == 2 {
		d.seed = uint64(words[0])<<32 | uint64(words[1])
	}
	if a.err != nil {
		return nil, a.err
	}
	if d.net, err = networkOf(shape, t); err != nil {
		return nil, err
	}
	for _, r := range rates {
		d.rates = append(d.rates, float32(r))
	}
	size, k := t.Set.Size(), len(t.Data.Classes)
	d.slots = make([]slotImages, t.Set.Len())
	for i, slot := range slotOf {
		s := &d.slots[slot]
		s.n++
		s.x = append(s.x, data.X[i*size:][:size]...)
		s.p = append(s.p, data.Targets[i*k:][:k]...)
	}
	for i, slot := range d.steps {
		if d.slots[slot].n == 0 {
			return nil, fmt.Errorf("step %d of the set uses slot %d, which has no images\nhint: take the arrays step_slot and image_slot from the same set", i+1, slot)
		}
	}
	return d, nil
}

// networkOf returns the network that a set describes.
func networkOf(shape []int64, t method.Trial) (*nn.Net[float32], error) {
	s, err := nn.ShapeOf(shape)
	if err != nil {
		return nil, fmt.Errorf("array network of the set: %w", err)
	}
	net, err := s.Net(t.Test.H, t.Test.W, t.Test.C, len(t.Data.Classes))
	if err != nil {
		return nil, fmt.Errorf("array network of the set is %v: %w", shape, err)
	}
	return net, nil
}

// arrays reads a set's arrays and keeps the first error.
type arrays struct {
	of  map[string]method.Array
	err error
}

func (a *arrays) fail(name, format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("the set has no valid learned steps: its array %q %s\nhint: use a set of dd, which has steps, or protocol = \"network\", which trains on any set", name, fmt.Sprintf(format, args...))
	}
}

// numbers returns an array of n values between least and most, or nil on error. If n is 0, any
// positive number of values is valid.
func (a *arrays) numbers(name string, n int, least, most float64) []float64 {
	x, ok := a.of[name]
	switch {
	case !ok:
		a.fail(name, "is missing")
		return nil
	case n > 0 && len(x.Data) != n:
		a.fail(name, "has %d values, not %d", len(x.Data), n)
		return nil
	case len(x.Data) == 0:
		a.fail(name, "is empty")
		return nil
	}
	for i, v := range x.Data {
		if !(v >= least && v <= most) {
			a.fail(name, "contains %v at index %d, which is not between %v and %v", v, i, least, most)
			return nil
		}
	}
	return x.Data
}

func (a *arrays) integers(name string, n int, least, most int64) []int64 {
	var out []int64
	for i, v := range a.numbers(name, n, float64(least), float64(most)) {
		if v != math.Trunc(v) {
			a.fail(name, "contains %v at index %d, which is not an integer", v, i)
			return nil
		}
		out = append(out, int64(v))
	}
	return out
}
