package convex

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// Problem is a convex model to be found: minimise
//
//	P(Theta) = sum_i l_i(F_i) + (lambda/2) |Theta|^2,   F = A Theta'.
type Problem struct {
	Labels Labels
	Lambda float64

	// Features are A, [n, M]. They may be missing where Gram, or Large and Lower, are there,
	// and so are then Weights of the solution.
	Features tensor.Mat[float32]

	// Gram is A A', [n, n], for a set that is to be solved to high precision: with
	// it the problem is solved in float64, in matrices as large.
	Gram tensor.Mat[float64]

	// Large returns A A' in float32, for many images. It is asked where it is
	// needed; without it the matrix is computed.
	Large func(context.Context) (tensor.Mat[float32], error)

	// Lower is the same by its lower half, which the softmax loss takes where there are no
	// features.
	Lower func(context.Context) (Triangle, error)

	// Report, if given, is told now and then which share of the way is done.
	Report func(done float64)

	// Keeper, if given, keeps the state of a solver for many images between its steps.
	// Solve goes on from what it kept, and ends with the same bits.
	Keeper Keeper
}

// Solution is a convex model that has been found, with the proof of its quality.
type Solution struct {
	Labels Labels // of the problem
	Lambda float64

	Weights tensor.Mat[float64] // Theta, [K, M]
	C       tensor.Mat[float64] // with Theta = C'A, [n, K]; none where the solver works on Theta
	Outputs tensor.Mat[float64] // F, [n, K]
	Norm2   float64             // |Theta|^2

	Primal, Dual float64
	// Gap is the relative duality gap (P - D) / max(|P|, 1). P - D is computed as a
	// sum in which nothing cancels, and Dual from it.
	Gap float64
	// Sweeps is how many steps were made, each as long as reading the data takes.
	Sweeps float64
}

// Limits of the solvers.
const (
	// MaxGram is the most images of a solver that needs their Gram matrix, which is
	// then of 3.6 GB.
	MaxGram = 30000
	// MaxTriangle is the most where half of the matrix is enough, which is then of 13 GB.
	MaxTriangle = 80000
	// maxPrimal is the most features of the solver for more images than features,
	// whose time grows with their third power.
	maxPrimal = 2500
	// maxExact is the most images that are solved for as a small set is, which is as
	// exact as can be, but whose time grows with the third power; exactGap is the
	// relative gap that these are asked for.
	maxExact, exactGap = 512, 1e-8
	// maxAgain is the most that are solved for so where another solver does not get there.
	maxAgain = 2048

	maxSteps, maxProducts = 2000, 5000
)

// Solve minimises until the relative gap is at most tol. It picks the method:
//
//	kernelProblem    with Gram, or for few images: any loss, in float64, by Newton's
//	                 method, and the hinge by an interior-point method
//	storedSoftmax    several classes: dual coordinate ascent on stored features, by blocks
//	triangleSoftmax  the same on a large Gram matrix, where there are no features
//	primalNewton     fewer features than images: the logistic and the hinge loss
//	softmaxNewton    the same for the softmax loss, where features are few
//	dual             a large Gram matrix: the logistic loss by dual coordinate ascent, the
//	                 hinge by the method of multipliers
//	conjugateGradients
//	                 the squared loss on the same matrix
func Solve(ctx context.Context, p Problem, tol float64) (Solution, error) {
	if err := p.check(tol); err != nil {
		return Solution{}, err
	}
	if p.Report == nil {
		p.Report = func(float64) {}
	}
	s, err := p.solve(ctx, tol)
	if errors.Is(err, ErrGap) && !p.isSmall() && p.Labels.Values.Rows <= maxAgain {
		s, err = p.again(ctx, tol)
	}
	s.Labels, s.Lambda = p.Labels, p.Lambda
	if err != nil {
		return s, err
	}
	if p.Features.Rows > 0 && s.C.Rows > 0 {
		s.Weights = Combine(p.Features, s.C)
	}
	if p.Gram.Rows == 0 && p.Features.Rows > 0 && s.C.Rows > 0 {
		s.Outputs = Apply(p.Features, s.Weights) // those of a Gram matrix in float32 are less exact
	}
	p.Report(1)
	return s, nil
}

// isSmall reports whether a problem is solved as for a small set from the first.
func (p Problem) isSmall() bool {
	few := p.Labels.Values.Rows <= maxExact && p.Features.Cols > 0 && p.Labels.Loss != SoftmaxLoss
	return p.Gram.Rows > 0 || few
}

func (p Problem) solve(ctx context.Context, tol float64) (Solution, error) {
	n, m, loss := p.Labels.Values.Rows, p.Features.Cols, p.Labels.Loss
	search := newSearch(ctx, p, tol)
	switch {
	case p.Gram.Rows > 0:
		return kernelProblem{Gram: p.Gram, Labels: p.Labels, Lambda: p.Lambda}.solve(search)
	case loss == SoftmaxLoss:
		return p.softmax(search)
	case p.isSmall():
		search.tol = min(tol, exactGap)
		s, err := kernelProblem{Gram: GramOf(p.Features), Labels: p.Labels, Lambda: p.Lambda}.solve(search)
		if errors.Is(err, ErrGap) && s.Gap <= tol {
			err = nil // that was for more than the caller asked
		}
		return s, err
	case p.Labels.Form == Target:
		return Solution{}, fmt.Errorf("convex: real targets of the logistic loss are for small sets, of at most %d images", maxExact)
	case primalSuits(loss, n, m):
		return primalNewton{Features: p.Features, Labels: p.Labels.Values.Data, Loss: loss, Lambda: p.Lambda}.solve(search)
	}
	if err := CheckSize(loss, n, m); err != nil {
		return Solution{}, err
	}
	gram, err := p.large(ctx)
	if err != nil {
		return Solution{}, err
	}
	if loss == SquaredLoss {
		return conjugateGradients{Gram: gram, Targets: p.Labels.Values, Lambda: p.Lambda}.solve(search)
	}
	search.limit = maxProducts
	return dual{Gram: gram, Labels: p.Labels.Values.Data, Loss: loss, Lambda: p.Lambda}.solve(search)
}

// again solves as for a small set what another solver creeps towards: images that are alike
// and have different labels.
func (p Problem) again(ctx context.Context, tol float64) (Solution, error) {
	var gram tensor.Mat[float64]
	if p.Features.Rows > 0 {
		gram = GramOf(p.Features)
	} else {
		k, err := p.Large(ctx)
		if err != nil {
			return Solution{}, err
		}
		gram = tensor.NewMat[float64](k.Rows, k.Cols)
		into64(gram.Data, k.Data)
	}
	return kernelProblem{Gram: gram, Labels: p.Labels, Lambda: p.Lambda}.solve(newSearch(ctx, p, tol))
}

// softmax solves the softmax loss on many images.
func (p Problem) softmax(search *search) (Solution, error) {
	of, err := p.Labels.classes()
	if err != nil {
		return Solution{}, err
	}
	classes := p.Labels.Values.Cols
	if p.Features.Rows > 0 {
		s := storedSoftmax{Features: p.Features, Labels: of, Classes: classes, Lambda: p.Lambda}
		if softmaxNewtonSuits(len(of), p.Features.Cols, classes) {
			return softmaxNewton(s).solve(search)
		}
		return s.solve(search)
	}
	if err := CheckSize(SoftmaxLoss, len(of), 0); err != nil {
		return Solution{}, err
	}
	gram, err := p.Lower(search.ctx)
	if err != nil {
		return Solution{}, err
	}
	return triangleSoftmax{Gram: gram, Labels: of, Classes: classes, Lambda: p.Lambda}.solve(search)
}

func (p Problem) large(ctx context.Context) (tensor.Mat[float32], error) {
	if p.Large != nil {
		return p.Large(ctx)
	}
	k := tensor.NewMat[float32](p.Features.Rows, p.Features.Rows)
	return k, tensor.GramContext(ctx, k, p.Features, nil)
}

// CheckSize says whether there is a solver for a loss on a number of images with a
// number of features, 0 for a kernel that has none.
func CheckSize(loss Loss, images, dim int) error {
	limit := MaxGram
	switch {
	case loss == SoftmaxLoss && dim > 0, primalSuits(loss, images, dim):
		return nil
	case loss == SoftmaxLoss:
		limit = MaxTriangle
	}
	if images <= limit {
		return nil
	}
	hint := "take fewer classes; with three or more, the softmax loss has no limit"
	if dim == 0 {
		hint = "take fewer classes, or networks that have features"
	}
	return fmt.Errorf("the %s loss on %d training images needs their Gram matrix, for which the limit is %d images\nhint: %s", loss, images, limit, hint)
}

func (p Problem) check(tol float64) error {
	n := p.Labels.Values.Rows
	if n == 0 || p.Labels.Values.Cols == 0 || p.Gram.Rows != p.Gram.Cols || p.Gram.Rows+p.Features.Rows == 0 && (p.Large == nil || p.Labels.Loss == SoftmaxLoss && p.Lower == nil) ||
		p.Gram.Rows > 0 && p.Gram.Rows != n || p.Features.Rows > 0 && (p.Features.Rows != n || p.Features.Cols == 0) {
		panic("convex: Solve: shapes do not fit")
	}
	if err := p.Labels.check(); err != nil {
		return err
	}
	if !(p.Lambda > 0) || math.IsInf(p.Lambda, 0) {
		return fmt.Errorf("convex: lambda is %v, and must be positive and finite", p.Lambda)
	}
	if !(tol > 0) {
		return fmt.Errorf("convex: the gap to reach is %v, and must be positive", tol)
	}
	return nil
}

// classes returns the class of every image whose row of targets has a one there and
// zeros elsewhere.
func (l Labels) classes() ([]int, error) {
	of := make([]int, l.Values.Rows)
	for i := range of {
		sum, ones := 0.0, 0
		for k, p := range l.Values.Row(i) {
			sum += math.Abs(p)
			if p == 1 {
				of[i] = k
				ones++
			}
		}
		if ones != 1 || sum != 1 {
			return nil, fmt.Errorf("convex: targets of image %d are of no one class, as they must be for many images", i)
		}
	}
	if l.Values.Cols < 2 {
		return nil, errors.New("convex: the softmax loss needs two classes or more, not 1")
	}
	return of, nil
}
