package nngp

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/tensor"
)

// Conv is the kernel of infinitely many, infinitely wide convolutional networks. They have Depth
// blocks of a 3x3 convolution, ReLU and a 2x2 average, and all places of the last layer are
// features. K(p, q) is the covariance of place p of image x and place q of image y.
//
//	convolution   K(p, q) <- Weight^2/9 sum_d K(p+d, q+d) + Bias^2, zero outside the images
//	ReLU          K <- [ r sin t + (pi - t) K ]/(2 pi),   cos t = K/r,   r^2 = K_xx(p, p) K_yy(q, q)
//	average       K(P, Q) <- mean of the 16 K(p, q) with p in P and q in Q
//	k(x, y)       mean of K(p, p)
//
// The recursion starts from K = x_p'y_q/C. With Tangent, Conv is the neural tangent kernel of
// such networks with a linear read-out,
//
//	k(x, y) = Weight^2 mean of T(p, p) + Weight^2 mean of K(p, p) + Bias^2.
//
// T starts at zero. A convolution maps it to Weight^2/9 sum_d T + K, ReLU maps it to
// (pi - t)/(2 pi) T, and the average treats it like K.
//
// # Which covariances are computed
//
// Only p = q is needed in the end. A convolution keeps p - q, and an average needs
// |p - q| <= 2 k + 1 to compute |p - q| <= k, in rows and in columns. So for 32x32 places and
// Depth 3, only 168,000 of 1,118,208 covariances go through ReLU.
//
// Eight pairs are computed together, one in each lane. The rows of one displacement are
// consecutive, so that values stay in the second-level cache until they are read again.
// Everything is in float64, because in float32 equal places would have angles of 3e-4. This is
// fast enough: an evaluation needs only one square root and a polynomial.
//
// The bits of a value depend only on its two images and their order.
type Conv struct {
	H, W, C      int
	Depth        int
	Weight, Bias float64 // standard deviations of sqrt(fan_in) times a weight, and of a bias
	Tangent      bool
}

// Check returns an error if a size or a deviation is not valid.
func (k Conv) Check() error {
	if min(k.H, k.W, k.C, k.Depth) < 1 || k.Depth > maxDepth {
		return fmt.Errorf("nngp: sizes of a convolutional kernel must be positive, and its depth at most %d", maxDepth)
	}
	if err := checkDeviations(k.Weight, k.Bias); err != nil {
		return err
	}
	h, w := k.H, k.W
	for l := range k.Depth {
		if min(h, w) < 2 {
			return fmt.Errorf("nngp: images of %dx%d pixels are too small for %d blocks that halve them; at most %d fit", k.H, k.W, k.Depth, l)
		}
		h, w = h/2, w/2
	}
	return nil
}

func abs(d int) int { return max(d, -d) }

// grid is a layer with h x w places before the average. Displacements of up to band become
// displacements of up to out in the average.
type grid struct {
	h, w, band, out int
	scale, bias     float64 // of the convolution, applied to results of the previous layer
}

const lanes = tensor.PairLanes

// pooled is the ratio of the vector code's sums to the covariances: 16 places of an average, times 2,
// because tensor.PairRectify leaves out a factor 1/2.
const pooled = 32

// grids returns the layers of a network of a given depth.
func (k Conv) grids(depth int) []grid {
	all := make([]grid, depth)
	h, w := k.H, k.W
	for l := range all {
		all[l] = grid{h: h, w: w, scale: k.Weight * k.Weight / (9 * pooled), bias: k.Bias * k.Bias}
		h, w = h/2, w/2
	}
	band := 0
	for l := depth - 1; l >= 0; l-- {
		all[l].out = band
		band = 2*band + 1
		all[l].band = band
	}
	if depth > 0 {
		all[0].scale = k.Weight * k.Weight / float64(9*k.C)
	}
	return all
}

// ConvImages are images prepared for the kernel of convolutional networks.
type ConvImages struct {
	kernel Conv
	x      []float32
	n      int
	roots  []float64 // sqrt(K_xx(p, p)) after the convolution, for each image and layer
	each   int       // number of roots per image
}

// Len is the number of images.
func (v ConvImages) Len() int { return v.n }

// Part returns images [from, to), without a copy.
func (v ConvImages) Part(from, to int) ConvImages {
	size := len(v.x) / v.n
	return ConvImages{v.kernel, v.x[from*size : to*size], to - from, v.roots[from*v.each : to*v.each], v.each}
}

// Chosen returns a copy of some images.
func (v ConvImages) Chosen(which []int) ConvImages {
	out := ConvImages{kernel: v.kernel, n: len(which), each: v.each}
	for _, i := range which {
		one := v.Part(i, i+1)
		out.x, out.roots = append(out.x, one.x...), append(out.roots, one.roots...)
	}
	return out
}

// Norms returns k(x, x).
func (v ConvImages) Norms(ctx context.Context) ([]float64, error) {
	k, out := v.kernel, make([]float64, v.n)
	grids := k.grids(k.Depth)
	return out, eachGroup(ctx, v.n, nil, func(group int) {
		x, work := k.group(v, group), k.worker(grids)
		for l := range grids {
			work.layer(l, x, x, false)
		}
		values := work.readOut(k)
		copy(out[group*lanes:], values[:min(lanes, v.n-group*lanes)])
	})
}

// Images prepares images, [n, H, W, C].
func (k Conv) Images(ctx context.Context, x []float32, progress func(done float64)) (ConvImages, error) {
	if err := k.Check(); err != nil {
		return ConvImages{}, err
	}
	size := k.H * k.W * k.C
	v := ConvImages{kernel: k, x: x, n: len(x) / size}
	grids := k.grids(k.Depth - 1)
	last := k.grids(k.Depth)[k.Depth-1]
	for _, g := range append(grids, last) {
		v.each += g.h * g.w
	}
	v.roots = make([]float64, v.n*v.each)
	value := k
	value.Tangent = false
	return v, eachGroup(ctx, v.n, progress, func(group int) {
		w := value.worker(grids)
		y := k.pixels(v, group*lanes, lanes)
		at := 0
		for l, g := range append(grids, last) {
			root := make([]float64, g.h*g.w*lanes)
			if l == 0 {
				w.variance(g, w.squares(y.pixels, k.C), root)
			} else {
				w.variance(g, w.centre(l-1), root)
			}
			inverse := make([]float64, len(root))
			for i, s := range root {
				root[i] = math.Sqrt(s)
				inverse[i] = invert(root[i])
			}
			y.root, y.inverse = append(y.root, root), append(y.inverse, inverse)
			for i := range min(lanes, v.n-group*lanes) {
				to := v.roots[(group*lanes+i)*v.each+at:]
				for p := range g.h * g.w {
					to[p] = root[p*lanes+i]
				}
			}
			at += g.h * g.w
			if l < len(grids) {
				w.layer(l, y, y, false)
			}
		}
	})
}

func invert(x float64) float64 {
	if x == 0 {
		return 0 // a place without variance has no covariance either
	}
	return 1 / x
}

// side is one side of the pairs: either one image, or eight images with the eight values of each
// place together.
type side struct {
	pixels        []float64
	root, inverse [][]float64 // for each layer
}

// pixels returns the pixels of width images from first on. Lanes beyond the last image repeat it.
func (k Conv) pixels(v ConvImages, first, width int) side {
	size := k.H * k.W * k.C
	s := side{pixels: make([]float64, size*width)}
	for l := range width {
		image := v.x[min(v.n-1, first+l)*size:][:size]
		for i, x := range image {
			s.pixels[i*width+l] = float64(x)
		}
	}
	return s
}

// group returns a group of eight images.
func (k Conv) group(v ConvImages, group int) side { return k.side(v, group*lanes, lanes) }

func (k Conv) image(v ConvImages, i int) side { return k.side(v, i, 1) }

func (k Conv) side(v ConvImages, first, width int) side {
	s := k.pixels(v, first, width)
	at := 0
	for _, g := range k.grids(k.Depth) {
		root, inverse := make([]float64, g.h*g.w*width), make([]float64, g.h*g.w*width)
		for l := range width {
			of := v.roots[min(v.n-1, first+l)*v.each+at:]
			for p := range g.h * g.w {
				root[p*width+l] = of[p]
				inverse[p*width+l] = invert(of[p])
			}
		}
		s.root, s.inverse = append(s.root, root), append(s.inverse, inverse)
		at += g.h * g.w
	}
	return s
}

// eachGroup calls do for all groups of n images, until ctx is done.
func eachGroup(ctx context.Context, n int, progress func(done float64), do func(group int)) error {
	groups := (n + lanes - 1) / lanes
	const some = 32 // groups between two checks of ctx
	for from := 0; from < groups; from += some {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(groups, from+some)
		tensor.Parallel(to-from, func(i int) { do(from + i) })
		if progress != nil {
			progress(float64(to) / float64(groups))
		}
	}
	return ctx.Err()
}

// Gram returns the kernel of all pairs of a set's images, [n, n].
func (v ConvImages) Gram(ctx context.Context) (tensor.Mat[float64], error) {
	out := tensor.NewMat[float64](v.n, v.n)
	err := v.values(ctx, out, v, true, nil)
	for i := range v.n {
		for j := range i {
			out.Row(i)[j] = out.Row(j)[i]
		}
	}
	return out, err
}

// Wide returns the kernel between the images of v and w, [n, N], in float64. If ctx is done, it
// stops with the context's error. It calls progress, unless nil, with the fraction done.
func (v ConvImages) Wide(ctx context.Context, w ConvImages, progress func(done float64)) (tensor.Mat[float64], error) {
	out := tensor.NewMat[float64](v.n, w.n)
	return out, v.values(ctx, out, w, false, progress)
}

// Cross is Wide in float32. It puts the larger side second, because Wide takes eight images of
// that side at once.
func (v ConvImages) Cross(ctx context.Context, w ConvImages) (tensor.Mat[float32], error) {
	if w.n < v.n {
		cross, err := w.Wide(ctx, v, nil)
		return tensor.Narrow(cross.Transposed()), err
	}
	cross, err := v.Wide(ctx, w, nil)
	return tensor.Narrow(cross), err
}

// values sets out to the kernel. With upper, only pairs with i <= j are valid.
func (v ConvImages) values(ctx context.Context, out tensor.Mat[float64], w ConvImages, upper bool, progress func(done float64)) error {
	k, images := v.kernel, make([]side, v.n)
	for i := range images {
		images[i] = k.image(v, i)
	}
	grids := k.grids(k.Depth)
	return eachGroup(ctx, w.n, progress, func(group int) {
		y, work := k.group(w, group), k.worker(grids)
		first := group * lanes
		for i, x := range images {
			if upper && i >= first+lanes {
				break
			}
			for l := range grids {
				work.layer(l, x, y, true)
			}
			values := work.readOut(k)
			copy(out.Row(i)[first:], values[:min(lanes, w.n-first)])
		}
	})
}

// worker takes eight pairs through the layers.
type worker struct {
	grids    []grid
	colours  int
	k, t     [][]float64 // for each layer, sums of covariances by displacement and place, [2 out + 1, 2 out + 1, h/2, w/2, 8]
	ring     []float64   // three rows of products for each displacement along a row
	zero     []float64
	sum      []float64 // of three rows of k, with one extra place on either side
	sumT     []float64 // of three rows of t
	products tensor.Products
	sums     tensor.Sums
	rectify  tensor.Rectify
}

func (k Conv) worker(grids []grid) *worker {
	w := &worker{grids: grids, colours: k.C}
	row := k.W * lanes
	w.zero, w.sum, w.sumT = make([]float64, row+2*lanes), make([]float64, row+2*lanes), make([]float64, row+2*lanes)
	for l, g := range grids {
		side := 2*g.out + 1
		n := side * side * (g.h / 2) * (g.w / 2) * lanes
		w.k = append(w.k, make([]float64, n))
		if k.Tangent {
			w.t = append(w.t, make([]float64, n))
		}
		if l == 0 {
			w.ring = make([]float64, (2*g.band+1)*3*row)
		}
	}
	return w
}

// span is the range of places p in [0, n) for which p + d is also in [0, n).
func span(n, d int) (from, to int) { return max(0, -d), min(n, n-d) }

// layer takes the pairs through layer l. With same, all pairs have the same first image.
func (w *worker) layer(l int, x, y side, same bool) {
	g := w.grids[l]
	clear(w.k[l])
	if w.t != nil {
		clear(w.t[l])
	}
	w.rectify.Scale, w.rectify.Bias, w.rectify.Same = g.scale, g.bias, same
	for dy := -g.band; dy <= g.band; dy++ {
		from, to := span(g.h, dy)
		if l > 0 {
			for py := from; py < to; py++ {
				for dx := -g.band; dx <= g.band; dx++ {
					w.fromLayer(l, x, y, dy, dx, py)
				}
			}
			continue
		}
		for py := from; py <= to && from < to; py++ {
			for dx := -g.band; dx <= g.band; dx++ {
				w.fromPixels(x, y, dy, dx, py)
			}
		}
	}
}

// fromPixels multiplies the pixels of row py, and takes row py-1 through the layer.
func (w *worker) fromPixels(x, y side, dy, dx, py int) {
	g := w.grids[0]
	from, to := span(g.h, dy)
	first, end := span(g.w, dx)
	if first >= end {
		return
	}
	if py < to {
		w.product(x, y, dy, dx, py)
	} else {
		w.add(w.sum[(first+1)*lanes:], w.products3(dy, dx, py-2), w.products3(dy, dx, py-1), w.zero, end-first)
	}
	if py > from {
		w.margins(w.sum, first, end)
		w.row(0, x, y, dy, dx, py-1, w.zero)
	}
}

// product multiplies the pixels of row py, and adds the products of the two previous rows.
func (w *worker) product(x, y side, dy, dx, py int) {
	g := w.grids[0]
	first, end := span(g.w, dx)
	a, b := (py*g.w+first)*w.colours, ((py+dy)*g.w+first+dx)*w.colours
	if !w.rectify.Same {
		a *= lanes
	}
	p := &w.products
	p.Row, p.Sum = w.products3(dy, dx, py), w.sum[(first+1)*lanes:]
	p.Before, p.At = w.products3(dy, dx, py-2), w.products3(dy, dx, py-1)
	p.X, p.Y, p.N, p.C, p.Same = x.pixels[a:], y.pixels[b*lanes:], end-first, w.colours, w.rectify.Same
	tensor.PairProducts(p)
}

// products3 returns the products of row py, which is one of the last three.
func (w *worker) products3(dy, dx, py int) []float64 {
	g := w.grids[0]
	if from, _ := span(g.h, dy); py < from {
		return w.zero
	}
	first, end := span(g.w, dx)
	return w.ring[((dx+g.band)*3+py%3)*g.w*lanes:][:(end-first)*lanes]
}

// margins clears the places on either side of a row.
func (w *worker) margins(row []float64, first, end int) {
	clear(row[first*lanes:][:lanes])
	clear(row[(end+1)*lanes:][:lanes])
}

func (w *worker) add(sum, before, at, after []float64, n int) {
	a := &w.sums
	a.Sum, a.Before, a.At, a.After, a.N = sum, before, at, after, n
	tensor.PairSums(a)
}

// fromLayer takes row py of the results of the previous layer through layer l.
func (w *worker) fromLayer(l int, x, y side, dy, dx, py int) {
	g := w.grids[l]
	if first, end := span(g.w, dx); first >= end || !g.counts(dy, py) {
		return
	}
	w.three(l, dy, dx, py, w.sum, w.k[l-1])
	if w.t != nil {
		w.three(l, dy, dx, py, w.sumT, w.t[l-1])
	}
	w.row(l, x, y, dy, dx, py, w.sumT)
}

// three adds up row py of the results of the previous layer and its two neighbours.
func (w *worker) three(l, dy, dx, py int, sum, of []float64) {
	g := w.grids[l]
	from, to := span(g.h, dy)
	first, end := span(g.w, dx)
	row := func(py int) []float64 {
		if py < from || py >= to {
			return w.zero
		}
		return of[g.before(dy, dx, py)*lanes:][first*lanes : end*lanes]
	}
	w.add(sum[(first+1)*lanes:], row(py-1), row(py), row(py+1), end-first)
	w.margins(sum, first, end)
}

// before is the index of row py in the results of the previous layer.
func (g grid) before(dy, dx, py int) int {
	return (((dy+g.band)*(2*g.band+1)+dx+g.band)*g.h + py) * g.w
}

// counts reports whether the average uses row py of one image with row py + dy of the other.
func (g grid) counts(dy, py int) bool {
	p, q := py>>1, (py+dy)>>1
	return abs(q-p) <= g.out && max(p, q) < g.h/2
}

// averaged calls do for the places of a row that the average uses, separately for even and odd
// places. Its arguments are the first place, the number of places, and the index of their
// averages in the results.
func (g grid) averaged(dy, dx, py int, do func(start, n, at int)) {
	if !g.counts(dy, py) {
		return
	}
	first, end := span(g.w, dx)
	end = min(end, g.w/2*2, g.w/2*2-dx)
	for start := first; start < min(first+2, end); start++ {
		to := (start+dx)>>1 - start>>1
		if abs(to) > g.out {
			continue
		}
		side := 2*g.out + 1
		do(start, (end-start+1)/2, (((((py+dy)>>1-py>>1+g.out)*side+to+g.out)*(g.h/2)+py>>1)*(g.w/2)+start>>1)*lanes)
	}
}

// row takes a row, whose sums over three rows are in w.sum, through ReLU and the average.
func (w *worker) row(l int, x, y side, dy, dx, py int, sumT []float64) {
	g, a := w.grids[l], &w.rectify
	g.averaged(dy, dx, py, func(start, n, at int) {
		a.N, a.S = n, w.sum[start*lanes:]
		i, j := py*g.w+start, ((py+dy)*g.w+start+dx)*lanes
		if !a.Same {
			i *= lanes
		}
		a.RootX, a.InverseX, a.RootY, a.InverseY = x.root[l][i:], x.inverse[l][i:], y.root[l][j:], y.inverse[l][j:]
		a.Dst = w.k[l][at:]
		if w.t != nil {
			a.DstT, a.T = w.t[l][at:], sumT[start*lanes:]
		}
		tensor.PairRectify(a)
	})
}

// squares returns the squares of the pixels, summed over colours.
func (w *worker) squares(pixels []float64, colours int) []float64 {
	out := make([]float64, len(pixels)/colours)
	for i := range out {
		p, l := i/lanes, i%lanes
		for c := range colours {
			x := pixels[(p*colours+c)*lanes+l]
			out[i] = math.FMA(x, x, out[i])
		}
	}
	return out
}

// centre returns the results of layer l for equal places.
func (w *worker) centre(l int) []float64 { return w.centreOf(l, w.k[l]) }

// centreOf returns the part for equal places from a slice with the layout of layer l's results.
func (w *worker) centreOf(l int, of []float64) []float64 {
	g := w.grids[l]
	side, size := 2*g.out+1, (g.h/2)*(g.w/2)*lanes
	return of[(g.out*side+g.out)*size:][:size]
}

// variance sets to to the convolution of k, the covariances of equal places.
func (w *worker) variance(g grid, k, to []float64) {
	at := func(py, px, l int) float64 {
		if py < 0 || py >= g.h || px < 0 || px >= g.w {
			return 0
		}
		return k[(py*g.w+px)*lanes+l]
	}
	for i := range to {
		p, l := i/lanes, i%lanes
		var sum [3]float64
		for d := range sum {
			py, px := p/g.w, p%g.w+d-1
			sum[d] = (at(py-1, px, l) + at(py, px, l)) + at(py+1, px, l)
		}
		to[i] = math.FMA((sum[0]+sum[1])+sum[2], g.scale, g.bias)
	}
}

// readOut returns the kernel of the pairs.
func (w *worker) readOut(k Conv) [lanes]float64 {
	mean := func(v []float64) (out [lanes]float64) {
		for i, x := range v {
			out[i%lanes] += x
		}
		for l := range out {
			out[l] /= float64(pooled * len(v) / lanes)
		}
		return out
	}
	last := len(w.grids) - 1
	out := mean(w.k[last])
	if !k.Tangent {
		return out
	}
	t := mean(w.t[last])
	for l := range out {
		out[l] = math.FMA(out[l]+t[l], k.Weight*k.Weight, k.Bias*k.Bias)
	}
	return out
}
