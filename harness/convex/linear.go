package convex

import (
	"context"
	"math"

	"dgkip/harness/tensor"
)

// pieceLen is the length of the pieces of long vectors that are processed in parallel.
const pieceLen = 4096

func pieces(m int) int { return (m + pieceLen - 1) / pieceLen }

// dots returns A v.
func dots(a tensor.Mat[float32], v []float64) []float64 {
	out := make([]float64, a.Rows)
	tensor.MulVec64(out, a, v)
	return out
}

// manyDots returns V A' [K, n] for V [K, M], reading A from memory once. It stops early if ctx
// is done.
func manyDots(ctx context.Context, a tensor.Mat[float32], v tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](v.Rows, a.Rows)
	inStrips(ctx, a, func(from, to int, part tensor.Mat[float32]) {
		tensor.Parallel(v.Rows, func(k int) { tensor.MulVec64(out.Row(k)[from:to], part, v.Row(k)) })
	})
	return out
}

// inStrips calls do for consecutive strips of A, rows [from, to), each small enough for a
// cache. It stops early if ctx is done.
func inStrips(ctx context.Context, a tensor.Mat[float32], do func(from, to int, part tensor.Mat[float32])) {
	rows := max(64, 1<<18/max(1, a.Cols))
	for from := 0; from < a.Rows && ctx.Err() == nil; from += rows {
		to := min(a.Rows, from+rows)
		do(from, to, a.Part(from, to, 0, a.Cols))
	}
}

// subtractRows returns v - A'w.
func subtractRows(v []float64, a tensor.Mat[float32], w []float64) []float64 {
	out := append([]float64(nil), v...)
	tensor.AddRows64(out, a, times(-1, oneRow(w)).Data)
	return out
}

// square is the squared norm of v.
func square(v []float64) float64 {
	parts := make([]float64, pieces(len(v)))
	tensor.Parallel(len(parts), func(p int) {
		for _, x := range v[p*pieceLen : min(len(v), (p+1)*pieceLen)] {
			parts[p] += float64(x * x)
		}
	})
	sum := 0.0
	for _, x := range parts {
		sum += x
	}
	return sum
}

// outer sets d to a u, plus b v if b is not nil. If a has several columns, the products run in
// float32.
func outer(d tensor.Mat[float32], a, u tensor.Mat[float64], b, v *tensor.Mat[float64]) {
	if a.Cols > 1 {
		tensor.Mul(d, tensor.Narrow(a), tensor.Narrow(u), tensor.NN, false)
		if b != nil {
			tensor.Mul(d, tensor.Narrow(*b), tensor.Narrow(*v), tensor.NN, true)
		}
		return
	}
	if b == nil {
		tensor.Outer64(d, a.Data, u.Row(0), nil, nil)
		return
	}
	tensor.Outer64(d, a.Data, u.Row(0), b.Data, v.Row(0))
}

// columns applies do to each column of m and returns the matrix of the results,
// which have n entries.
func columns(m tensor.Mat[float64], n int, do func(v []float64) []float64) tensor.Mat[float64] {
	out := tensor.NewMat[float64](n, m.Cols)
	for k := range m.Cols {
		out.SetColumn(k, do(m.Column(k)))
	}
	return out
}

// Apply returns the outputs A Theta' [n, K] of a model with weights theta [K, M].
func Apply(a tensor.Mat[float32], theta tensor.Mat[float64]) tensor.Mat[float64] {
	return manyDots(context.Background(), a, theta).Transposed()
}

// Combine returns the weights C'A [K, M] of a model in the span of features A.
func Combine(a tensor.Mat[float32], c tensor.Mat[float64]) tensor.Mat[float64] {
	theta, w := tensor.NewMat[float64](c.Cols, a.Cols), c.Transposed()
	inStrips(context.Background(), a, func(from, to int, part tensor.Mat[float32]) {
		tensor.Parallel(c.Cols, func(k int) { tensor.AddRows64(theta.Row(k), part, w.Row(k)[from:to]) })
	})
	return theta
}

// Norm is the Frobenius norm.
func Norm(theta tensor.Mat[float64]) float64 {
	sum := 0.0
	for k := range theta.Rows {
		for _, v := range theta.Row(k) {
			sum += float64(v * v)
		}
	}
	return math.Sqrt(sum)
}

// Distance is the Frobenius norm of a difference.
func Distance(a, b tensor.Mat[float64]) float64 {
	sum := 0.0
	for k := range a.Rows {
		rb := b.Row(k)
		for j, v := range a.Row(k) {
			d := v - rb[j]
			sum += float64(d * d)
		}
	}
	return math.Sqrt(sum)
}

// subtractSpan returns theta - C'A [K, M] for theta [K, M] and C [n, K].
func subtractSpan(theta tensor.Mat[float64], a tensor.Mat[float32], c tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](theta.Rows, theta.Cols)
	for k := range theta.Rows {
		copy(out.Row(k), subtractRows(theta.Row(k), a, c.Column(k)))
	}
	return out
}

// frobenius2 is the squared Frobenius norm.
func frobenius2(m tensor.Mat[float64]) float64 {
	sum := 0.0
	for k := range m.Rows {
		sum += square(m.Row(k))
	}
	return sum
}

// times returns a*m.
func times(a float64, m tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](m.Rows, m.Cols)
	for i := range m.Rows {
		for j, x := range m.Row(i) {
			out.Data[i*out.Stride+j] = float64(a * x)
		}
	}
	return out
}

// oneRow returns v as a matrix of one row, and oneColumn as a matrix of one column.
func oneRow(v []float64) tensor.Mat[float64]    { return tensor.MatOf(v, 1, len(v)) }
func oneColumn(v []float64) tensor.Mat[float64] { return tensor.MatOf(v, len(v), 1) }

// GramOf returns A A' in float64.
func GramOf(a tensor.Mat[float32]) tensor.Mat[float64] {
	k := tensor.NewMat[float64](a.Rows, a.Rows)
	tensor.Gram64(k, a)
	return k
}

// dot64 is an inner product with four partial sums, which the processor updates in parallel.
func dot64(x, y []float64) float64 {
	var s [4]float64
	n := len(x) &^ 3
	for i := 0; i < n; i += 4 {
		x, y := x[i:i+4:i+4], y[i:i+4:i+4]
		s[0] += float64(x[0] * y[0])
		s[1] += float64(x[1] * y[1])
		s[2] += float64(x[2] * y[2])
		s[3] += float64(x[3] * y[3])
	}
	for i := n; i < len(x); i++ {
		s[0] += float64(x[i] * y[i])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// multiply returns K X for K [n, n] and X [n, m].
func multiply(k, x tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](k.Rows, x.Cols)
	cols := make([][]float64, x.Cols)
	for j := range cols {
		cols[j] = x.Column(j)
	}
	const rows = 32
	tensor.Parallel((k.Rows+rows-1)/rows, func(b int) {
		for i := b * rows; i < min(k.Rows, (b+1)*rows); i++ {
			for j, v := range cols {
				out.Data[i*out.Stride+j] = dot64(k.Row(i), v)
			}
		}
	})
	return out
}
