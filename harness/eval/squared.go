package eval

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"dgkip/harness/augment"
	"dgkip/harness/fmath"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Squared trains new networks on the set by Adam with the squared loss, as the authors of FRePo
// score their sets. Labels with one value per class are used unchanged, because they were learned
// for this loss. Other labels first become distributions over the classes, as in Network, minus
// 1/C.
//
// With n images, outputs f and labels y, the loss is (1/2n) sum_i |f(x_i) - y_i|^2. The learning
// rate rises linearly from zero and then falls like a cosine. Batches are consecutive parts of the
// set. Initial weights have truncated normal distributions: see nn.Net.InitLecun.
type Squared struct {
	Nets      int     `toml:"nets" min:"1" max:"1000"`       // networks to train, whose accuracies are averaged
	TraceNets int     `toml:"trace_nets" min:"1" max:"1000"` // networks for scores during distillation
	Steps     int     `toml:"steps" min:"0"`                 // steps per network; 0 means 1000 for up to 10 images, 2000 for up to 100, 5000 for up to 500, else 10000
	Batch     int     `toml:"batch" min:"1"`                 // images per step
	Rate      float64 `toml:"rate" min:"0"`                  // highest learning rate of Adam
	Rise      int     `toml:"rise" min:"0"`                  // steps in which the rate rises from zero
	Floor     float64 `toml:"rate_floor" min:"0" max:"1"`    // final rate, relative to the highest
	Doubling  bool    `toml:"doubling"`                      // every block of a conv network has twice the channels of the previous one

	method.TrainedNets // width, norm, first_pad

	// Augment is a strategy of augment.New; empty means none. Sets of FRePo are scored with
	// "frepo".
	Augment string `toml:"augment"`
}

func init() {
	method.RegisterProtocol(func() method.Protocol {
		return &Squared{Nets: 5, TraceNets: 1, Batch: 500, Rate: 3e-4, Rise: 500, Floor: 0.01, Doubling: true, Augment: "frepo"}
	})
}

// Info implements method.Protocol.
func (q *Squared) Info() method.ProtocolInfo {
	family := method.NetworkSoft
	if q.Augment != "" {
		family = method.NetworkSoftAug
	}
	return method.ProtocolInfo{Name: "squared", Title: "Trained network (squared loss)", Version: 1, Family: family, About: "new networks trained on the set by Adam with the squared loss, on unchanged labels"}
}

// Check implements method.Checker.
func (q *Squared) Check() error {
	err := method.Positive("rate", q.Rate, "3e-4 is usual")
	if _, wrong := augment.New(q.Augment, false); wrong != nil {
		err = errors.Join(err, &method.BadSetting{Key: "augment", Why: wrong.Error()})
	}
	return err
}

// CheckSizes implements method.SizesChecker.
func (q *Squared) CheckSizes(s method.Sizes) error {
	if _, err := q.net(s.Model, s.H, s.W, s.C, s.Classes); err != nil {
		return fmt.Errorf("[eval.squared] %w", err)
	}
	return nil
}

// net returns the network that is trained.
func (q *Squared) net(m method.Model, h, w, c, classes int) (*nn.Net[float32], error) {
	s := q.Shape(m)
	s.Doubling = q.Doubling
	return s.Net(h, w, c, classes)
}

// steps returns the number of steps per network for n images.
func (q *Squared) steps(n int) int {
	switch {
	case q.Steps > 0:
		return q.Steps
	case n <= 10:
		return 1000
	case n <= 100:
		return 2000
	case n <= 500:
		return 5000
	}
	return 10000
}

// share returns the learning rate of a step, counted from 0, relative to the highest.
func (q *Squared) share(step, of int) float64 {
	if step < q.Rise {
		return float64(step) / float64(q.Rise)
	}
	return fmath.CosineShare(step-q.Rise, of-q.Rise, q.Floor)
}

// values returns the set with its labels for the squared loss: see Squared.
func values(t method.Trial, classes int) (nn.Data[float32], error) {
	data, err := trainingData(t, classes)
	if err != nil {
		return data, err
	}
	if d := t.Set; !d.Whole && d.Kind == method.Value && d.LabelWidth() == classes {
		if _, portable := teacher.TravelLabels(d); !portable {
			copy(data.Targets, d.Labels)
			return data, nil
		}
	}
	for i := range data.Targets {
		data.Targets[i] -= 1 / float32(classes)
	}
	return data, nil
}

// adamState is a scoring in progress: finished networks and the one in training.
type adamState struct {
	Errors  []int64
	Step    int
	Weights []byte // with the averages of Adam
}

// Score implements method.Protocol.
func (q *Squared) Score(ctx context.Context, t method.Trial, observe func(method.Step)) (*method.Scores, error) {
	classes := len(t.Data.Classes)
	net, err := q.net(t.Model, t.Test.H, t.Test.W, t.Test.C, classes)
	if err != nil {
		return nil, err
	}
	data, err := values(t, classes)
	if err != nil {
		return nil, err
	}
	if err := augmented(&data, q.Augment, t); err != nil {
		return nil, fmt.Errorf("[eval.squared] augment %w", err)
	}
	r := &regressing{q: q, t: t, net: net, pass: net.NewPass(), data: data, count: q.Nets, steps: q.steps(data.N), observe: observe}
	if !t.Final {
		r.count = q.TraceNets
	}
	if err := resume(t, &r.state); err != nil {
		return nil, err
	}
	for len(r.state.Errors) < r.count {
		wrong, err := r.next(ctx)
		if err != nil {
			return nil, err
		}
		r.state = adamState{Errors: append(r.state.Errors, int64(wrong))}
	}
	return scores(r.state.Errors, t), nil
}

// regressing is a scoring by Squared in progress.
type regressing struct {
	q       *Squared
	t       method.Trial
	net     *nn.Net[float32]
	pass    *nn.Pass[float32]
	data    nn.Data[float32]
	count   int // number of networks
	steps   int // steps per network
	observe func(method.Step)
	state   adamState
	x, b    []float32 // a batch, and the gradient in the outputs
}

// stream returns the stream for a purpose of the network in training.
func (r *regressing) stream(purpose ...string) *rng.Rand {
	return rng.Stream(r.t.Seed, append([]string{"eval", "squared", strconv.Itoa(len(r.state.Errors))}, purpose...)...)
}

// next trains the next network, or continues with the one in the state, and returns its test
// errors.
func (r *regressing) next(ctx context.Context) (wrong int, err error) {
	theta := make([]float32, r.net.Params())
	r.net.InitLecun(theta, r.stream("init"))
	weights, err := optim.NewVariable("weights", theta, optim.NewAdam[float32], optim.AdamConfig{LR: r.q.Rate})
	if err != nil {
		return 0, err
	}
	s := &r.state
	if s.Weights != nil {
		if err := weights.UnmarshalBinary(s.Weights); err != nil {
			return 0, fmt.Errorf("%w of a scoring: %w", method.ErrCheckpoint, err)
		}
	}
	checkpoint := func() ([]byte, error) {
		b, err := weights.MarshalBinary()
		if err != nil {
			return nil, err
		}
		return encoded(adamState{s.Errors, s.Step, b})
	}
	for s.Step < r.steps && ctx.Err() == nil {
		loss := r.gradient(weights)
		if err := weights.Check(); err != nil || loss-loss != 0 {
			return 0, fmt.Errorf("squared: training diverged: the loss of network %d of %d is %v at step %d of %d\nhint: lower rate in [eval.squared], or check the pixels of the set, which may be too large",
				len(s.Errors)+1, r.count, loss, s.Step+1, r.steps)
		}
		weights.Step(r.q.share(s.Step, r.steps))
		s.Step++
		r.observe(method.Step{
			Update: len(s.Errors)*r.steps + s.Step, Of: r.count * r.steps, Loss: loss, HasLoss: true, Checkpoint: checkpoint,
		})
	}
	if err = ctx.Err(); err == nil {
		wrong, err = r.pass.Errors(ctx, theta, r.t.Test.X, r.t.Test.Labels)
	}
	return wrong, interrupted(ctx, err, checkpoint)
}

// gradient sets weights.Grad to the gradient of the next batch's loss, and returns the loss.
func (r *regressing) gradient(weights *optim.Variable[float32]) (loss float64) {
	batch := min(r.q.Batch, r.data.N)
	parts := (r.data.N + batch - 1) / batch
	from := r.state.Step % parts * batch
	to := min(r.data.N, from+batch)
	n, size, k := to-from, r.net.Inputs(), r.net.Classes()
	x := append(r.x[:0], r.data.X[from*size:to*size]...)
	r.x = x
	if r.data.Augment != nil {
		r.data.Augment(x, n, r.stream("augment", strconv.Itoa(r.state.Step)))
	}
	b := tensor.Grow(&r.b, n*k)
	for i, f := range r.pass.Outputs(weights.X, x, n) {
		e := f - r.data.Targets[from*k+i]
		loss += float64(float64(e)*float64(e)) / float64(2*n)
		b[i] = e / float32(n)
	}
	r.pass.Linear(b)
	r.pass.Gradient(nn.Grad[float32]{Theta: weights.Grad})
	return loss
}
