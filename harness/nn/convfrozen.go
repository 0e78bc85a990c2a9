package nn

import (
	"slices"

	"dgkip/harness/tensor"
)

// convFrozen is the frozen form of a convBlock without norm and with pooling.
type convFrozen struct {
	convShape
	conv *tensor.Conv[float32]
	bias []float32
}

func (l *convBlock[F]) freeze(theta []float32) frozen {
	if l.norm || !l.pool {
		panic("nn: Net.Freeze: a block with norm or without pooling has no frozen form")
	}
	z := &convFrozen{convShape: l.convShape, conv: tensor.NewConv[float32](l.h, l.w, l.inCh, l.outCh, l.algo)}
	z.conv.Set(theta[:l.weights()])
	z.bias = slices.Clone(theta[l.weights():]) // do not keep the weights alive
	return z
}

// together is small enough for the maps to stay in the last-level cache, and large enough
// to read the weights seldom. 14 maps of 16x16 pixels fill four blocks of Winograd tiles.
func (l *convFrozen) together() int { return 14 }

func (l *convFrozen) forward(x []float32, n int, k *kept, w *turns) []float32 {
	y := w.next(n * l.out())
	k.bits = tensor.Grow(&k.bits, n*l.conv.BitsLen())
	tensor.ForwardPool(l.conv, y, k.bits, x, n, l.bias)
	return y
}

func (l *convFrozen) backward(dx, dy []float32, n int, k *kept) {
	tensor.BackwardPool(l.conv, dx, dy, k.bits[:n*l.conv.BitsLen()], n)
}
