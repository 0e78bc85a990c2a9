package convex

import (
	"context"
	"math"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// stored is the softmax loss on a large set, given by its stored features: no
// Gram matrix is needed. It is solved in the dual variables alpha_i = e_yi - s_i,
// which are feasible where s_i is in the simplex, with Theta = alpha'Phi / lambda:
// maximise
//
//	D(s) = -sum_ik s_ik log s_ik - (lambda/2) |Theta|^2.
//
// The gap at Theta(s) is the sum of the relative entropies of s_i and
// softmax(F_i).
type stored struct {
	Features tensor.Mat[float32] // [n, M]
	Labels   []int               // classes, from 0
	Classes  int
	Lambda   float64
}

// softmaxBlock is how many images are solved for together.
const softmaxBlock = 256

// solve maximises the dual, by blocks of images that are visited in a new random
// order each time: outputs of the block come from the features, coordinate ascent
// on the Gram matrix of the block alone solves for it, image by image, and Theta
// follows. A visit reads the block's features twice. The Gram matrices of the
// blocks are kept; in all it takes 4*256 n + 24 n K + 20 K M bytes beside the
// features.
//
// Products run in float32, the proof at the end in float64.
func (p stored) solve(search *search) (Solution, error) {
	a := newBlockAscent(search.ctx, p)
	for pass := 0; ; pass++ {
		estimate := a.estimate()
		// The estimate mixes outputs of different moments, and is mostly too
		// large: the proof counts.
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

// blockAscent is the state of stored.solve.
type blockAscent struct {
	stored
	s       tensor.Mat[float64] // [n, K], probabilities
	theta   tensor.Mat[float64] // [K, M]
	theta32 tensor.Mat[float32]
	move    tensor.Mat[float32]   // of theta, [K, M]
	grams   []tensor.Mat[float32] // of the blocks, once they are known
	order   *rng.Rand
	// Sums over the last pass, of what each block found on arrival.
	losses, gap float64
}

func newBlockAscent(ctx context.Context, p stored) *blockAscent {
	n, m, classes := p.Features.Rows, p.Features.Cols, p.Classes
	a := &blockAscent{
		stored:  p,
		s:       tensor.NewMat[float64](n, classes),
		theta:   tensor.NewMat[float64](classes, m),
		theta32: tensor.NewMat[float32](classes, m),
		move:    tensor.NewMat[float32](classes, m),
		grams:   make([]tensor.Mat[float32], (n+softmaxBlock-1)/softmaxBlock),
		order:   rng.Stream(0, "convex", "blocks"),
	}
	// Near the labels, as the solution is for the small lambda in use, but inside
	// the simplex.
	rest := min(0.5, 100*p.Lambda/float64(n)) / float64(classes)
	for i, y := range p.Labels {
		row := a.s.Row(i)
		for k := range row {
			row[k] = rest
		}
		row[y] = 1 - float64(rest*float64(classes-1))
	}
	a.refresh(ctx)
	return a
}

// refresh computes theta from s in float64, until ctx is done.
func (a *blockAscent) refresh(ctx context.Context) {
	clear(a.theta.Data)
	const rows = 64
	w := make([]float64, rows)
	for from := 0; from < a.Features.Rows && ctx.Err() == nil; from += rows {
		part := a.Features.Part(from, min(from+rows, a.Features.Rows), 0, a.Features.Cols)
		for k := range a.Classes {
			for i := range part.Rows {
				w[i] = a.variable(from+i, k) / a.Lambda
			}
			tensor.AddRows64(a.theta.Row(k), part, w[:part.Rows])
		}
	}
	a.theta32 = narrow(a.theta)
}

// variable is alpha_ik.
func (a *blockAscent) variable(i, k int) float64 {
	if k == a.Labels[i] {
		return 1 - a.s.Row(i)[k]
	}
	return -a.s.Row(i)[k]
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

// estimate is the relative gap that the blocks of the last pass found.
func (a *blockAscent) estimate() float64 {
	return a.gap / max(a.losses+float64(a.Lambda/2*frobenius2(a.theta)), 1)
}

// visit solves for the images of a block, the others fixed, nearly.
func (a *blockAscent) visit(b int) {
	from := b * softmaxBlock
	n := min(softmaxBlock, a.Features.Rows-from)
	phi := a.Features.Part(from, from+n, 0, a.Features.Cols)
	if a.grams[b].Rows == 0 {
		a.grams[b] = tensor.NewMat[float32](n, n)
		tensor.Gram(a.grams[b], phi)
	}
	outputs := tensor.NewMat[float32](a.Classes, n)
	tensor.Mul(outputs, a.theta32, phi, tensor.NT, false)
	f, before := tensor.NewMat[float64](n, a.Classes), tensor.NewMat[float64](n, a.Classes)
	p := make([]float64, a.Classes)
	for i := range n {
		for k := range p {
			f.Row(i)[k] = float64(outputs.Row(k)[i])
		}
		copy(before.Row(i), a.s.Row(from+i))
		a.losses += probabilities(p, f.Row(i)) - f.Row(i)[a.Labels[from+i]]
		a.gap += relativeEntropy(a.s.Row(from+i), f.Row(i))
	}
	change := make([]float64, a.Classes)
	const sweeps = 2
	for range sweeps {
		for i := range n {
			s := a.s.Row(from + i)
			copy(change, s)
			proximal(s, f.Row(i), float64(a.grams[b].Row(i)[i])/a.Lambda)
			for k := range change {
				change[k] = (change[k] - s[k]) / a.Lambda
			}
			for j, x := range a.grams[b].Row(i) {
				to := f.Row(j)
				for k, c := range change {
					to[k] += float64(float64(x) * c)
				}
			}
		}
	}
	w := tensor.NewMat[float32](a.Classes, n)
	for i := range n {
		for k, s := range a.s.Row(from + i) {
			w.Row(k)[i] = float32((before.Row(i)[k] - s) / a.Lambda)
		}
	}
	tensor.Mul(a.move, w, phi, tensor.NN, false)
	tensor.Parallel(pieces(len(a.move.Data)), func(p int) {
		end := min(len(a.move.Data), (p+1)*pieceLen)
		for j := p * pieceLen; j < end; j++ {
			a.theta.Data[j] += float64(a.move.Data[j])
			a.theta32.Data[j] = float32(a.theta.Data[j])
		}
	})
}

// certify computes Theta, outputs and gap anew, in float64, until ctx is done.
func (a *blockAscent) certify(ctx context.Context) Solution {
	a.refresh(ctx)
	v := Solution{Weights: times(1, a.theta), Norm2: frobenius2(a.theta)}
	v.Outputs = transposed(manyDots(ctx, a.Features, a.theta))
	losses, gap := 0.0, 0.0
	p := make([]float64, a.Classes)
	for i, y := range a.Labels {
		f := v.Outputs.Row(i)
		losses += probabilities(p, f) - f[y]
		gap += relativeEntropy(a.s.Row(i), f)
	}
	v.prove(losses, gap, a.Lambda)
	return v
}

// relativeEntropy is sum_k s_k (log s_k - log softmax(f)_k) for probabilities s that
// belong to no outputs, a sum of terms s log(s/p) - s + p that are never negative. (Of
// those that do, targets.apart knows the logarithms.)
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

// proximal replaces probabilities s by those that maximise the dual with all else
// fixed: the outputs then are f + q (s - s_new), and s_new their softmax. It solves
//
//	log s_k + q s_k = f_k + q s_k(old) - v
//
// by Newton's method in v, for which the sum of s is one; the sum is convex and
// falls with v.
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
