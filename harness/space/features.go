package space

import (
	"context"
	"fmt"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/features"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// Config returns the settings of the feature map of a model's networks.
func Config(m method.Model, h, w, c int) features.Config {
	return features.Config{Kind: m.Kind, H: h, W: w, C: c, Nets: m.Nets, Width: m.Width, Depth: m.Depth}
}

// Dim returns the number of features of an image in a model's networks, or 0 for an exact
// kernel.
func Dim(m method.Model, h, w int) int {
	if m.Exact() {
		return 0
	}
	return Config(m, h, w, 1).Dim()
}

// featureSpace is the space of the features of some networks.
type featureSpace struct {
	Source
	settings string
	networks func() (*features.Map, error)
}

// randomFeatures returns the space of networks drawn from the source's seed and stream.
func randomFeatures(s Source) Space {
	config, stream := Config(s.Model, s.Data.Train.H, s.Data.Train.W, s.Data.Train.C), []string{"features", s.Data.Name}
	// Algorithm was a setting. It stays in the keys, which name files on disk.
	settings := fmt.Sprintf("v%d %s Algorithm:0} seed %d", version, strings.TrimSuffix(fmt.Sprintf("%+v", config), "}"), s.Seed)
	if s.Draw != nil {
		stream, settings = s.Draw, settings+" draw "+strings.Join(s.Draw, " ")
	}
	return featureSpace{s, settings, func() (*features.Map, error) { return features.New(config, s.Seed, stream...) }}
}

// Settings implements Space.
func (s featureSpace) Settings() string { return s.settings }

// mapping returns the feature map.
func (s featureSpace) mapping() (*features.Map, error) {
	return method.Do(s.shared(), s.Key("map"), s.networks)
}

// training returns the features of the training images, [n, M].
func (s featureSpace) training(ctx context.Context) (tensor.Mat[float32], error) {
	return method.Do(s.Shared, s.Key("features"), func() (tensor.Mat[float32], error) {
		return s.mapped(ctx, s.Data.Train.X, Kept{s.Shared, "training", s.Digest})
	})
}

// mapped returns the features of images, from disk if possible. Only features of the run's own
// draw are stored on disk; others would displace values that other runs need.
func (s featureSpace) mapped(ctx context.Context, x []float32, kept Kept) (tensor.Mat[float32], error) {
	m, err := s.mapping()
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	phi := tensor.NewMat[float32](len(x)/s.Data.Train.Size(), m.Dim())
	var disk method.Disk
	key := ""
	if s.Draw == nil && kept.In.Disk() != nil {
		disk = kept.In.Disk()
		key = strings.Join([]string{"features", s.settings, s.Data.Name, kept.Digest()}, " ")
		s.Report("reading features")
	}
	return phi, method.OnDisk(disk, key, rows(phi), func() error {
		return m.Features(ctx, phi, x, s.Report("features of the "+kept.What+" images"))
	})
}

// Real implements Space.
func (s featureSpace) Real(ctx context.Context) (convex.Problem, error) {
	phi, err := s.training(ctx)
	return convex.Problem{Features: phi, Large: func(ctx context.Context) (tensor.Mat[float32], error) {
		return method.Do(s.Shared, s.Key("gram"), func() (tensor.Mat[float32], error) {
			k := tensor.NewMat[float32](phi.Rows, phi.Rows)
			return k, tensor.GramContext(ctx, k, phi, s.Report("Gram matrix"))
		})
	}}, err
}

// Show implements Space.
func (s featureSpace) Show(ctx context.Context, x []float32, kept *Kept) (Images, error) {
	if kept != nil {
		phi, err := s.mapped(ctx, x, *kept)
		return stored{phi}, err
	}
	m, err := s.mapping()
	if err != nil {
		return nil, err
	}
	phi := tensor.NewMat[float32](len(x)/s.Data.Train.Size(), m.Dim())
	m.NewPass().Forward(phi, x)
	return stored{phi}, nil
}

// stored implements Images by stored features.
type stored struct{ phi tensor.Mat[float32] } // [n, M]

func (s stored) Gram(context.Context) (tensor.Mat[float64], error) { return convex.GramOf(s.phi), nil }

func (s stored) Norms(context.Context) ([]float64, error) {
	norms := make([]float64, s.phi.Rows)
	tensor.Parallel(s.phi.Rows, func(i int) {
		for _, v := range s.phi.Row(i) {
			norms[i] += float64(v) * float64(v)
		}
	})
	return norms, nil
}

func (s stored) Cross(_ context.Context, set Images) (tensor.Mat[float64], error) {
	of := set.(stored).phi
	cross := tensor.NewMat[float64](s.phi.Rows, of.Rows)
	tensor.Cross64(cross, s.phi, of)
	return cross, nil
}

func (s stored) Student(_ context.Context, set Images, c tensor.Mat[float64]) (tensor.Mat[float64], error) {
	return convex.Apply(s.phi, convex.Combine(set.(stored).phi, c)), nil
}

func (s stored) View(_ context.Context, theta *Model) (convex.View, error) {
	return convex.Features{A: s.phi, Theta: theta.Weights}, nil
}

func (s stored) Outputs(_ context.Context, theta *Model) (tensor.Mat[float64], error) {
	return convex.Apply(s.phi, theta.Weights), nil
}

// Learn implements Space.
func (s featureSpace) Learn(ctx context.Context, x []float32, theta *Model, reals bool) (Pass, error) {
	m, err := s.mapping()
	if err != nil {
		return nil, err
	}
	n := len(x) / s.Data.Train.Size()
	p := &featurePass{pass: m.NewPass(), images: x, dphi: tensor.NewMat[float32](n, m.Dim())}
	p.view.A = tensor.NewMat[float32](n, m.Dim())
	if theta != nil {
		p.view.Theta = theta.Weights
	}
	if reals {
		p.real, err = s.training(ctx)
	}
	return p, err
}

// featurePass implements Pass.
type featurePass struct {
	pass   *features.Pass
	images []float32
	dphi   tensor.Mat[float32] // [n, M]
	real   tensor.Mat[float32] // [N, M]
	chosen tensor.Mat[float32] // rows of real in the batch, [b, M]
	view   convex.Features
}

func (p *featurePass) View(_ int, gradient bool, batch []int) convex.View {
	p.pass.Forward(p.view.A, p.images)
	p.view.Real, p.view.Grad = p.real, nil
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

func (p *featurePass) Back(dx []float32) { p.pass.Backward(dx, p.dphi) }
