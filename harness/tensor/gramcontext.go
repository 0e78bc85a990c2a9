package tensor

import (
	"context"
	"math"

	"dgkip/harness/tensor/internal/kernel"
)

// gramWork is the number of multiplications between two checks of the context: half a
// second's work for a processor core.
const gramWork = 1 << 34

// GramContext is Gram for large matrices. It works block by block and returns the
// context's error once ctx is done; C is then incomplete. It calls progress, unless nil,
// with the share done. Every entry of C is the same sum in the same order as in Gram, so
// the bits are equal.
func GramContext(ctx context.Context, c, a Mat[float32], progress func(done float64)) error {
	if c.Rows != a.Rows || c.Cols != a.Rows {
		panic("tensor: GramContext: shapes do not fit")
	}
	return gramBlocks(ctx, c, a, gramEdge(a.Cols), progress)
}

// gramEdge returns the edge of a block, for rows of the given length.
func gramEdge(length int) int {
	edge := int(math.Sqrt(gramWork / float64(max(1, length))))
	return max(64, edge/64*64)
}

func gramBlocks(ctx context.Context, c, a Mat[float32], edge int, progress func(done float64)) error {
	for r := 0; r < a.Rows; r += edge {
		end := min(r+edge, a.Rows)
		below := a.Part(r, end, 0, a.Cols)
		for j := 0; j <= r; j += edge {
			if err := ctx.Err(); err != nil {
				return err
			}
			if j == r {
				Gram(c.Part(r, end, r, end), below)
				continue
			}
			left := c.Part(r, end, j, j+edge)
			Mul(left, below, a.Part(j, j+edge, 0, a.Cols), NT, false)
			transposeTo(c.Part(j, j+edge, r, end), left)
		}
		if done := float64(end) / float64(a.Rows); progress != nil {
			progress(done * done)
		}
	}
	return ctx.Err()
}

// transposeTo sets dst to the transpose of src.
func transposeTo(dst, src Mat[float32]) {
	const rows = 64
	p := kernel.Active()
	Parallel(ceil(src.Rows, rows), func(b int) {
		r0, r1 := b*rows, min(src.Rows, (b+1)*rows)
		transpose(p, dst.Data[r0:], dst.Stride, src, r0, r1, 0, src.Cols)
	})
}
