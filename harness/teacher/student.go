package teacher

import (
	"context"
	"slices"

	"dgkip/harness/convex"
	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// ExactLabels names the array beside a set's images that holds its labels in full
// precision: solved labels differ from a class's probability by lambda_S times a
// coefficient, which float32 may lose.
const ExactLabels = "exact_labels"

// StudentGap is the relative duality gap to which models on sets are solved. It is
// small because so is lambda_S: a gap G leaves Theta_S uncertain by sqrt(2G/lambda_S).
// The hinge, whose Newton steps end at kinks, is held to less.
func StudentGap(loss convex.Loss) float64 {
	if loss == convex.HingeLoss {
		return 1e-11
	}
	return 1e-12
}

// Labels of a set, as a convex model takes them.
type Labels struct {
	Loss    convex.Loss
	Targets bool // of the logistic loss: real targets p, not gains y
	Values  tensor.Mat[float64]
}

// Student is the model trained on a set.
type Student struct {
	convex.Fitted
	Weights tensor.Mat[float64] // [K, M]
	Labels  Labels
	Lambda  float64 // lambda_S
}

// Train returns the minimiser on a set with features phi, [n, M].
func Train(ctx context.Context, phi tensor.Mat[float32], labels Labels, lambda float64) (*Student, error) {
	return TrainTo(ctx, phi, labels, lambda, StudentGap(labels.Loss))
}

// TrainTo is Train to a relative gap.
func TrainTo(ctx context.Context, phi tensor.Mat[float32], labels Labels, lambda, gap float64) (*Student, error) {
	gram := tensor.NewMat[float64](phi.Rows, phi.Rows)
	tensor.Gram64(gram, phi)
	return trainOn(ctx, phi, gram, labels, lambda, gap)
}

// TrainOn is Train where the Gram matrix is at hand.
func TrainOn(ctx context.Context, phi tensor.Mat[float32], gram tensor.Mat[float64], labels Labels, lambda float64) (*Student, error) {
	return trainOn(ctx, phi, gram, labels, lambda, StudentGap(labels.Loss))
}

func trainOn(ctx context.Context, phi tensor.Mat[float32], gram tensor.Mat[float64], labels Labels, lambda, gap float64) (*Student, error) {
	fitted, err := convex.Set{Gram: gram, Loss: labels.Loss, Targets: labels.Targets, Labels: labels.Values, Lambda: lambda}.Solve(ctx, gap)
	if err != nil {
		return nil, err
	}
	return &Student{Fitted: fitted, Weights: Combine(phi, fitted.C), Labels: labels, Lambda: lambda}, nil
}

// BestGap returns P_S(Theta_O) - D_S(alpha) for the student's own dual variables
// alpha, than which, once it is solved for, none give less: in the form that cannot
// cancel,
//
//	sum_i FY_i(f_i(Theta_O), alpha_i) + (lambda_S/2) |Theta_O - Theta(alpha)|^2.
//
// Theta(alpha) is computed from them, so that the bound holds however well the
// student was solved.
func (s *Student) BestGap(phi tensor.Mat[float32], theta tensor.Mat[float64]) float64 {
	outputs := Apply(phi, theta)
	b := tensor.NewMat[float64](s.C.Rows, s.C.Cols) // lambda_S times the weights of Theta(alpha)
	terms := 0.0
	for i := range b.Rows {
		terms += s.dual(b.Row(i), i, outputs.Row(i))
	}
	for i := range b.Data {
		b.Data[i] /= s.Lambda
	}
	distance := Distance(theta, Combine(phi, b))
	return terms + float64(s.Lambda/2*distance*distance)
}

// dual sets b to the dual variables of image i, times its gain where there is one,
// and returns their Fenchel-Young term at other outputs f.
func (s *Student) dual(b []float64, i int, f []float64) float64 {
	y, own := s.Labels.Values.Row(i), s.Outputs.Row(i)
	row := func(v []float64) tensor.Mat[float64] { return tensor.MatOf(v, 1, len(v)) }
	switch loss := s.Labels.Loss; {
	case loss == convex.SquaredLoss:
		for k := range b {
			b[k] = y[k] - own[k]
		}
		return FenchelYoung(loss, row(f), row(own))
	case loss == convex.SoftmaxLoss:
		convex.Probabilities(b, own)
		for k := range b {
			b[k] = y[k] - b[k]
		}
		return FenchelYoung(loss, row(f), row(own))
	case s.Labels.Targets:
		b[0] = y[0] - fmath.Sigmoid(own[0])
		return FenchelYoung(loss, row(f), row(own))
	}
	gain := y[0]
	margin := marginOf(s.Labels.Loss)
	alpha, _ := margin.Slope(float64(gain * own[0]))
	if s.Labels.Loss == convex.HingeLoss && gain != 0 {
		// At the kink only the coefficients know it.
		alpha = max(0, min(1, s.Lambda*s.C.Row(i)[0]/gain))
	}
	b[0] = float64(alpha * gain)
	return margin.Residual(float64(gain*f[0]), alpha)
}

// FenchelYoung returns sum_i l_i(f_i) + l_i*(b_i) - f_i b_i for the dual variables
// b that belong to the outputs own, both [n, K]. Labels drop out of it:
//
//	squared             |f - own|^2/2
//	logistic, softmax   the relative entropy of the probabilities of own and f
func FenchelYoung(loss convex.Loss, f, own tensor.Mat[float64]) float64 {
	sum := 0.0
	for i := range f.Rows {
		a, b := f.Row(i), own.Row(i)
		switch loss {
		case convex.SquaredLoss:
			for k, v := range a {
				d := v - b[k]
				sum += float64(d * d / 2)
			}
		case convex.LogisticLoss:
			sum += convex.Logistic{}.Residual(a[0], fmath.Sigmoid(-b[0]))
		default:
			sum += relativeEntropy(b, a)
		}
	}
	return sum
}

// relativeEntropy is that of softmax(own) and softmax(f).
func relativeEntropy(own, f []float64) float64 {
	logs := func(z []float64) float64 {
		top := slices.Max(z)
		sum := 0.0
		for _, v := range z {
			sum += fmath.Exp(v - top)
		}
		return top + fmath.Log(sum)
	}
	lo, lf := logs(own), logs(f)
	sum := 0.0
	for k, v := range own {
		sum += float64(fmath.Exp(v-lo) * ((v - lo) - (f[k] - lf)))
	}
	return max(0, sum)
}
