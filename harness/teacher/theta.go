package teacher

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// Problem is the convex problem whose solution on the real data is Theta_O.
type Problem struct {
	Loss   convex.Loss
	Lambda float64 // for each image: lambda_O = n * Lambda; 0 means 1e-6
	Gap    float64 // relative duality gap to reach; 0 means DefaultGap
}

// DefaultLambda is the regularisation for each image.
const DefaultLambda = 1e-6

// DefaultGap is the relative duality gap asked of a loss.
func DefaultGap(loss convex.Loss) float64 {
	switch loss {
	case convex.HingeLoss:
		return 1e-3
	case convex.SoftmaxLoss:
		return 1e-2
	}
	return 1e-4
}

// maxSweeps bounds the solvers' work.
const (
	maxSweeps     = 5000
	maxIterations = 2000
)

// maxGram bounds the training images of a solver that needs their Gram matrix,
// which is then of 3.6 GB.
const maxGram = 30000

// Theta is the model trained on the real data.
type Theta struct {
	Weights tensor.Mat[float64] // [K, M]
	Outputs tensor.Mat[float64] // of the training images, [n, K]
	Norm    float64             // |Theta|, Frobenius
	Lambda  float64             // lambda_O
	Gap     float64             // relative duality gap that was reached
	Sweeps  float64             // of the solver
	Errors  int                 // training images it puts into a wrong class
}

// Losses lists the losses that a number of classes allows.
func Losses(classes int) []convex.Loss {
	if classes == 2 {
		return []convex.Loss{convex.LogisticLoss, convex.HingeLoss, convex.SquaredLoss}
	}
	return []convex.Loss{convex.SoftmaxLoss, convex.SquaredLoss}
}

// DefaultLoss is the first of Losses.
func DefaultLoss(classes int) convex.Loss { return Losses(classes)[0] }

// CheckLoss tells whether a loss goes with a number of classes.
func CheckLoss(loss convex.Loss, classes int) error {
	if classes < 2 {
		return fmt.Errorf("a model needs two classes or more, and the data has %d", classes)
	}
	if allowed := Losses(classes); !slices.Contains(allowed, loss) {
		names := make([]string, len(allowed))
		for i, l := range allowed {
			names[i] = string(l)
		}
		return fmt.Errorf("the %s loss is not for %d classes\nhint: choose a method or a setting with one of %s, or other classes of the data", loss, classes, strings.Join(names, ", "))
	}
	return nil
}

// CheckSize tells whether there is a solver for a loss on so many training images
// with so many features.
func CheckSize(loss convex.Loss, images, dim int) error {
	if loss == convex.SoftmaxLoss || images <= maxGram || dim <= maxThin && loss != convex.SquaredLoss {
		return nil
	}
	return fmt.Errorf("the %s loss on %d training images needs their Gram matrix, for which the limit is %d images\nhint: take fewer classes; with three or more, the softmax loss has no limit", loss, images, maxGram)
}

func (p Problem) withDefaults() Problem {
	if p.Lambda == 0 {
		p.Lambda = DefaultLambda
	}
	if p.Gap == 0 {
		p.Gap = DefaultGap(p.Loss)
	}
	return p
}

// Theta returns Theta_O for a problem.
func (r Real) Theta(ctx context.Context, p Problem) (*Theta, error) {
	p = p.withDefaults()
	classes := len(r.Data.Classes)
	if err := CheckLoss(p.Loss, classes); err != nil {
		return nil, err
	}
	if !(p.Lambda > 0) {
		return nil, fmt.Errorf("lambda is %v, and must be positive", p.Lambda)
	}
	if err := r.checkClasses(); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("theta %s lambda %v gap %v %s", p.Loss, p.Lambda, p.Gap, r.settings())
	return shared(r.Shared, r.key(name), func() (*Theta, error) {
		of, err := r.digest()
		if err != nil {
			return nil, err
		}
		key := strings.Join([]string{name, r.Data.Name, of}, " ")
		disk := r.Shared.Disk()
		if disk != nil {
			t := new(Theta)
			if disk.Load(key, func(from io.Reader) error { return t.read(from) }) {
				return t, nil
			}
		}
		t, err := r.solve(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("the %s model on %s: %w", p.Loss, r.Data.Name, err)
		}
		if disk != nil {
			disk.Save(key, int64(t.size()), t.write)
		}
		return t, nil
	})
}

// checkClasses refuses classes without images: a model could not know them.
func (r Real) checkClasses() error {
	for class, members := range r.Data.Train.ByClass(len(r.Data.Classes)) {
		if len(members) == 0 {
			return fmt.Errorf("class %s of %s has no training images", r.Data.Classes[class], r.Data.Name)
		}
	}
	return nil
}

func (r Real) solve(ctx context.Context, p Problem) (*Theta, error) {
	n := r.Data.Train.Len()
	t := &Theta{Lambda: float64(n) * p.Lambda}
	var err error
	if p.Loss == convex.SoftmaxLoss {
		err = r.solveStored(ctx, p, t)
	} else {
		err = r.solveGram(ctx, p, t)
	}
	if err != nil {
		return nil, err
	}
	t.Errors = Errors(t.Outputs, r.Data.Train.Labels)
	return t, nil
}

// maxThin bounds the features of the solver for more images than features, whose
// time grows with their third power.
const maxThin = 2500

// maxExact bounds the training images of the solver for small sets, which is as
// exact as can be, but whose time grows with the third power.
const maxExact = 512

// solveGram solves in the dual variables, on the Gram matrix.
func (r Real) solveGram(ctx context.Context, p Problem, t *Theta) error {
	n := r.Data.Train.Len()
	if n <= maxExact {
		phi, err := r.Features(ctx)
		if err != nil {
			return err
		}
		labels := Labels{Loss: p.Loss, Values: Signs(r.Data.Train.Labels, len(r.Data.Classes))}
		s, err := TrainTo(ctx, phi, labels, t.Lambda, min(p.Gap, 1e-8))
		if err != nil {
			return err
		}
		t.Weights, t.Gap, t.Sweeps = s.Weights, s.Gap, s.Sweeps
		t.finish(phi)
		return nil
	}
	if dim := Dim(r.Model, r.Data.Train.H, r.Data.Train.W); dim < n && dim <= maxThin && p.Loss != convex.SquaredLoss {
		phi, err := r.Features(ctx)
		if err != nil {
			return err
		}
		r.phase("solving the " + string(p.Loss) + " model")
		s, err := convex.Thin{Features: phi, Labels: Signs(r.Data.Train.Labels, 2).Data, Loss: p.Loss, Lambda: t.Lambda}.Solve(ctx, p.Gap)
		if err != nil {
			return err
		}
		t.Weights, t.Gap, t.Sweeps = tensor.MatOf(s.Theta, 1, len(s.Theta)), s.Gap, s.Sweeps
		t.finish(phi)
		return nil
	}
	if err := CheckSize(p.Loss, n, Dim(r.Model, r.Data.Train.H, r.Data.Train.W)); err != nil {
		return err
	}
	gram, err := r.Gram(ctx)
	if err != nil {
		return err
	}
	done := r.phase("solving the " + string(p.Loss) + " model")
	var weights tensor.Mat[float64] // of the training images in Theta, [n, K]
	if p.Loss == convex.SquaredLoss {
		c, err := convex.Ridge{Gram: gram, Targets: Signs(r.Data.Train.Labels, len(r.Data.Classes)), Lambda: t.Lambda}.Solve(ctx, p.Gap, maxIterations)
		if err != nil {
			return err
		}
		weights, t.Gap, t.Sweeps = c.C, c.Gap, c.Sweeps
	} else {
		labels := Signs(r.Data.Train.Labels, 2).Data
		c, err := convex.Dual{Gram: gram, Labels: labels, Loss: marginOf(p.Loss), Lambda: t.Lambda}.Solve(ctx, p.Gap, maxSweeps)
		if err != nil {
			return err
		}
		weights = tensor.MatOf(c.Coefficients(labels, t.Lambda), len(labels), 1)
		t.Gap, t.Sweeps = c.Gap, c.Sweeps
	}
	done(1)
	phi, err := r.Features(ctx)
	if err != nil {
		return err
	}
	t.Weights = Combine(phi, weights)
	t.finish(phi)
	return nil
}

// solveStored solves in the weights, on the stored features.
func (r Real) solveStored(ctx context.Context, p Problem, t *Theta) error {
	phi, err := r.Features(ctx)
	if err != nil {
		return err
	}
	c, err := convex.Softmax{Features: phi, Labels: r.Data.Train.Labels, Classes: len(r.Data.Classes), Lambda: t.Lambda}.Solve(ctx, p.Gap, maxIterations, r.phase("solving the softmax model"))
	if err != nil {
		return err
	}
	t.Weights, t.Gap, t.Sweeps = c.Theta, c.Gap, float64(c.Iterations)
	t.finish(phi)
	return nil
}

// finish fills what follows from the weights.
func (t *Theta) finish(phi tensor.Mat[float32]) {
	t.Outputs = Apply(phi, t.Weights)
	t.Norm = Norm(t.Weights)
}
