package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
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
// score their sets. Labels of the kind "value" with a column for each class are used unchanged,
// because they were learned for this loss, unless the set has portable labels. Other labels first
// become distributions over the classes, as in Network, minus 1/C.
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
	all := networks{protocol: "squared", trial: t, net: net, count: q.Nets, steps: q.steps(data.N), observe: observe}
	if !t.Final {
		all.count = q.TraceNets
	}
	return all.score(ctx, func(stream func(...string) *rng.Rand) (training, []float32) {
		theta := make([]float32, net.Params())
		net.InitLecun(theta, stream("init"))
		weights := optim.NewVariable("weights", theta, optim.Adam(q.Rate, 0.9, 0.999))
		return &regressing{q: q, pass: net.NewPass(), data: data, steps: all.steps, stream: stream, weights: weights}, theta
	})
}

// regressing is the training of a network by Adam.
type regressing struct {
	q       *Squared
	pass    *nn.Pass[float32]
	data    nn.Data[float32]
	stream  func(purpose ...string) *rng.Rand
	weights *optim.Variable[float32]
	step    int // steps so far
	steps   int
	x, b    []float32 // a batch, and the gradient in the outputs
}

// adamState is a training in a checkpoint.
type adamState struct {
	Step    int
	Weights []byte // with the averages of Adam
}

// MarshalBinary implements method.Part.
func (r *regressing) MarshalBinary() ([]byte, error) {
	b, err := r.weights.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return method.Encode(adamState{r.step, b})
}

// UnmarshalBinary implements method.Part.
func (r *regressing) UnmarshalBinary(b []byte) error {
	var s adamState
	if err := method.Decode(b, &s); err != nil {
		return err
	}
	r.step = s.Step
	return r.weights.UnmarshalBinary(s.Weights)
}

func (r *regressing) run(ctx context.Context, more func(step int, loss float64) bool) error {
	for r.step < r.steps && ctx.Err() == nil {
		loss := r.gradient()
		if r.weights.Check() != nil {
			loss = math.NaN()
		}
		r.weights.Step(r.q.share(r.step, r.steps))
		if r.step++; !more(r.step, loss) {
			return nil
		}
	}
	return ctx.Err()
}

// gradient sets the gradient of the next batch's loss, and returns the loss.
func (r *regressing) gradient() (loss float64) {
	batch := min(r.q.Batch, r.data.N)
	parts := (r.data.N + batch - 1) / batch
	from := r.step % parts * batch
	to := min(r.data.N, from+batch)
	n, size, k := to-from, len(r.data.X)/r.data.N, len(r.data.Targets)/r.data.N
	x := append(r.x[:0], r.data.X[from*size:to*size]...)
	r.x = x
	if r.data.Augment != nil {
		r.data.Augment(x, n, r.stream("augment", strconv.Itoa(r.step)))
	}
	b := tensor.Grow(&r.b, n*k)
	for i, f := range r.pass.Outputs(r.weights.X, x, n) {
		e := f - r.data.Targets[from*k+i]
		loss += float64(float64(e)*float64(e)) / float64(2*n)
		b[i] = e / float32(n)
	}
	r.pass.Linear(b)
	r.pass.Gradient(nn.Grad[float32]{Theta: r.weights.Grad})
	return loss
}
