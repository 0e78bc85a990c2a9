package eval

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dgkip/harness/convex"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// orthogonal is the largest relative difference of the two models' outputs on the set for which
// the residual counts as orthogonal to the span.
const orthogonal = 1e-6

// bounds compares the model on the set with the reference model, and bounds its test error without
// using its outputs:
//
//	|f_S(x) - f_O(x)| <= rho(x) = sqrt(2 G k(x, x)/lambda_S)                     (Lemma 3.3)
//	#{y f_O < -rho}/n' <= test error of S <= 1 - #{y f_O > rho}/n'               (Lemma 3.4)
//
// If Theta_S is the projection of Theta_O onto the span of the set's features, the residual r is
// orthogonal to the span except for rounding errors. Then
// |r| sqrt(k(x,x) - k_x'K^-1 k_x) + |(A r)'K^-1 k_x| is a smaller rho. If the Gram matrix K is
// singular, only the first rho is used.
//
// Theta_O is solved to the default gap of its loss. If a method has its own teacher_gap, deviation
// and bounds belong to the default model, not to the one that the method used. In exact kernels,
// entries of the kernel matrices are float32, and rho does not include their rounding.
func (s *scoring) bounds(ctx context.Context) error {
	own := s.own
	theta, err := teacher.Problem{Loss: s.loss, Lambda: s.Lambda}.Theta(ctx, space.OfTrial(s.trial))
	if err != nil {
		return err
	}
	if theta.Norm == 0 {
		return teacher.ErrZero
	}
	view, err := s.shown.View(ctx, &theta.Model)
	if err != nil {
		return err
	}
	deviation := view.Distance(own.C)
	bound := convex.Bound(convex.BestGap(view, own), own.Lambda)
	m := s.out.Metrics
	m["deviation"], m["best_bound"] = deviation/theta.Norm, bound/theta.Norm

	n := s.trial.Test.Len()
	outputs, err := s.test.Outputs(ctx, &theta.Model)
	if err != nil {
		return err
	}
	wrong := teacher.Errors(outputs, s.trial.Test.Labels)
	m["teacher_acc"], m["teacher_gap"] = float64(n-wrong)/float64(n), theta.Gap

	norms, err := s.test.Norms(ctx)
	if err != nil {
		return err
	}
	proved := s.interval("interval.", outputs, convex.Rho(norms, bound))
	onSet := view.Outputs()
	if projected(onSet, own) {
		span, err := convex.NewSpan(s.gram)
		switch {
		case errors.Is(err, convex.ErrSingular):
			s.out.Notes = append(s.out.Notes, "no sharper bound: "+firstLine(err))
		case err != nil:
			return err
		default:
			rho, err := s.sharper(ctx, span, onSet, norms, deviation)
			if err != nil {
				return err
			}
			proved = s.interval("interval_perp.", outputs, rho)
		}
	}
	if proved.Decided() == 0 {
		s.out.Notes = append(s.out.Notes, "the interval of the test error is vacuous: it decides no test image")
	} else {
		s.out.Notes = append(s.out.Notes, fmt.Sprintf("the test error is proved to lie in [%.4f, %.4f]; %.1f %% of the test images are decided", proved.Low(), proved.High(), 100*proved.Decided()))
	}
	return nil
}

// sharper returns the smaller rho from Theta_O's outputs on the set, which it changes, and |r|.
func (s *scoring) sharper(ctx context.Context, span convex.Span, onSet tensor.Mat[float64], norms []float64, residual float64) ([]float64, error) {
	cross, err := s.test.Cross(ctx, s.shown)
	if err != nil {
		return nil, err
	}
	rho := convex.Rho(span.Distance2(cross, norms), residual)
	// The component of r inside the span adds |(A r)'K^-1 k_x|.
	for i, f := range s.own.Outputs.Data {
		onSet.Data[i] -= f
	}
	for k := range onSet.Cols {
		z := span.Solve(onSet.Column(k))
		for i := range rho {
			within := 0.0
			for j, x := range cross.Row(i) {
				within += float64(x * z[j])
			}
			rho[i] += math.Abs(within)
		}
	}
	return rho, nil
}

// projected reports whether the model on the set and Theta_O have the same outputs on the set.
func projected(real tensor.Mat[float64], own convex.Solution) bool {
	apart, size := 0.0, 0.0
	for i, f := range real.Data {
		apart = max(apart, math.Abs(f-own.Outputs.Data[i]))
		size = max(size, math.Abs(f))
	}
	return apart <= orthogonal*size
}

// interval records the interval of the test error for a rho.
func (s *scoring) interval(name string, outputs tensor.Mat[float64], rho []float64) convex.Interval {
	v := convex.NewInterval(outputs, s.trial.Test.Labels, rho)
	m := s.out.Metrics
	m[name+"low"], m[name+"high"], m[name+"decided"] = v.Low(), v.High(), v.Decided()
	s.out.Counts[name+"right"] = []int64{int64(v.Right)}
	s.out.Counts[name+"wrong"] = []int64{int64(v.Wrong)}
	return v
}
