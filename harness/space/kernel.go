package space

import (
	"context"
	"fmt"
	"sync"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/nngp"
	"dgkip/harness/tensor"
)

// images are images prepared for an exact kernel. T is the implementation.
type images[T any] interface {
	Gram(context.Context) (tensor.Mat[float64], error) // for few images
	Norms(context.Context) ([]float64, error)
	Cross(ctx context.Context, with T) (tensor.Mat[float32], error)
	Chosen(batch []int) T
	NewPass(set []float32) nngp.Pass // of a set with these real images
}

// kernelSpace is the space of an exact kernel. Nothing is random. A model Theta_O has one weight
// per training image and output; its outputs are weighted sums of inner products with the
// training images.
type kernelSpace[T images[T]] struct {
	Source
	kernel any  // its printed form is part of Settings, and so of cache keys
	exact  bool // the Gram matrix of few real images is computed in float64
	take   func(ctx context.Context, x []float32, progress func(done float64)) (T, error)
	large  func(ctx context.Context, of T) (tensor.Mat[float32], error) // Gram matrix of many images
	lower  func(ctx context.Context, of T) (convex.Triangle, error)     // the lower half of large
}

// Settings implements Space. It omits the seed and the number and width of networks, so that all
// of these share one Theta_O on disk.
func (s kernelSpace[T]) Settings() string {
	settings := fmt.Sprintf("v%d %s %+v", version, s.Model.Kind, s.kernel)
	if s.exact && s.Data.Train.Len() <= convex.MaxExact {
		settings += " float64"
	}
	return settings
}

// training returns the training images, prepared for the kernel.
func (s kernelSpace[T]) training(ctx context.Context) (T, error) {
	return method.Do(s.Shared, s.Key("exact images"), func() (T, error) { return s.take(ctx, s.Data.Train.X, nil) })
}

// Real implements Space. The lower half is not kept, as it is large and only one model needs it.
func (s kernelSpace[T]) Real(ctx context.Context) (convex.Problem, error) {
	real, err := s.training(ctx)
	p := convex.Problem{
		Large: func(ctx context.Context) (tensor.Mat[float32], error) {
			return method.Do(s.Shared, s.Key("gram"), func() (tensor.Mat[float32], error) { return s.large(ctx, real) })
		},
		Lower: func(ctx context.Context) (convex.Triangle, error) { return s.lower(ctx, real) },
	}
	if s.exact {
		p.Exact = real.Gram
	}
	return p, err
}

// Show implements Space. Its result is cheap and not kept.
func (s kernelSpace[T]) Show(ctx context.Context, x []float32, _ *Kept) (Images, error) {
	images, err := s.take(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	real, err := s.training(ctx)
	return &inKernel[T]{images: images, real: real}, err
}

// inKernel implements Images by inner products.
type inKernel[T images[T]] struct {
	images, real T

	mu    sync.Mutex          // guards reals, as several runs may share test images
	reals tensor.Mat[float32] // inner products with the training images, [n, N], on demand

	// For a set, seen holds the images that it was last compared with, and with holds the inner
	// products with them.
	seen *inKernel[T]
	with tensor.Mat[float32]
}

func (s *inKernel[T]) Gram(ctx context.Context) (tensor.Mat[float64], error) {
	return s.images.Gram(ctx)
}

func (s *inKernel[T]) Norms(ctx context.Context) ([]float64, error) { return s.images.Norms(ctx) }

func (s *inKernel[T]) Cross(ctx context.Context, set Images) (tensor.Mat[float64], error) {
	with, err := s.compare(ctx, set)
	return tensor.Widen(with), err
}

func (s *inKernel[T]) compare(ctx context.Context, set Images) (tensor.Mat[float32], error) {
	of := set.(*inKernel[T])
	if of.seen == s { // a set is scored under several losses
		return of.with, nil
	}
	with, err := s.images.Cross(ctx, of.images)
	if err == nil {
		of.seen, of.with = s, with
	}
	return with, err
}

func (s *inKernel[T]) Student(ctx context.Context, set Images, c tensor.Mat[float64]) (tensor.Mat[float64], error) {
	with, err := s.compare(ctx, set)
	if err != nil {
		return tensor.Mat[float64]{}, err
	}
	return convex.Apply(with, c.Transposed()), nil
}

func (s *inKernel[T]) View(ctx context.Context, theta *Model) (convex.View, error) {
	f, err := s.Outputs(ctx, theta)
	if err != nil {
		return nil, err
	}
	k, err := s.Gram(ctx)
	return convex.Kernel{K: k, F: f, Norm2: theta.Norm * theta.Norm}, err
}

func (s *inKernel[T]) Outputs(ctx context.Context, theta *Model) (tensor.Mat[float64], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reals.Rows == 0 {
		reals, err := s.images.Cross(ctx, s.real)
		if err != nil {
			return tensor.Mat[float64]{}, err
		}
		s.reals = reals
	}
	return convex.Apply(s.reals, theta.Weights), nil
}

// Learn implements Space.
func (s kernelSpace[T]) Learn(ctx context.Context, x []float32, theta *Model, _ bool) (Pass, error) {
	real, err := s.training(ctx)
	return &learning[T]{images: x, real: real, theta: theta}, err
}

// learning implements Pass.
type learning[T images[T]] struct {
	images []float32
	real   T
	theta  *Model
	pass   nngp.Pass // with the real images of the last View
	all    bool      // whether pass contains all real images
	grad   convex.KernelGradient
	view   convex.Kernel
}

// View implements Pass. With a batch, the view has no outputs of Theta_O, which are sums over all
// real images.
func (p *learning[T]) View(_ int, gradient bool, batch []int) convex.View {
	if batch != nil {
		p.pass, p.all = p.real.Chosen(batch).NewPass(p.images), false
	} else if !p.all {
		p.pass, p.all = p.real.NewPass(p.images), true
	}
	p.view = p.viewOf(p.pass, gradient, p.all)
	if gradient {
		p.view.Grad = &p.grad
	}
	return p.view
}

func (p *learning[T]) viewOf(pass nngp.Pass, gradient, all bool) convex.Kernel {
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

func (p *learning[T]) Whole() convex.View {
	if !p.all { // a new pass, because p.pass stores the state for Back
		return p.viewOf(p.real.NewPass(p.images), false, true)
	}
	v := p.view
	v.Grad = nil
	return v
}

func (p *learning[T]) Back(dx []float32) {
	cross := p.grad.Reals
	if f := p.grad.F; f.Rows > 0 { // F = K_SO a'
		cross = tensor.NewMat[float32](f.Rows, p.theta.Weights.Cols)
		tensor.Mul(cross, tensor.Narrow(f), tensor.Narrow(p.theta.Weights), tensor.NN, false)
	}
	p.pass.Backward(dx, p.grad.K, cross)
}
