package nngp

import "dgkip/harness/tensor"

// Pass computes the inner products of a set that is being learned, and takes gradients in them
// back to the pixels.
type Pass interface {
	// Forward returns the kernel within the set, [n, n], and with the real images, [n, N], for the
	// current pixels of the set. With gradient, it prepares for Backward.
	Forward(gradient bool) (gram tensor.Mat[float64], cross tensor.Mat[float32])
	// Backward sets dx to the gradient in the pixels, given the gradients in the results of the
	// last Forward, which must have had gradient set. dGram is symmetric.
	Backward(dx []float32, dGram tensor.Mat[float64], dCross tensor.Mat[float32])
}

// fcPass implements Pass for FC.
type fcPass struct {
	set    Images
	real   Images
	others *table
	inXY   tensor.Mat[float32] // derivatives of the kernel with the real images, [n, N]
	inXX   tensor.Mat[float32]
	within tensor.Mat[float64] // x'y of the set, [n, n]
}

// NewPass returns a pass for a set and the real images v.
func (v Images) NewPass(set []float32) Pass {
	n := len(set) / v.x.Cols
	return &fcPass{
		set: v.kernel.images(set), real: v, others: v.table(),
		inXY: tensor.NewMat[float32](n, v.Len()), inXX: tensor.NewMat[float32](n, v.Len()), within: tensor.NewMat[float64](n, n),
	}
}

func (p *fcPass) Forward(gradient bool) (gram tensor.Mat[float64], cross tensor.Mat[float32]) {
	p.set.update()
	tensor.Gram64(p.within, p.set.x)
	gram, cross = tensor.NewMat[float64](p.within.Rows, p.within.Cols), tensor.NewMat[float32](p.set.Len(), p.real.Len())
	p.real.times(cross, p.set.x)
	d := float64(p.set.x.Cols)
	p.pairs(func(i, from, to int) {
		var buffer, slope, own [block]float64
		dots := cross.Row(i)[from:to]
		xy, inXY, inXX := buffer[:len(dots)], slope[:0], own[:0]
		if gradient {
			inXY, inXX = slope[:len(dots)], own[:len(dots)]
		}
		for j, x := range dots {
			xy[j] = float64(x) / d
		}
		for j := range inXY {
			inXY[j] = 1
		}
		p.others.row(xy, inXY, inXX, p.set.self[i], from)
		for j, x := range xy {
			dots[j] = float32(x)
		}
		for j := range inXY {
			p.inXY.Row(i)[from+j], p.inXX.Row(i)[from+j] = float32(inXY[j]), float32(inXX[j])
		}
	})
	copy(gram.Data, p.within.Data)
	p.set.square(gram)
	return gram, cross
}

// Backward computes, with k = k(x'y/d, x'x/d, y'y/d),
//
//	dx_i = (1/d) [ sum_j dk_ij (dk/dxy) y_j + 2 sum_j dk_ij (dk/dxx) x_i ].
func (p *fcPass) Backward(dx []float32, dGram tensor.Mat[float64], dCross tensor.Mat[float32]) {
	n, d := p.set.Len(), p.set.x.Cols
	own := tensor.NewMat[float32](n, n) // coefficients of the set's own images
	diagonal := make([]float64, n)
	var steps steps
	for i := range n {
		self := p.set.self[i]
		for j := range n {
			g := 2 * dGram.Row(i)[j] // k_ij and k_ji, or x'x, whose gradient is 2 x
			if i == j {
				p.others.value(self, self, self, exact, &steps)
				inXY, _ := p.others.slopes(&steps)
				diagonal[i] += float64(g * inXY)
				continue
			}
			p.others.value(p.within.Row(i)[j]/float64(d), self, p.set.self[j], exact, &steps)
			inXY, inXX := p.others.slopes(&steps)
			own.Row(i)[j] = float32(float64(g*inXY) / float64(d))
			diagonal[i] += 2 * float64(g*inXX)
		}
	}
	g := tensor.NewMat[float32](n, p.real.Len())
	sums := tensor.NewMat[float64](n, blocks(p.real.Len()))
	p.pairs(func(i, from, to int) {
		sum := 0.0
		for j := from; j < to; j++ {
			v := float64(dCross.Row(i)[j])
			g.Row(i)[j] = float32(float64(v*float64(p.inXY.Row(i)[j])) / float64(d))
			sum += 2 * float64(v*float64(p.inXX.Row(i)[j]))
		}
		sums.Row(i)[from/block] = sum
	})
	for i := range n {
		for _, s := range sums.Row(i) {
			diagonal[i] += s
		}
		own.Row(i)[i] = float32(diagonal[i] / float64(d))
	}
	out := tensor.MatOf(dx, n, d)
	p.real.weighted(out, g)
	tensor.Mul(out, own, p.set.x, tensor.NN, true)
}

// block is the number of pairs per task.
const block = 1024

func blocks(n int) int { return (n + block - 1) / block }

// pairs calls do for all pairs of an image i of the set and real images, in blocks [from, to).
func (p *fcPass) pairs(do func(i, from, to int)) {
	each := blocks(p.real.Len())
	tensor.Parallel(p.set.Len()*each, func(t int) {
		from := t % each * block
		do(t/each, from, min(p.real.Len(), from+block))
	})
}
