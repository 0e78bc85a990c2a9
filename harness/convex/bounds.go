package convex

import (
	"math"

	"dgkip/harness/tensor"
)

// Rho returns what the outputs of two models differ by at most, for images x with
// these k(x, x), where |Theta_S - Theta_O| <= bound:
//
//	|f_S(x) - f_O(x)| <= sqrt(k(x, x)) bound.
//
// With bound = sqrt(2 G / lambda) that is the paper's Lemma 3.3, the bound by the gap.
// (It prints a minimum over the ball where the maximum is meant, and squares
// |Theta_S - Theta_O| in the line before.) Where the residual
// is orthogonal to the features of the set, as after Project, Span.Distance2 may
// stand for k(x, x) and |r| for the bound:
//
//	f_S(x) - f_O(x) = -r'phi(x) = -r'(phi(x) - its projection).
func Rho(norms []float64, bound float64) []float64 {
	rho := make([]float64, len(norms))
	for i, k := range norms {
		rho[i] = math.Sqrt(max(0, k)) * bound
	}
	return rho
}

// Span is the span of the features of a set.
type Span struct{ l cholesky }

// NewSpan takes the set's Gram matrix [n, n].
func NewSpan(gram tensor.Mat[float64]) (Span, error) {
	if gram.Cols != gram.Rows {
		panic("convex: NewSpan: a Gram matrix is square")
	}
	l, err := factorise(gram)
	return Span{l}, err
}

// Distance2 returns the squared distances of the features of images from the span,
// k(x, x) - k_x'K^-1 k_x, given k_x, the rows of cross [n', n], and norms k(x, x),
// [n']. The jitter of K makes them larger by a little, never smaller.
func (s Span) Distance2(cross tensor.Mat[float64], norms []float64) []float64 {
	if cross.Rows != len(norms) || cross.Cols != s.l.l.Rows {
		panic("convex: Span.Distance2: shapes do not fit")
	}
	out := make([]float64, cross.Rows)
	tensor.Parallel(cross.Rows, func(i int) {
		x := s.l.forward(cross.Row(i))
		out[i] = max(0, norms[i]-dot64(x, x))
	})
	return out
}

// Solve returns K^-1 d.
func (s Span) Solve(d []float64) []float64 { return s.l.solve(d) }

// Interval is how many images of a test set a model S is sure to classify right
// and wrong, known from a model O and a bound of the difference of their outputs.
type Interval struct{ Right, Wrong, Unknown int }

// NewInterval is the paper's Lemma 3.4: the test error of S lies between Low and
// High. (It prints Theta_O where Theta ranges over the ball, and leaves out ties.) It
// counts test images with outputs [n', K] of O and classes labels,
// whose outputs in S differ by rho at most, as Rho has it with the bound of the
// Frobenius norm |R|, R = Theta_S - Theta_O.
//
// With one output, class 1 is f > 0: S is right where f is on the right side and
// |f| > rho, wrong where it is on the other.
//
// With more, the difference of two outputs a and b changes by
//
//	|(r_a - r_b)'phi(x)| <= |r_a - r_b| sqrt(k) <= sqrt(2) |R| sqrt(k),
//
// as |r_a - r_b|^2 <= 2 |r_a|^2 + 2 |r_b|^2. S is right where the output of the
// image's class exceeds every other by more than sqrt(2) rho, wrong where some
// other exceeds it by more. The rest is unknown, ties among it.
func NewInterval(outputs tensor.Mat[float64], labels []int, rho []float64) Interval {
	if outputs.Rows != len(labels) || outputs.Rows != len(rho) || outputs.Cols == 0 {
		panic("convex: NewInterval: shapes do not fit")
	}
	var v Interval
	for i, class := range labels {
		f := outputs.Row(i)
		lead, limit := math.Inf(1), rho[i]*math.Sqrt2
		if len(f) == 1 {
			limit = rho[i]
			if lead = f[0]; class == 0 {
				lead = -lead
			}
		} else {
			for k, x := range f {
				if k != class {
					lead = min(lead, f[class]-x)
				}
			}
		}
		switch {
		case lead > limit:
			v.Right++
		case lead < -limit:
			v.Wrong++
		default:
			v.Unknown++
		}
	}
	return v
}

func (v Interval) images() float64 { return float64(max(1, v.Right+v.Wrong+v.Unknown)) }

// Low is the least error that S can have: a share of the images.
func (v Interval) Low() float64 { return float64(v.Wrong) / v.images() }

// High is the largest error that S can have.
func (v Interval) High() float64 { return 1 - float64(v.Right)/v.images() }

// Decided is the share of the images that are not unknown.
func (v Interval) Decided() float64 { return float64(v.Right+v.Wrong) / v.images() }

// Vacuous says that nothing is decided: the interval is [0, 1].
func (v Interval) Vacuous() bool { return v.Right+v.Wrong == 0 }
