package teacher

import (
	"context"
	"math"
	"sync"

	"dgkip/harness/convex"
	"dgkip/harness/features"
	"dgkip/harness/tensor"
)

// Shown is images as the run's models see them: by their features, or, where these are
// those of infinitely wide networks, by inner products. In the latter case a model
// Theta_O has a weight for every training image, and outputs are sums of inner products
// with these.
type Shown interface {
	Gram() tensor.Mat[float64]                                    // of all pairs, [n, n]
	Norms() []float64                                             // k(x, x), [n]
	Cross(set Shown) tensor.Mat[float64]                          // with a set, [n, n_S]
	Student(set Shown, c tensor.Mat[float64]) tensor.Mat[float64] // outputs of C'A, A that of the set, [n, K]
	// View shows the images as a set beside Theta_O.
	View(ctx context.Context, theta *Theta) (convex.View, error)
	// Outputs returns those of Theta_O, [n, K].
	Outputs(ctx context.Context, theta *Theta) (tensor.Mat[float64], error)
}

// Show shows images, such as those of a set.
func (r Real) Show(ctx context.Context, x []float32) (Shown, error) {
	if k, ok := r.kernel(); ok {
		return r.showExact(ctx, k, x)
	}
	m, err := r.Map()
	if err != nil {
		return nil, err
	}
	phi := tensor.NewMat[float32](len(x)/r.Data.Train.Size(), m.Dim())
	m.NewPass().Forward(phi, x)
	return stored{phi}, nil
}

// stored is images by their features.
type stored struct{ phi tensor.Mat[float32] } // [n, M]

func (s stored) Gram() tensor.Mat[float64] { return convex.GramOf(s.phi) }

func (s stored) Norms() []float64 {
	norms := make([]float64, s.phi.Rows)
	tensor.Parallel(s.phi.Rows, func(i int) {
		for _, v := range s.phi.Row(i) {
			norms[i] += float64(v) * float64(v)
		}
	})
	return norms
}

func (s stored) Cross(set Shown) tensor.Mat[float64] {
	of := set.(stored).phi
	cross := tensor.NewMat[float64](s.phi.Rows, of.Rows)
	tensor.Cross64(cross, s.phi, of)
	return cross
}

func (s stored) Student(set Shown, c tensor.Mat[float64]) tensor.Mat[float64] {
	return convex.Apply(s.phi, convex.Combine(set.(stored).phi, c))
}

func (s stored) View(_ context.Context, theta *Theta) (convex.View, error) {
	return convex.Features{A: s.phi, Theta: theta.Weights}, nil
}

func (s stored) Outputs(_ context.Context, theta *Theta) (tensor.Mat[float64], error) {
	return convex.Apply(s.phi, theta.Weights), nil
}

// inKernel is images by their inner products.
type inKernel struct {
	exactImages
	real exactImages

	mu    sync.Mutex          // several runs may share test images
	reals tensor.Mat[float32] // with the training images, [n, N], once they are asked for

	// Of a set, the images that it was last seen with, and their inner products.
	seen *inKernel
	with tensor.Mat[float32]
}

func (s *inKernel) Cross(set Shown) tensor.Mat[float64] {
	cross := s.beside(set)
	out := tensor.NewMat[float64](cross.Rows, cross.Cols)
	for i, v := range cross.Data {
		out.Data[i] = float64(v)
	}
	return out
}

func (s *inKernel) beside(set Shown) tensor.Mat[float32] {
	of := set.(*inKernel)
	if of.seen != s { // a set is scored under several losses
		of.seen = s
		of.with, _ = s.cross(context.Background(), of.exactImages)
	}
	return of.with
}

func (s *inKernel) Student(set Shown, c tensor.Mat[float64]) tensor.Mat[float64] {
	return convex.Apply(s.beside(set), c.Transposed())
}

func (s *inKernel) View(ctx context.Context, theta *Theta) (convex.View, error) {
	f, err := s.Outputs(ctx, theta)
	return convex.Kernel{K: s.Gram(), F: f, Norm2: theta.Norm * theta.Norm}, err
}

func (s *inKernel) Outputs(ctx context.Context, theta *Theta) (tensor.Mat[float64], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reals.Rows == 0 {
		reals, err := s.cross(ctx, s.real)
		if err != nil {
			return tensor.Mat[float64]{}, err
		}
		s.reals = reals
	}
	return convex.Apply(s.reals, theta.Weights), nil
}

// Pass shows a set whose images are being learned, and takes gradients back to them.
type Pass interface {
	// View shows the images as they are now, for an update, and takes up gradients if
	// they are wanted. Of the real images it shows those in batch, or all if that is nil.
	View(update int, gradient bool, batch []int) convex.View
	// Whole shows the images for good, beside all real ones and without gradients:
	// labels are made for this view.
	Whole() convex.View
	Norm() float64 // |Theta_O|
	// Back sets dx to the gradient in the pixels.
	Back(dx []float32)
}

// NewPass returns a pass for a set beside Theta_O, whose views know the real images if
// reals says so. Theta_O may be nil, and then has no outputs.
func (r Real) NewPass(ctx context.Context, theta *Theta, images []float32, reals bool) (Pass, error) {
	if _, ok := r.kernel(); ok {
		real, err := r.exactReal(ctx)
		return &kernelPass{images: images, real: real, theta: theta}, err
	}
	m, err := r.Map()
	if err != nil {
		return nil, err
	}
	var real tensor.Mat[float32]
	if reals {
		if real, err = r.Features(ctx); err != nil {
			return nil, err
		}
	}
	return PassOf(m, theta, images, len(images)/r.Data.Train.Size(), real), nil
}

// PassOf returns a pass through a feature map for a set of n images, beside real images
// with these features, if there are any.
func PassOf(m *features.Map, theta *Theta, images []float32, n int, real tensor.Mat[float32]) Pass {
	return &featurePass{
		pass: m.NewPass(), theta: theta, images: images, real: real,
		phi: tensor.NewMat[float32](n, m.Dim()), dphi: tensor.NewMat[float32](n, m.Dim()),
	}
}

type featurePass struct {
	pass      *features.Pass
	theta     *Theta
	images    []float32
	phi, dphi tensor.Mat[float32] // [n, M]
	real      tensor.Mat[float32] // [N, M]
	chosen    tensor.Mat[float32] // [b, M], of a batch
	view      convex.Features
}

func (p *featurePass) View(_ int, gradient bool, batch []int) convex.View {
	p.pass.Forward(p.phi, p.images)
	p.view = convex.Features{A: p.phi, Real: p.real}
	if p.theta != nil {
		p.view.Theta = p.theta.Weights
	}
	if batch != nil {
		if p.chosen.Rows != len(batch) {
			p.chosen = tensor.NewMat[float32](len(batch), p.real.Cols)
		}
		tensor.Parallel(len(batch), func(i int) { copy(p.chosen.Row(i), p.real.Row(batch[i])) })
		p.view.Real = p.chosen
	}
	if gradient {
		p.view.Grad = &p.dphi
	}
	return p.view
}

func (p *featurePass) Whole() convex.View {
	v := p.view
	v.Grad, v.Real = nil, p.real
	return v
}

func (p *featurePass) Norm() float64 { return p.theta.Norm }

func (p *featurePass) Back(dx []float32) { p.pass.Backward(dx, p.dphi) }

type kernelPass struct {
	images []float32
	real   exactImages
	theta  *Theta
	pass   exactPass // beside the real images that were shown last
	all    bool      // whether those are all
	grad   convex.KernelGradient
	view   convex.Kernel
}

// View knows no outputs of Theta_O beside a batch: they are sums over all real images.
func (p *kernelPass) View(_ int, gradient bool, batch []int) convex.View {
	p.show(batch)
	p.view = p.viewOf(p.pass, gradient, p.all)
	if gradient {
		p.view.Grad = &p.grad
	}
	return p.view
}

func (p *kernelPass) viewOf(pass exactPass, gradient, all bool) convex.Kernel {
	var v convex.Kernel
	v.K, v.Reals = pass.Forward(gradient)
	if p.theta == nil {
		return v
	}
	v.Norm2 = p.theta.Norm * p.theta.Norm
	if all {
		v.F = convex.Apply(v.Reals, p.theta.Weights)
	}
	return v
}

// show puts the images beside real ones, those of a batch or all.
func (p *kernelPass) show(batch []int) {
	if batch == nil {
		if !p.all {
			p.pass, p.all = p.real.pass(p.images), true
		}
		return
	}
	p.pass, p.all = p.real.chosen(batch).pass(p.images), false
}

func (p *kernelPass) Whole() convex.View {
	if !p.all { // the pass keeps what a gradient of the last view needs
		return p.viewOf(p.real.pass(p.images), false, true)
	}
	v := p.view
	v.Grad = nil
	return v
}

func (p *kernelPass) Norm() float64 { return p.theta.Norm }

func (p *kernelPass) Back(dx []float32) {
	cross := p.grad.Reals
	if f := p.grad.F; f.Rows > 0 { // F = K_SO a
		cross = tensor.NewMat[float32](f.Rows, p.theta.Weights.Cols)
		tensor.Mul(cross, tensor.Narrow(f), tensor.Narrow(p.theta.Weights), tensor.NN, false)
	}
	p.pass.Backward(dx, p.grad.K, cross)
}

// normOf is the norm of a model with weights a [K, N] of the training images, whose
// outputs there are f [N, K]: |Theta|^2 = tr a'K a = tr a'f.
func normOf(a, f tensor.Mat[float64]) float64 {
	sum := 0.0
	for k := range a.Rows {
		for j, v := range a.Row(k) {
			sum += float64(v * f.Row(j)[k])
		}
	}
	return math.Sqrt(max(0, sum))
}
