package convex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"dgkip/harness/tensor"
)

// Problem asks for the model that minimises
//
//	P(Theta) = sum_i l_i(F_i) + (lambda/2) |Theta|^2,   F = A Theta'.
type Problem struct {
	Labels Labels
	Lambda float64

	// Features are A, [n, M]. They may be missing if Gram, or Large and Lower, are given; the
	// solution then has no Weights.
	Features tensor.Mat[float32]

	// Gram is A A', [n, n]. If it is given, kernelProblem solves the problem in float64,
	// with matrices of this size.
	Gram tensor.Mat[float64]

	// Large returns A A' in float32 when a solver for many images needs it. If it is nil,
	// the matrix is computed from Features.
	Large func(context.Context) (tensor.Mat[float32], error)

	// Exact, if given, returns A A' in float64. At most MaxExact images are solved with it, and
	// maxAgain after another solver failed: rounded to float32, the matrix of similar images is
	// not positive semidefinite.
	Exact func(context.Context) (tensor.Mat[float64], error)

	// Lower returns the lower half of A A' in float32. The softmax loss needs it if there
	// are no features.
	Lower func(context.Context) (Triangle, error)

	// Report, if given, receives the fraction of the work done, from 0 to 1.
	Report func(done float64)
}

// Solution is the model that a solver found, with a proof of its quality.
type Solution struct {
	Labels Labels // of the problem
	Lambda float64

	Weights tensor.Mat[float64] // Theta, [K, M]
	C       tensor.Mat[float64] // Theta = C'A, [n, K]; empty if the solver works on Theta
	Outputs tensor.Mat[float64] // F, [n, K]
	Norm2   float64             // |Theta|^2

	Primal, Dual float64
	// Gap is the relative duality gap (P - D) / max(|P|, 1). P - D is summed without
	// cancellation, and Dual is P minus that sum. The gap refers to the inner products that the
	// solver used. Where these are in float32, it is a proof for the rounded matrix, and only if
	// that matrix is positive semidefinite.
	Gap float64
	// Sweeps counts steps, each of which takes about as long as one pass over the data.
	Sweeps float64
}

// Limits of the solvers.
const (
	// maxGram is the largest number of images for a full Gram matrix, which then takes 3.6 GB.
	maxGram = 30000
	// maxTriangle is the largest number of images for half a Gram matrix, which then takes
	// 13 GB.
	maxTriangle = 80000
	// maxPrimal is the largest number of features for primalNewton, whose time grows with
	// their third power.
	maxPrimal = 2500
	// MaxExact is the largest number of images for kernelProblem if no Gram matrix is given;
	// its time grows with their third power. Except for the softmax loss, it then aims at the
	// relative gap exactGap.
	MaxExact, exactGap = 512, 1e-8
	// maxAgain is the largest number of images for kernelProblem after another solver failed.
	maxAgain = 2048

	maxSteps, maxProducts = 2000, 5000
)

// Solve minimises until the relative gap is at most tol. It picks one of these methods:
//
//	kernelProblem    if Gram is given or there are few images (softmax loss: only with
//	                 Exact): Newton's method in float64, or an interior-point method for the hinge loss
//	storedSoftmax    softmax loss: block-wise dual coordinate ascent on stored features
//	softmaxNewton    softmax loss with few features, fewer than images
//	triangleSoftmax  softmax loss without features: dual coordinate ascent on half a Gram
//	                 matrix
//	primalNewton     logistic loss with fewer features than images, hinge loss with
//	                 far fewer
//	dual             logistic or hinge loss on a large Gram matrix: dual coordinate ascent,
//	                 or the method of multipliers for the hinge loss
//	conjugateGradients
//	                 squared loss on a large Gram matrix
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
		s.Outputs = Apply(p.Features, s.Weights) // more exact than from a Gram matrix in float32
	}
	p.Report(1)
	return s, nil
}

// isSmall reports whether kernelProblem is the first choice.
func (p Problem) isSmall() bool {
	few := p.Labels.Values.Rows <= MaxExact && (p.Exact != nil || p.Features.Cols > 0 && p.Labels.Loss != SoftmaxLoss)
	return p.Gram.Rows > 0 || few
}

func (p Problem) solve(ctx context.Context, tol float64) (Solution, error) {
	n, m, loss := p.Labels.Values.Rows, p.Features.Cols, p.Labels.Loss
	search := newSearch(ctx, p, tol)
	switch {
	case p.Gram.Rows > 0:
		return kernelProblem{Gram: p.Gram, Labels: p.Labels, Lambda: p.Lambda}.solve(search)
	case p.isSmall():
		if loss != SoftmaxLoss {
			search.tol = min(tol, exactGap)
		}
		gram, err := p.exact(ctx)
		if err != nil {
			return Solution{}, err
		}
		s, err := kernelProblem{Gram: gram, Labels: p.Labels, Lambda: p.Lambda}.solve(search)
		if errors.Is(err, ErrGap) && s.Gap <= tol {
			err = nil // exactGap was missed, but the caller asked for less
		}
		return s, err
	case loss == SoftmaxLoss:
		return p.softmax(search)
	case p.Labels.Form == Target:
		return Solution{}, fmt.Errorf("convex: the logistic loss takes real targets for at most %d images, not %d", MaxExact, n)
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

// again uses kernelProblem after another solver failed. The others converge slowly if similar
// images have different labels.
func (p Problem) again(ctx context.Context, tol float64) (Solution, error) {
	gram, err := p.exact(ctx)
	if err != nil {
		return Solution{}, err
	}
	return kernelProblem{Gram: gram, Labels: p.Labels, Lambda: p.Lambda}.solve(newSearch(ctx, p, tol))
}

// exact returns A A' in float64, from float32 if there is nothing better.
func (p Problem) exact(ctx context.Context) (tensor.Mat[float64], error) {
	switch {
	case p.Exact != nil:
		return p.Exact(ctx)
	case p.Features.Rows > 0:
		return GramOf(p.Features), nil
	}
	k, err := p.Large(ctx)
	return tensor.Widen(k), err
}

// softmax solves the softmax loss on many images.
func (p Problem) softmax(search *search) (Solution, error) {
	of := p.Labels.classes()
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

// CheckSize returns an error if no solver handles a loss on this many images with dim
// features; dim is 0 for a kernel.
func CheckSize(loss Loss, images, dim int) error {
	limit := maxGram
	switch {
	case loss == SoftmaxLoss && dim > 0, primalSuits(loss, images, dim):
		return nil
	case loss == SoftmaxLoss:
		limit = maxTriangle
	}
	if images <= limit {
		return nil
	}
	hint := "use fewer images; for three or more classes, the softmax loss has no limit"
	if dim == 0 {
		hint = "use fewer images, or networks of finite width"
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
		return fmt.Errorf("convex: lambda must be positive and finite, not %v", p.Lambda)
	}
	if !(tol > 0) {
		return fmt.Errorf("convex: the gap to reach must be positive, not %v", tol)
	}
	return nil
}

// classes returns the class of each image. Targets of many images are one-hot, as from RealLabels.
func (l Labels) classes() []int {
	of := make([]int, l.Values.Rows)
	for i := range of {
		of[i] = slices.Index(l.Values.Row(i), 1)
	}
	return of
}
