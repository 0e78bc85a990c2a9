package convex

import (
	"context"

	"dgkip/harness/tensor"
)

// Triangle is a symmetric matrix [n, n] of which only the lower half is stored, in strips of
// StripRows rows. A strip extends from the first column to the diagonal entry of its last row.
type Triangle []tensor.Mat[float32]

// StripRows is a multiple of triangleBlock, so that every block is within one strip.
const StripRows = 16 * triangleBlock

// triangleBlock is the number of images per block. Small blocks converge in fewer passes: on
// 10,000 images of CIFAR-10, blocks of 64 need half as many as blocks of 256.
const triangleBlock = 64

// triangleSoftmax solves the softmax loss on a large set from half its Gram matrix: see
// blockAscent. Every block updates the outputs of all images, so a pass reads the matrix twice.
// Apart from the matrix it takes 4*64 n + 44 n K bytes.
type triangleSoftmax struct {
	Gram    Triangle
	Labels  []int // classes, from 0
	Classes int
	Lambda  float64
}

func (p triangleSoftmax) solve(search *search) (Solution, error) {
	n := len(p.Labels)
	b := &triangleBlocks{strips: p.Gram, f: tensor.NewMat[float64](p.Classes, n), c: tensor.NewMat[float64](p.Classes, n), move: tensor.NewMat[float32](p.Classes, n)}
	return newBlockAscent(search.ctx, b, triangleBlock, p.Labels, p.Classes, p.Lambda).solve(search)
}

// triangleBlocks implements blocks on a Gram matrix.
type triangleBlocks struct {
	strips Triangle
	f      tensor.Mat[float64] // F', [K, n]
	c      tensor.Mat[float64] // C', [K, n]
	move   tensor.Mat[float32] // change of f, [K, n]
}

// each calls do for every strip with its range of rows.
func (t Triangle) each(do func(strip tensor.Mat[float32], from, to int)) {
	for _, s := range t {
		do(s, s.Cols-s.Rows, s.Cols)
	}
}

func (b *triangleBlocks) gram(from, to int) tensor.Mat[float32] {
	strip := b.strips[from/StripRows]
	first := strip.Cols - strip.Rows
	k := tensor.NewMat[float32](to-from, to-from)
	for i := range k.Rows {
		copy(k.Row(i), strip.Row(from + i - first)[from:to])
	}
	return k
}

func (b *triangleBlocks) outputs(from, to int) tensor.Mat[float32] {
	return tensor.Narrow(b.f.Part(0, b.f.Rows, from, to))
}

// moved adds w times the block's rows of the full matrix to the outputs. The block's strip
// contains the columns up to the strip's end; by symmetry, the strips below contain the rest.
func (b *triangleBlocks) moved(from int, w tensor.Mat[float32]) {
	to := from + w.Cols
	b.strips.each(func(strip tensor.Mat[float32], first, end int) {
		switch {
		case first >= to:
			tensor.Mul(b.move.Part(0, w.Rows, first, end), w, strip.Part(0, strip.Rows, from, to), tensor.NT, false)
		case from < end:
			tensor.Mul(b.move.Part(0, w.Rows, 0, end), w, strip.Part(from-first, to-first, 0, end), tensor.NN, false)
		}
	})
	tensor.Parallel(pieces(len(b.move.Data)), func(p int) {
		end := min(len(b.move.Data), (p+1)*pieceLen)
		for j := p * pieceLen; j < end; j++ {
			b.f.Data[j] += float64(b.move.Data[j])
		}
	})
	for k := range w.Rows {
		for i, x := range w.Row(k) {
			b.c.Row(k)[from+i] += float64(x)
		}
	}
}

func (b *triangleBlocks) anew(ctx context.Context, c func(i, k int) float64) {
	for k := range b.c.Rows {
		row := b.c.Row(k)
		for i := range row {
			row[i] = c(i, k)
		}
	}
	clear(b.f.Data)
	b.strips.each(func(strip tensor.Mat[float32], first, end int) {
		const rows = 16 // few enough to stay in cache while each output reads them twice
		sums := make([]float64, rows)
		for i := first; i < end && ctx.Err() == nil; i += rows {
			part := strip.Part(i-first, min(end, i+rows)-first, 0, end)
			left := part.Part(0, part.Rows, 0, first)
			for k := range b.c.Rows {
				sums := sums[:part.Rows]
				tensor.MulVec64(sums, part, b.c.Row(k)[:end])
				for j, x := range sums {
					b.f.Row(k)[i+j] += x
				}
				if first > 0 {
					tensor.AddRows64(b.f.Row(k)[:first], left, b.c.Row(k)[i:i+part.Rows])
				}
			}
		}
	})
}

func (b *triangleBlocks) norm2() float64 { return max(0, inner(b.c, b.f)) }

func (b *triangleBlocks) solution(context.Context) Solution {
	return Solution{C: b.c.Transposed(), Outputs: b.f.Transposed()}
}
