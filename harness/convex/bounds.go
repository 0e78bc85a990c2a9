package convex

import (
	"math"

	"dgkip/harness/tensor"
)

// Rho bounds the difference of the outputs of two models with |Theta_S - Theta_O| <= bound, for
// images x with the given norms k(x, x):
//
//	|f_S(x) - f_O(x)| <= sqrt(k(x, x)) bound.
//
// With bound = sqrt(2 G / lambda) this is the paper's Lemma 3.3. (The paper misprints a minimum
// over the ball for the maximum, and squares |Theta_S - Theta_O| in the line before.) After
// Project, the residual r is orthogonal to the features of the set,
//
//	f_S(x) - f_O(x) = -r'phi(x) = -r'(phi(x) - its projection),
//
// so Span.Distance2 may replace k(x, x), and |r| the bound.
func Rho(norms []float64, bound float64) []float64 {
	rho := make([]float64, len(norms))
	for i, k := range norms {
		rho[i] = math.Sqrt(max(0, k)) * bound
	}
	return rho
}

// Span is the span of the features of a set.
type Span struct{ l cholesky }

// NewSpan returns the span of the features with this Gram matrix [n, n]. It fails if the matrix
// is singular in spite of jitter, or not finite.
func NewSpan(gram tensor.Mat[float64]) (Span, error) {
	if gram.Cols != gram.Rows {
		panic("convex: NewSpan: a Gram matrix is square")
	}
	l, err := factorise(gram)
	return Span{l}, err
}

// Distance2 returns the squared distances of new images' features from the span,
// k(x, x) - k_x'K^-1 k_x. The rows of cross [n', n] are the k_x, and norms [n'] the k(x, x).
// Jitter on K slightly increases the distances and never decreases them.
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

// Interval counts the test images that a model S provably classifies right or wrong, and the
// undecided ones.
type Interval struct{ Right, Wrong, Unknown int }

// NewInterval implements the paper's Lemma 3.4: the test error of S is between Low and High.
// (The paper misprints Theta_O for the Theta that ranges over the ball, and ignores ties.) It
// takes outputs [n', K] of a model O, the images' classes in labels, and rho, the result of Rho
// for the Frobenius norm of R = Theta_S - Theta_O.
//
// With one output, f > 0 means class 1. S decides like O if |f| > rho.
//
// With more outputs, the difference of two outputs a and b changes by
//
//	|(r_a - r_b)'phi(x)| <= |r_a - r_b| sqrt(k) <= sqrt(2) |R| sqrt(k),
//
// as |r_a - r_b|^2 <= 2 |r_a|^2 + 2 |r_b|^2. S is right if the output of the image's class
// exceeds all others by more than sqrt(2) rho, and wrong if another output exceeds it by more.
// All other images, including ties, are unknown.
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

// Low is the lowest possible error of S, as a fraction of the images.
func (v Interval) Low() float64 { return float64(v.Wrong) / v.images() }

// High is the highest possible error of S.
func (v Interval) High() float64 { return 1 - float64(v.Right)/v.images() }

// Decided is the fraction of images that are provably right or wrong. If it is zero, the interval
// is [0, 1].
func (v Interval) Decided() float64 { return float64(v.Right+v.Wrong) / v.images() }
