package convex

import (
	"context"

	"dgkip/harness/tensor"
)

// storedSoftmax solves the softmax loss on a large set from stored features, without a Gram
// matrix: see blockAscent. It computes a block's outputs from the features and then updates
// Theta, so a visit reads the block's features twice. Apart from the features it takes
// 4*256 n + 24 n K + 24 K M bytes.
type storedSoftmax struct {
	Features tensor.Mat[float32] // [n, M]
	Labels   []int               // classes, from 0
	Classes  int
	Lambda   float64
}

func (p storedSoftmax) solve(search *search) (Solution, error) {
	m := p.Features.Cols
	return newBlockAscent(search.ctx, &storedBlocks{
		features: p.Features, theta: tensor.NewMat[float64](p.Classes, m),
		theta32: tensor.NewMat[float32](p.Classes, m), move: tensor.NewMat[float32](p.Classes, m),
	}, storedBlock, p.Labels, p.Classes, p.Lambda).solve(search)
}

// storedBlock is the number of images per block. Each visit reads Theta, so small blocks would
// be slow.
const storedBlock = 256

// storedBlocks implements blocks on stored features.
type storedBlocks struct {
	features tensor.Mat[float32]
	theta    tensor.Mat[float64] // [K, M]
	theta32  tensor.Mat[float32]
	move     tensor.Mat[float32] // of theta, [K, M]
}

func (b *storedBlocks) block(from, to int) tensor.Mat[float32] {
	return b.features.Part(from, to, 0, b.features.Cols)
}

func (b *storedBlocks) gram(from, to int) tensor.Mat[float32] {
	k := tensor.NewMat[float32](to-from, to-from)
	tensor.Gram(k, b.block(from, to))
	return k
}

// outputs puts the features on the left, because Mul copies its right factor. The transposed
// product has the same bits.
func (b *storedBlocks) outputs(from, to int) tensor.Mat[float32] {
	f := tensor.NewMat[float32](to-from, b.theta.Rows)
	tensor.Mul(f, b.block(from, to), b.theta32, tensor.NT, false)
	return f.Transposed()
}

func (b *storedBlocks) moved(from int, w tensor.Mat[float32]) {
	tensor.Mul(b.move, w, b.block(from, from+w.Cols), tensor.NN, false)
	tensor.Parallel(pieces(len(b.move.Data)), func(p int) {
		end := min(len(b.move.Data), (p+1)*pieceLen)
		for j := p * pieceLen; j < end; j++ {
			b.theta.Data[j] += float64(b.move.Data[j])
			b.theta32.Data[j] = float32(b.theta.Data[j])
		}
	})
}

func (b *storedBlocks) anew(ctx context.Context, c func(i, k int) float64) {
	clear(b.theta.Data)
	const rows = 64
	w := make([]float64, rows)
	for from := 0; from < b.features.Rows && ctx.Err() == nil; from += rows {
		part := b.block(from, min(from+rows, b.features.Rows))
		for k := range b.theta.Rows {
			for i := range part.Rows {
				w[i] = c(from+i, k)
			}
			tensor.AddRows64(b.theta.Row(k), part, w[:part.Rows])
		}
	}
	b.theta32 = tensor.Narrow(b.theta)
}

func (b *storedBlocks) norm2() float64 { return frobenius2(b.theta) }

func (b *storedBlocks) solution(ctx context.Context) Solution {
	return Solution{Weights: times(1, b.theta), Outputs: manyDots(ctx, b.features, b.theta).Transposed()}
}
