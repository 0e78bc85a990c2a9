package tensor

import "dgkip/harness/tensor/internal/kernel"

// This file holds operations on float32 matrices that compute in float64. Convex models
// need them, because sums over tens of thousands of features lose digits by cancellation.

// wideChunk is the length of the pieces that a sum over features is cut into. Each piece
// has eight partial sums, by the feature's number modulo eight, and the pieces are added
// in order. The pieces of a block's rows fit the second-level cache.
const wideChunk = 2048

// Gram64 sets dst to A A' in float64.
func Gram64(dst Mat[float64], a Mat[float32]) {
	if dst.Rows != a.Rows || dst.Cols != a.Rows {
		panic("tensor: Gram64: shapes do not fit")
	}
	dst.check("tensor: Gram64: data of the result is too short for its shape")
	a.check("tensor: Gram64: data of A is too short for its shape")
	cross64(dst, a, a, true)
}

// Cross64 sets dst to A B' in float64.
func Cross64(dst Mat[float64], a, b Mat[float32]) {
	if dst.Rows != a.Rows || dst.Cols != b.Rows || a.Cols != b.Cols {
		panic("tensor: Cross64: shapes do not fit")
	}
	dst.check("tensor: Cross64: data of the result is too short for its shape")
	a.check("tensor: Cross64: data of A is too short for its shape")
	b.check("tensor: Cross64: data of B is too short for its shape")
	cross64(dst, a, b, false)
}

// cross64 computes A B' in square blocks. Of a symmetric product it computes the lower
// triangle and mirrors it.
func cross64(dst Mat[float64], a, b Mat[float32], symmetric bool) {
	edge, p := 48, kernel.Active()
	// Smaller blocks read more memory, but keep every thread busy.
	for edge > 6 && ceil(a.Rows, edge)*ceil(b.Rows, edge) < 8*threads() {
		edge /= 2
	}
	type block struct{ row, col int }
	var blocks []block
	for r := 0; r < a.Rows; r += edge {
		for c := 0; c < b.Rows && (!symmetric || c <= r); c += edge {
			blocks = append(blocks, block{r, c})
		}
	}
	Parallel(len(blocks), func(t int) {
		s := getScratch()
		defer putScratch(s)
		r0, c0 := blocks[t].row, blocks[t].col
		r1, c1 := min(r0+edge, a.Rows), min(c0+edge, b.Rows)
		for i := r0; i < r1; i++ {
			clear(dst.Row(i)[c0:c1])
		}
		for k := 0; k < a.Cols; k += wideChunk {
			n := min(wideChunk, a.Cols-k)
			for i := r0; i < r1; i += p.CrossRows {
				rows := min(p.CrossRows, r1-i)
				for j := c0; j < c1 && (!symmetric || j < i+rows); j += p.CrossCols {
					cols := min(p.CrossCols, c1-j)
					s.cross = kernel.Cross{
						C: s.sums[:], CRow: p.CrossCols, Rows: rows, Cols: cols, N: n,
						A: a.Data[i*a.Stride+k:], ARow: a.Stride,
						B: b.Data[j*b.Stride+k:], BRow: b.Stride,
					}
					p.Cross(&s.cross)
					for q := range rows {
						to := dst.Row(i + q)[j:][:cols]
						for l, x := range s.sums[q*p.CrossCols:][:cols] {
							to[l] += x
						}
					}
				}
			}
		}
		if symmetric {
			for i := r0; i < r1; i++ {
				for j := c0; j < min(c1, i); j++ {
					dst.Data[j*dst.Stride+i] = dst.Data[i*dst.Stride+j]
				}
			}
		}
	})
}

// MulVec64 sets dst to A v. dst and v must not overlap.
func MulVec64(dst []float64, a Mat[float32], v []float64) {
	if len(dst) != a.Rows || len(v) != a.Cols {
		panic("tensor: MulVec64: shapes do not fit")
	}
	a.check("tensor: MulVec64: data of A is too short for its shape")
	p, parts := kernel.Active(), ceil(a.Cols, wideChunk)
	groups := ceil(a.Rows, p.WideRows)
	sums := make([]float64, groups*parts*p.WideRows)
	Parallel(groups*parts, func(t int) {
		s := getScratch()
		defer putScratch(s)
		i, k := t/parts*p.WideRows, t%parts*wideChunk
		s.wide = kernel.Wide{
			S: sums[t*p.WideRows:], V: v[k:], N: min(wideChunk, a.Cols-k),
			X: a.Data[i*a.Stride+k:], Row: a.Stride, Rows: min(p.WideRows, a.Rows-i),
		}
		p.MulVec(&s.wide)
	})
	for i := range dst {
		dst[i] = 0
		g, r := i/p.WideRows, i%p.WideRows
		for part := range parts {
			dst[i] += sums[(g*parts+part)*p.WideRows+r]
		}
	}
}

// AddRows64 adds A'w to dst, row by row of A. dst and w must not overlap.
func AddRows64(dst []float64, a Mat[float32], w []float64) {
	if len(dst) != a.Cols || len(w) != a.Rows {
		panic("tensor: AddRows64: shapes do not fit")
	}
	a.check("tensor: AddRows64: data of A is too short for its shape")
	if a.Rows == 0 {
		return
	}
	p := kernel.Active()
	Parallel(ceil(a.Cols, wideChunk), func(t int) {
		s := getScratch()
		defer putScratch(s)
		k := t * wideChunk
		s.wide = kernel.Wide{
			U: dst[k:], S: w, N: min(wideChunk, a.Cols-k),
			X: a.Data[k:], Row: a.Stride, Rows: a.Rows,
		}
		p.AddRows(&s.wide)
	})
}

// Outer64 sets dst to a u' + b v', or to a u' if b is nil. It computes in float64 and
// rounds the result to float32.
func Outer64(dst Mat[float32], a, u, b, v []float64) {
	if len(a) != dst.Rows || len(u) != dst.Cols || b != nil && (len(b) != dst.Rows || len(v) != dst.Cols) {
		panic("tensor: Outer64: shapes do not fit")
	}
	dst.check("tensor: Outer64: data is too short for the shape")
	const rows = 16
	p, parts := kernel.Active(), ceil(dst.Cols, wideChunk)
	Parallel(ceil(dst.Rows, rows)*parts, func(t int) {
		s := getScratch()
		defer putScratch(s)
		r, k := t/parts*rows, t%parts*wideChunk
		for i := r; i < min(dst.Rows, r+rows); i++ {
			s.wide = kernel.Wide{X: dst.Data[i*dst.Stride+k:], U: u[k:], S: s.sums[:], N: min(wideChunk, dst.Cols-k)}
			s.sums[0] = a[i]
			if b != nil {
				s.sums[1], s.wide.V = b[i], v[k:]
			}
			p.Outer(&s.wide)
		}
	})
}
