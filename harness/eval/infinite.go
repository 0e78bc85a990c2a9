package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/nngp"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Infinite trains a convex model on the set in the exact kernel of infinitely many, infinitely wide
// networks. The scores of Fresh converge to this score as the width and number of networks grow.
// Nothing is random, so there is one number without a spread.
//
// The kernel "nngp" is the limit of random features, and "ntk" the limit of networks with all
// weights trained. Portable labels are used if the set has them, as in Fresh; otherwise the set's
// own labels and loss.
type Infinite struct {
	Kernel string  `toml:"kernel" enum:"nngp,ntk"`          // nngp: untrained networks; ntk: networks trained by gradient descent
	Kind   string  `toml:"kind,omitzero" enum:",conv,fc"`   // kind of the networks; empty means the cell's
	Depth  int     `toml:"depth,omitzero" min:"0" max:"16"` // 0 means the cell's, or the default of another kind
	Weight float64 `toml:"weight" min:"0" max:"1e6"`        // standard deviation of a weight, times sqrt(fan_in)
	Bias   float64 `toml:"bias" min:"0"`                    // standard deviation of a bias
	Labels string  `toml:"labels,omitzero" enum:",exact"`   // empty means portable labels if there are any, else exact ones
	Lambda float64 `toml:"lambda" min:"1e-14" max:"1e6"`    // regularisation per image of the set
}

func init() {
	method.RegisterProtocol(func() method.Protocol {
		return &Infinite{Kernel: "nngp", Weight: math.Sqrt2, Bias: 0.1, Lambda: teacher.DefaultLambda}
	})
}

// Info implements method.Protocol.
func (f *Infinite) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "infinite", Title: "Infinite networks", Version: 1, Family: method.InfiniteWidth, Lambda: f.Lambda, About: "a convex model trained on the set in the exact kernel of infinitely wide networks"}
}

// Check implements method.Checker.
func (f *Infinite) Check() error {
	return errors.Join(method.PositiveLambda(f.Lambda), method.Positive("weight", f.Weight, "1.4142135623730951 is usual"))
}

// CheckSizes implements method.SizesChecker.
func (f *Infinite) CheckSizes(s method.Sizes) error {
	if s.IPC == 0 {
		return errInfinite
	}
	if _, err := f.kernel(s.Model, s.H, s.W, max(1, s.C)); err != nil {
		return fmt.Errorf("[eval.infinite] %w", err)
	}
	return nil
}

var errInfinite = errors.New("the protocol \"infinite\" does not score the whole training set, whose kernel would take hours\nhint: use the protocol \"features\"")

// exact are images prepared for a kernel of package nngp.
type exact[T any] interface {
	Gram(context.Context) (tensor.Mat[float64], error)
	Wide(ctx context.Context, with T, progress func(done float64)) (tensor.Mat[float64], error)
}

// products returns the kernel within the set of a trial, [n, n], and between the set and the test
// images, [n, N].
type products func(ctx context.Context, t method.Trial, progress func(done float64)) (gram, cross tensor.Mat[float64], err error)

// productsOf returns products for a kernel, whose method Images prepares images.
func productsOf[T exact[T]](kernel any, images func(ctx context.Context, x []float32, progress func(done float64)) (T, error)) products {
	return func(ctx context.Context, t method.Trial, progress func(done float64)) (gram, cross tensor.Mat[float64], err error) {
		test, err := method.Do(t.Own, fmt.Sprintf("infinite %T %+v %q", kernel, kernel, t.Data.Name), func() (T, error) {
			return images(ctx, t.Test.X, progress)
		})
		if err != nil {
			return gram, cross, err
		}
		set, err := images(ctx, t.Set.Images, nil)
		if err != nil {
			return gram, cross, err
		}
		if gram, err = set.Gram(ctx); err != nil {
			return gram, cross, err
		}
		cross, err = set.Wide(ctx, test, progress)
		return gram, cross, err
	}
}

// kernel returns the kernel of a model's networks, on images of h x w pixels.
func (f *Infinite) kernel(of method.Model, h, w, c int) (products, error) {
	a, _ := nn.Lookup(of.Kind)
	own := cmp.Or(a.Limit, of.Kind)
	kind := cmp.Or(f.Kind, own)
	depth := cmp.Or(f.Depth, of.Depth)
	if kind != own && f.Depth == 0 {
		m, _ := method.DefaultModel(kind)
		depth = m.Depth
	}
	switch kind {
	case "conv":
		k := nngp.Conv{H: h, W: w, C: c, Depth: depth, Weight: f.Weight, Bias: f.Bias, Tangent: f.Kernel == "ntk"}
		return productsOf(k, k.Images), k.Check()
	case "fc":
		k := nngp.FC{Size: h * w * c, Depth: depth, Weight: f.Weight, Bias: f.Bias, Tangent: f.Kernel == "ntk"}
		return productsOf(k, k.Images), k.Check()
	}
	return nil, fmt.Errorf("there is no exact kernel for networks of kind %q\nhint: set kind = \"conv\" or \"fc\"", kind)
}

// Score implements method.Protocol.
func (f *Infinite) Score(ctx context.Context, t method.Trial, observe func(method.Step)) (*method.Scores, error) {
	if t.Set.Whole {
		return nil, errInfinite
	}
	if err := checkSet(t); err != nil {
		return nil, err
	}
	kernel, err := f.kernel(t.Model, t.Test.H, t.Test.W, t.Test.C)
	if err != nil {
		return nil, err
	}
	progress := func(float64) {}
	if t.Phase != nil {
		progress = func(done float64) { t.Phase("exact kernel", done) }
	}
	gram, cross, err := kernel(ctx, t, progress)
	if err != nil {
		return nil, err
	}
	labels, note, err := otherLabels(t.Set, ownLoss(t.Set, len(t.Data.Classes)), f.Labels == "exact", "infinite")
	if err != nil {
		return nil, err
	}
	model, err := teacher.Train(ctx, gram, labels, float64(t.Set.Len())*f.Lambda)
	if err != nil {
		return nil, fmt.Errorf("the %s model on the set: %w", labels.Loss, err)
	}
	outputs := tensor.NewMat[float64](cross.Cols, model.C.Cols)
	tensor.Mul(outputs, cross, model.C, tensor.TN, false)
	wrong := teacher.Errors(outputs, t.Test.Labels)
	out := &method.Scores{
		Metrics: map[string]float64{"test_acc": float64(t.Test.Len()-wrong) / float64(t.Test.Len()), "solve_gap": model.Gap},
		Counts:  map[string][]int64{"test_errors": {int64(wrong)}, "test_images": {int64(t.Test.Len())}},
	}
	if t.Final && note != "" {
		out.Notes = []string{note}
	}
	return out, nil
}
