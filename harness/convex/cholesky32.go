package convex

import (
	"context"

	"dgkip/harness/tensor"
)

// factorBlock is the number of columns that decompose32 processes together.
const factorBlock = 192

// cholesky32 is a Cholesky factor in float32, with the inverses of its diagonal blocks.
type cholesky32 struct {
	l       tensor.Mat[float32]
	inverse []tensor.Mat[float64]
}

// decompose32 factorises m in place, using its lower triangle. It reports false if m is not
// positive definite or ctx is done, and calls tick for every block. Matrix products do nearly
// all the work: ten thousand variables take seconds, and would take minutes in float64.
func decompose32(ctx context.Context, m tensor.Mat[float32], tick func()) (cholesky32, bool) {
	n := m.Rows
	c := cholesky32{l: m}
	copied := func(a tensor.Mat[float32], sign float32) tensor.Mat[float32] {
		out := tensor.NewMat[float32](a.Rows, a.Cols)
		for i := range a.Rows {
			for j, x := range a.Row(i) {
				out.Data[i*out.Stride+j] = sign * x
			}
		}
		return out
	}
	for from := 0; from < n; from += factorBlock {
		if ctx.Err() != nil {
			return c, false
		}
		tick()
		to := min(n, from+factorBlock)
		if from > 0 {
			tensor.Mul(m.Part(from, n, from, to), m.Part(from, n, 0, from), copied(m.Part(from, to, 0, from), -1), tensor.NT, true)
		}
		size := to - from
		block := tensor.NewMat[float64](size, size)
		for i := range size {
			for j, x := range m.Row(from + i)[from : from+i+1] {
				block.Row(i)[j] = float64(x)
			}
		}
		l, bad := decompose(ctx, block, 0, 0)
		if bad >= 0 {
			return c, false
		}
		inverse := tensor.NewMat[float64](size, size)
		tensor.Parallel(size, func(j int) {
			zeros := j &^ 3 // leading zeros to skip; dot64 sums in groups of four
			column := make([]float64, size)
			column[j] = 1
			copy(column[zeros:], cholesky{l.l.Part(zeros, size, zeros, size), dot64}.forward(column[zeros:]))
			inverse.SetColumn(j, column)
		})
		c.inverse = append(c.inverse, inverse)
		if to < n {
			tensor.Mul(m.Part(to, n, from, to), copied(m.Part(to, n, from, to), 1), tensor.Narrow(inverse), tensor.NT, false)
		}
	}
	return c, true
}

// solve returns the solution x of L L' x = b.
func (c cholesky32) solve(b []float64) []float64 {
	n := len(b)
	x := append([]float64(nil), b...)
	for k, inverse := range c.inverse {
		from := k * factorBlock
		to := min(n, from+factorBlock)
		known := make([]float64, to-from)
		tensor.MulVec64(known, c.l.Part(from, to, 0, from), x[:from])
		for i := range known {
			known[i] = x[from+i] - known[i]
		}
		for i := range known {
			x[from+i] = dot64(inverse.Row(i)[:i+1], known[:i+1])
		}
	}
	for k := len(c.inverse) - 1; k >= 0; k-- {
		from := k * factorBlock
		to := min(n, from+factorBlock)
		out := make([]float64, to-from)
		for i, y := range x[from:to] {
			for j, v := range c.inverse[k].Row(i)[:i+1] {
				out[j] -= float64(v * y)
			}
		}
		if from > 0 {
			tensor.AddRows64(x[:from], c.l.Part(from, to, 0, from), out)
		}
		for i, v := range out {
			x[from+i] = -v
		}
	}
	return x
}
