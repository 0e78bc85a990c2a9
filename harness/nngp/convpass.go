package nngp

import (
	"context"
	"math"

	"dgkip/harness/tensor"
)

// convPass implements Pass for Conv. With v and v' the variances of two places after a
// convolution and s their covariance, ReLU has the derivatives
//
//	dK/ds = (pi - t)/(2 pi),   dK/dv = r sin t/(4 pi v).
//
// The covariance T of tangents becomes T' = (pi - t)/(2 pi) T, with the derivatives
//
//	dT'/ds = T/(2 pi r sin t),   dT'/dv = - T s/(4 pi v r sin t)
//
// through the angle. T' has a kink where t is 0, as it is for images that are equal around a place.
// There these two are zero, the mean of the one-sided derivatives. Where s and v change together, as in
// k(x, x), this is exact. Near the kink, 1/sin t grows to 7e7 at most.
//
// Convolution and average are linear, and v is the covariance of x with itself, computed by the
// previous layers.
//
// Forward keeps no intermediate values. Backward recomputes them for eight pairs at a time, layer
// by layer, and in the first layer row by row. Gradients in the variances are summed over all
// pairs of an image and taken back once. With 32x32 places and Depth 3, a thread needs 2 MB, or 4
// MB for the tangent kernel.
type convPass struct {
	pixels []float32
	set    ConvImages // with the pixels of the last Forward
	real   ConvImages
}

// NewPass returns a pass for a set and the real images v.
func (v ConvImages) NewPass(set []float32) Pass { return &convPass{pixels: set, real: v} }

// Forward ignores its argument, because gradients need no preparation.
func (p *convPass) Forward(bool) (gram tensor.Mat[float64], cross tensor.Mat[float32]) {
	ctx := context.Background() // never done, so there are no errors
	p.set, _ = p.real.kernel.Images(ctx, p.pixels, nil)
	gram, _ = p.set.Gram(ctx)
	wide, _ := p.set.Wide(ctx, p.real, nil)
	return gram, tensor.Narrow(wide)
}

const (
	mostShares = 16 // parts of an image's pairs, each with its own sum
	atATime    = 32 // images processed together
)

func (p *convPass) Backward(dx []float32, dGram tensor.Mat[float64], dCross tensor.Mat[float32]) {
	k, n := p.real.kernel, p.set.n
	within := (n + lanes - 1) / lanes
	all := within + (p.real.n+lanes-1)/lanes
	shares := min(mostShares, all)
	own := make([]convGradient, n)
	for from := 0; from < n; from += atATime {
		parts := make([]convGradient, min(atATime, n-from)*shares)
		tensor.Parallel(len(parts), func(t int) {
			i, share := from+t/shares, t%shares
			b, x := k.back(k.grids(k.Depth)), k.image(p.set, i)
			for g := share * all / shares; g < (share+1)*all/shares; g++ {
				var weights [lanes]float64
				if g < within {
					for l, v := range dGram.Row(i)[g*lanes : min(n, (g+1)*lanes)] {
						weights[l] = 2 * v // k_ij and k_ji
					}
					b.pairs(k, x, k.group(p.set, g), weights)
					continue
				}
				g := g - within
				for l, v := range dCross.Row(i)[g*lanes : min(p.real.n, (g+1)*lanes)] {
					weights[l] = float64(v)
				}
				b.pairs(k, x, k.group(p.real, g), weights)
			}
			parts[t] = b.total()
		})
		tensor.Parallel(len(parts)/shares, func(i int) {
			own[from+i] = parts[i*shares]
			for _, part := range parts[i*shares+1 : (i+1)*shares] {
				own[from+i].add(part)
			}
		})
	}
	tensor.Parallel(within, func(group int) { k.finish(dx, own, p.set, group) })
}

// convGradient is the gradient from pairs with respect to one image. pixels is divided by the
// scale of the first layer; angles are, for each layer, the sums of D r sin t of RectifyBack.
type convGradient struct {
	pixels []float64
	angles [][]float64
}

func (g convGradient) add(h convGradient) {
	for i, v := range h.pixels {
		g.pixels[i] += v
	}
	for l, angles := range h.angles {
		for i, v := range angles {
			g.angles[l][i] += v
		}
	}
}

// back takes gradients of eight pairs back through the layers to the pixels and variances of the
// first side. gradient is the sum over all pairs so far.
type back struct {
	*worker
	d, dT    [][]float64 // the gradients in worker.k and worker.t
	slopes   []float64   // three rows of slopes of RectifyBack for each displacement along a row
	slopesT  []float64
	gradient convGradient
	rectify  tensor.RectifyBack
	products tensor.ProductsBack
}

func (k Conv) back(grids []grid) *back {
	b := &back{worker: k.worker(grids)}
	b.gradient.pixels = make([]float64, k.H*k.W*k.C*lanes)
	for l, g := range grids {
		b.d = append(b.d, make([]float64, len(b.k[l])))
		b.gradient.angles = append(b.gradient.angles, make([]float64, g.h*g.w*lanes))
		if k.Tangent {
			b.dT = append(b.dT, make([]float64, len(b.t[l])))
		}
	}
	b.slopes = make([]float64, len(b.ring))
	if k.Tangent {
		b.slopesT = make([]float64, len(b.ring))
	}
	return b
}

// total returns the gradient, summed over the lanes.
func (b *back) total() convGradient {
	over := func(v []float64) []float64 {
		out := make([]float64, len(v)/lanes)
		for i := range out {
			for _, x := range v[i*lanes:][:lanes] {
				out[i] += x
			}
		}
		return out
	}
	g := convGradient{pixels: over(b.gradient.pixels)}
	for _, v := range b.gradient.angles {
		g.angles = append(g.angles, over(v))
	}
	return g
}

// pairs takes the pairs of one image with eight others forward and back, given the gradients in
// their kernels.
func (b *back) pairs(k Conv, x, y side, gradients [lanes]float64) {
	last := len(b.grids) - 1
	for l := range last {
		b.worker.layer(l, x, y, true)
	}
	d := b.d[last]
	for i := range d {
		d[i] = gradients[i%lanes] / float64(pooled*len(d)/lanes)
		if b.t != nil {
			d[i] *= k.Weight * k.Weight
			b.dT[last][i] = d[i]
		}
	}
	for l := last; l >= 0; l-- {
		b.layer(l, x, y, true)
	}
}

// layer takes the gradient in the results of layer l back to the results of the previous layer,
// or to the pixels.
func (b *back) layer(l int, x, y side, same bool) {
	g := b.grids[l]
	b.rectify.Scale, b.rectify.Bias, b.rectify.Same, b.worker.rectify.Same = g.scale, g.bias, same, same
	for dy := -g.band; dy <= g.band; dy++ {
		from, to := span(g.h, dy)
		for py := from; py <= to && from < to; py++ {
			for dx := -g.band; dx <= g.band; dx++ {
				if first, end := span(g.w, dx); first >= end {
					continue
				}
				if py < to {
					b.row(l, x, y, dy, dx, py)
				}
				if py > from {
					b.convolve(l, y, dy, dx, py-1)
				}
			}
		}
	}
}

// row takes a row back through average and ReLU.
func (b *back) row(l int, x, y side, dy, dx, py int) {
	g, a := b.grids[l], &b.rectify
	slopes, slopesT, sumT := b.slopes3(b.slopes, l, dy, dx, py), b.zero, b.zero
	clear(slopes)
	if b.t != nil {
		slopesT = b.slopes3(b.slopesT, l, dy, dx, py)
		clear(slopesT)
	}
	if l == 0 {
		b.sumProducts(x, y, dy, dx, py)
	} else if g.counts(dy, py) {
		b.three(l, dy, dx, py, b.worker.sum, b.k[l-1])
		if b.t != nil {
			sumT = b.sumT
			b.three(l, dy, dx, py, sumT, b.t[l-1])
		}
	}
	first, _ := span(g.w, dx)
	g.averaged(dy, dx, py, func(start, n, at int) {
		a.N, a.S, a.D = n, b.worker.sum[start*lanes:], b.d[l][at:]
		i, j := py*g.w+start, ((py+dy)*g.w+start+dx)*lanes
		a.Slope, a.Angle = slopes[(start-first)*lanes:], b.gradient.angles[l][i*lanes:]
		if !a.Same {
			i *= lanes
		}
		a.RootX, a.InverseX, a.RootY, a.InverseY = x.root[l][i:], x.inverse[l][i:], y.root[l][j:], y.inverse[l][j:]
		if b.t != nil {
			a.SlopeT, a.DT, a.T = slopesT[(start-first)*lanes:], b.dT[l][at:], sumT[start*lanes:]
		}
		tensor.PairRectifyBack(a)
	})
}

// sumProducts adds the products of row py and its neighbours.
func (b *back) sumProducts(x, y side, dy, dx, py int) {
	g := b.grids[0]
	from, to := span(g.h, dy)
	first, end := span(g.w, dx)
	if py == from {
		b.product(x, y, dy, dx, py)
	}
	if py+1 < to {
		b.product(x, y, dy, dx, py+1)
	} else {
		b.add(b.worker.sum[(first+1)*lanes:], b.products3(dy, dx, py-1), b.products3(dy, dx, py), b.zero, end-first)
	}
	b.margins(b.worker.sum, first, end)
}

// slopes3 returns the slopes of row py, which is one of the last three.
func (b *back) slopes3(of []float64, l, dy, dx, py int) []float64 {
	g := b.grids[l]
	if from, to := span(g.h, dy); py < from || py >= to {
		return b.zero
	}
	first, end := span(g.w, dx)
	return of[((dx+g.band)*3+py%3)*g.w*lanes:][:(end-first)*lanes]
}

// convolve takes row py back through the convolution, which is its own adjoint up to the scale.
// In the first layer, it continues to the pixels.
func (b *back) convolve(l int, y side, dy, dx, py int) {
	if l > 0 {
		b.toBefore(b.d[l-1], b.slopes, l, dy, dx, py)
		if b.t != nil {
			b.toBefore(b.dT[l-1], b.slopesT, l, dy, dx, py)
		}
		return
	}
	g, a := b.grids[0], &b.products
	first, end := span(g.w, dx)
	a.X, a.Y = b.gradient.pixels[(py*g.w+first)*b.colours*lanes:], y.pixels[((py+dy)*g.w+first+dx)*b.colours*lanes:]
	a.S, a.N, a.C = b.sumSlopes(b.slopes, 0, dy, dx, py), end-first, b.colours
	tensor.PairProductsBack(a)
}

// sumSlopes returns the sum of row py of slopes and its two neighbours, with one extra place on
// either side.
func (b *back) sumSlopes(of []float64, l, dy, dx, py int) []float64 {
	first, end := span(b.grids[l].w, dx)
	b.add(b.worker.sum[(first+1)*lanes:], b.slopes3(of, l, dy, dx, py-1), b.slopes3(of, l, dy, dx, py), b.slopes3(of, l, dy, dx, py+1), end-first)
	b.margins(b.worker.sum, first, end)
	return b.worker.sum[first*lanes : (end+2)*lanes]
}

// toBefore sets row py of d, the gradient in results of the previous layer.
func (b *back) toBefore(d, slopes []float64, l, dy, dx, py int) {
	g, s := b.grids[l], b.sumSlopes(slopes, l, dy, dx, py)
	first, end := span(g.w, dx)
	to := d[g.before(dy, dx, py)*lanes:][first*lanes : end*lanes]
	for i := range to {
		to[i] = g.scale * ((s[i] + s[i+lanes]) + s[i+2*lanes])
	}
}

// finish takes the gradients in the variances of a group's images back to the pixels and sets dx.
func (k Conv) finish(dx []float32, of []convGradient, v ConvImages, group int) {
	k.Tangent = false // variances do not depend on tangents
	all := k.grids(k.Depth)
	y, b := k.group(v, group), k.back(k.grids(k.Depth-1))
	for l := range len(b.grids) - 1 {
		b.worker.layer(l, y, y, false)
	}
	// A variance is the covariance of an image with itself, so its gradient is twice the gradient
	// in the first side.
	var next []float64 // in the variances of layer l
	for l := k.Depth - 1; l >= 0; l-- {
		d := make([]float64, len(y.inverse[l]))
		for i, inverse := range y.inverse[l] {
			sum := 0.0
			if image := group*lanes + i%lanes; image < v.n {
				sum = of[image].angles[l][i/lanes]
			}
			if l < len(b.grids) {
				sum += 2 * b.gradient.angles[l][i]
			}
			d[i] = sum * float64(inverse*inverse) / (2 * math.Pi)
		}
		g := all[l]
		g.bias = 0
		next = make([]float64, len(d))
		b.variance(g, d, next) // the sum is its own adjoint
		if l == 0 {
			break
		}
		centre := b.centreOf(l-1, b.d[l-1])
		for i, x := range next {
			centre[i] += x
		}
		b.layer(l-1, y, y, false)
	}
	size := k.H * k.W * k.C
	for i := range min(lanes, v.n-group*lanes) {
		image := group*lanes + i
		for j, x := range of[image].pixels {
			at := j*lanes + i
			covariances := float64(all[0].scale * (x + 2*b.gradient.pixels[at]))
			dx[image*size+j] = float32(covariances + float64(2*y.pixels[at]*next[j/k.C*lanes+i]))
		}
	}
}
