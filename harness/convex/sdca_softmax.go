package convex

import (
	"context"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// blockAscent solves the softmax loss on a large set in its dual variables. With
// alpha_i = e_yi - s_i, feasible if s_i is in the simplex, and Theta = alpha'Phi / lambda, it
// maximises
//
//	D(s) = -sum_ik s_ik log s_ik - (lambda/2) |Theta|^2.
//
// The gap at Theta(s) is the sum of the relative entropies of s_i and softmax(F_i).
//
// Every pass visits the blocks of images in a new random order. A visit takes the block's
// outputs from the model, runs coordinate ascent on the block's Gram matrix image by image, and
// updates the model. The Gram matrices of the blocks are kept.
//
// Products run in float32, and the final proof in float64.
type blockAscent struct {
	blocks
	labels  []int // classes, from 0
	classes int
	lambda  float64
	size    int                   // images per block
	s       tensor.Mat[float64]   // [n, K], probabilities
	grams   []tensor.Mat[float32] // of the blocks, computed on the first visit
	order   *rng.Rand
	// losses and gap are sums over the last pass, taken before each block's ascent.
	losses, gap float64
}

// blocks is the model Theta = C'Phi on images that are visited in blocks.
type blocks interface {
	gram(from, to int) tensor.Mat[float32]              // Gram matrix of the block
	outputs(from, to int) tensor.Mat[float32]           // F' of the block, [K, to-from]
	moved(from int, w tensor.Mat[float32])              // adds w to C' of a block
	anew(ctx context.Context, c func(i, k int) float64) // sets C, in float64, until ctx is done
	norm2() float64                                     // |Theta|^2
	solution(ctx context.Context) Solution              // with outputs in float64
}

func (a *blockAscent) solve(search *search) (Solution, error) {
	for pass := 0; ; pass++ {
		estimate := a.estimate()
		// The estimate combines outputs from different times and is usually too large.
		// Only certify proves the gap.
		if pass > 0 && estimate <= 2*search.tol || pass == search.limit {
			fit := a.certify(search.ctx)
			fit.Sweeps = float64(pass)
			if over, err := search.over(fit); over {
				return fit, err
			}
		}
		if pass > 0 && (math.IsNaN(estimate) || math.IsInf(estimate, 0)) {
			return Solution{}, errNotFinite
		}
		if pass > 0 {
			search.reached(estimate)
		}
		if err := a.pass(search.ctx); err != nil {
			return Solution{}, err
		}
	}
}

func newBlockAscent(ctx context.Context, model blocks, size int, labels []int, classes int, lambda float64) *blockAscent {
	n := len(labels)
	a := &blockAscent{
		blocks: model, labels: labels, classes: classes, lambda: lambda, size: size,
		s:     tensor.NewMat[float64](n, classes),
		grams: make([]tensor.Mat[float32], (n+size-1)/size),
		order: rng.Stream(0, "convex", "blocks"),
	}
	// Start near the labels, as the solution is at small lambda, but inside the simplex.
	rest := min(0.5, 100*lambda/float64(n)) / float64(classes)
	for i, y := range labels {
		row := a.s.Row(i)
		for k := range row {
			row[k] = rest
		}
		row[y] = 1 - float64(rest*float64(classes-1))
	}
	a.anew(ctx, a.coefficient)
	return a
}

// coefficient is C_ik = alpha_ik/lambda.
func (a *blockAscent) coefficient(i, k int) float64 {
	if k == a.labels[i] {
		return (1 - a.s.Row(i)[k]) / a.lambda
	}
	return -a.s.Row(i)[k] / a.lambda
}

// pass visits all blocks once.
func (a *blockAscent) pass(ctx context.Context) error {
	a.losses, a.gap = 0, 0
	for _, b := range a.order.Perm(len(a.grams)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.visit(b)
	}
	return nil
}

// estimate is the relative gap from the sums of the last pass.
func (a *blockAscent) estimate() float64 {
	return a.gap / max(a.losses+float64(a.lambda/2*a.norm2()), 1)
}

// visit nearly solves for the images of a block, with all others fixed.
func (a *blockAscent) visit(b int) {
	from := b * a.size
	n := min(a.size, len(a.labels)-from)
	if a.grams[b].Rows == 0 {
		a.grams[b] = a.blocks.gram(from, from+n)
	}
	outputs := a.outputs(from, from+n)
	f, before := tensor.NewMat[float64](a.classes, n), tensor.NewMat[float64](n, a.classes)
	for k := range f.Rows {
		into64(f.Row(k), outputs.Row(k))
	}
	p := make([]float64, a.classes)
	for i := range n {
		at := f.Column(i)
		copy(before.Row(i), a.s.Row(from+i))
		a.losses += probabilities(p, at) - at[a.labels[from+i]]
		a.gap += relativeEntropy(a.s.Row(from+i), at)
	}
	a.sweep(a.grams[b], from, f)
	w := tensor.NewMat[float32](a.classes, n)
	for i := range n {
		for k, s := range a.s.Row(from + i) {
			w.Row(k)[i] = float32((before.Row(i)[k] - s) / a.lambda)
		}
	}
	a.moved(from, w)
}

// sweep moves each image of the block that starts at from twice, and updates the outputs f
// [K, n] of the block. With one row per output, the updates take little time.
func (a *blockAscent) sweep(gram tensor.Mat[float32], from int, f tensor.Mat[float64]) {
	change, row := make([]float64, a.classes), make([]float64, f.Cols)
	const sweeps = 2
	for range sweeps {
		for i := range f.Cols {
			s := a.s.Row(from + i)
			copy(change, s)
			into64(row, gram.Row(i))
			proximal(s, f.Column(i), row[i]/a.lambda)
			for k := range change {
				tensor.Axpy(f.Row(k), (change[k]-s[k])/a.lambda, row, f.Row(k))
			}
		}
	}
}

func into64(to []float64, x []float32) {
	for i, v := range x {
		to[i] = float64(v)
	}
}

// certify recomputes Theta, the outputs and the gap in float64, until ctx is done.
func (a *blockAscent) certify(ctx context.Context) Solution {
	a.anew(ctx, a.coefficient)
	v := a.solution(ctx)
	v.Norm2 = a.norm2()
	losses, gap := 0.0, 0.0
	p := make([]float64, a.classes)
	for i, y := range a.labels {
		f := v.Outputs.Row(i)
		losses += probabilities(p, f) - f[y]
		gap += relativeEntropy(a.s.Row(i), f)
	}
	v.prove(losses, gap, a.lambda)
	return v
}

// relativeEntropy is sum_k s_k (log s_k - log softmax(f)_k), summed as non-negative terms
// s log(s/p) - s + p. If s is a softmax of known outputs, targets.apart is more precise.
func relativeEntropy(s, f []float64) float64 {
	p := make([]float64, len(f))
	lse := probabilities(p, f)
	sum := 0.0
	for k, x := range s {
		if x == 0 {
			sum += p[k]
			continue
		}
		sum += max(0, float64(x*(fmath.Log(x)-f[k]+lse))-x+p[k])
	}
	return sum
}

// proximal replaces probabilities s by those that maximise the dual with all else fixed. The
// outputs become f + q (s - s_new), and s_new is their softmax. It solves
//
//	log s_k + q s_k = f_k + q s_k(old) - v
//
// for the v at which s sums to one, by Newton's method. The sum is convex and decreasing in v.
func proximal(s, f []float64, q float64) {
	if q == 0 {
		probabilities(s, f)
		return
	}
	a := make([]float64, len(s))
	v, logq := 0.0, fmath.Log(q)
	for k, x := range s {
		a[k] = f[k] + float64(q*x) + logq
		if x > 0 {
			v += float64(x * (f[k] - fmath.Log(x)))
		}
	}
	sum := 0.0
	for range 60 {
		slope := 0.0
		sum = 0
		for k, x := range a {
			w := omega(x - v)
			s[k] = w / q
			sum += s[k]
			slope += w / (1 + w) / q
		}
		step := (sum - 1) / slope
		if math.Abs(step) <= 1e-12*(1+math.Abs(v)) || !(math.Abs(step) < math.MaxFloat64) {
			break
		}
		v += step
	}
	for k := range s {
		s[k] /= sum
	}
}

// omega is the Wright omega function, the solution w of w + log w = x, by the
// iteration of Fritsch, Shafer and Crowley.
func omega(x float64) float64 {
	var w, r float64
	steps := 2
	switch {
	case x < -2:
		w = fmath.Exp(x)
		if x < -40 {
			return w
		}
		if x < -8 {
			steps = 1
		}
		r = -w
	case x < 4:
		w = 1 + (x-1)/2 + (x-1)*(x-1)/16
		r = x - w - fmath.Log(w)
	default:
		w = x - fmath.Log(x)
		r = x - w - fmath.Log(w)
	}
	for {
		t := float64((1 + w) * (1 + w + float64(r*(2.0/3))))
		w = float64(w * (1 + float64(r/(1+w)*(t-r/2)/(t-r))))
		if steps--; steps == 0 {
			return w
		}
		r = x - w - fmath.Log(w)
	}
}
