package teacher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/method"
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

// Theta is the model trained on the real data.
type Theta struct {
	Weights tensor.Mat[float64] // of features, [K, M], or of training images, [K, n]: see Shown
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

// CheckLoss says whether a loss goes with a number of classes.
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

// CheckLossOf does it for the loss, if any, that a set's labels are for.
func CheckLossOf(d *method.Distilled) error {
	if d.Loss == "" {
		return nil
	}
	return CheckLoss(convex.Loss(d.Loss), len(d.Classes))
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

// ErrZero is returned where there is nothing to bound a distance by, or to come near to.
var ErrZero = errors.New("the model of the real images is zero: their labels do not go by what they show")

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
		if errors.Is(err, convex.ErrGap) && p.Gap < DefaultGap(p.Loss) {
			err = fmt.Errorf("%w\nhint: a larger teacher_gap is reached sooner; that of the %s loss is %v unless it is given", err, p.Loss, DefaultGap(p.Loss))
		}
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
	train, classes := r.Data.Train, len(r.Data.Classes)
	if err := convex.CheckSize(p.Loss, train.Len(), Dim(r.Model, train.H, train.W)); err != nil {
		return nil, err
	}
	var phi tensor.Mat[float32]
	_, exact := r.kernel()
	if !exact {
		var err error
		if phi, err = r.Features(ctx); err != nil {
			return nil, err
		}
	}
	s, err := convex.Solve(ctx, convex.Problem{
		Features: phi, Large: r.Gram, Lower: r.exactLower, Labels: RealLabels(train.Labels, classes, p.Loss), Lambda: float64(train.Len()) * p.Lambda,
		Report: r.phase("solving the " + string(p.Loss) + " model"),
	}, p.Gap)
	if err != nil {
		return nil, err
	}
	norm := convex.Norm(s.Weights)
	if exact {
		s.Weights = s.C.Transposed()
		norm = normOf(s.Weights, s.Outputs)
	}
	return &Theta{
		Weights: s.Weights, Outputs: s.Outputs, Norm: norm,
		Lambda: s.Lambda, Gap: s.Gap, Sweeps: s.Sweeps, Errors: Errors(s.Outputs, train.Labels),
	}, nil
}
