package space

import (
	"io"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// Draws is a pass through several draws of the networks, each with its own Theta_O, by its
// own pass. Every update sees the set in one of them, in turn, so that what it learns is in
// all. As a whole it is the features of all draws beside each other, over sqrt(R): inner
// products, outputs and |Theta_O|^2 are means over the draws. norm is that |Theta_O|, and
// reals says that views know the real images.
func Draws(passes []Pass, norm float64, reals bool) Pass {
	return &draws{passes: passes, norm: norm, reals: reals}
}

type draws struct {
	passes []Pass
	at     int // the pass of the last view
	norm   float64
	reals  bool
}

func (p *draws) View(update int, gradient bool, batch []int) convex.View {
	p.at = update % len(p.passes)
	return p.passes[p.at].View(update, gradient, batch)
}

func (p *draws) Back(dx []float32) { p.passes[p.at].Back(dx) }

func (p *draws) Whole() convex.View {
	mean := convex.Kernel{Norm2: p.norm * p.norm}
	for i, one := range p.passes {
		v := one.View(i, false, nil)
		add(&mean.K, v.Gram(), len(p.passes))
		add(&mean.F, v.Outputs(), len(p.passes))
		if p.reals {
			add(&mean.Reals, v.Cross(), len(p.passes))
		}
	}
	return mean
}

// add adds a share of x to a sum, which is none at first.
func add[F tensor.Float](sum *tensor.Mat[F], x tensor.Mat[F], of int) {
	if sum.Rows == 0 {
		*sum = tensor.NewMat[F](x.Rows, x.Cols)
	}
	for j, v := range x.Data {
		sum.Data[j] += v / F(of)
	}
}

// Alone returns the source with a memory of its own, in which there are its networks and the
// digest of its images. Its disk keeps no features: those of many draws would drive out what
// others need.
func (s Source) Alone() (Source, error) {
	alone := s
	alone.Shared = new(method.Shared)
	if _, err := method.Do(alone.Shared, s.Key("map"), s.Map); err != nil {
		return s, err
	}
	if _, err := method.Do(alone.Shared, digestKey, s.Digest); err != nil {
		return s, err
	}
	if d := s.Shared.Disk(); d != nil {
		alone.Shared = alone.Shared.With(noFeatures{d})
	}
	return alone, nil
}

type noFeatures struct{ method.Disk }

func (d noFeatures) Load(key string, read func(io.Reader) error) bool {
	return !strings.HasPrefix(key, featuresKey) && d.Disk.Load(key, read)
}

func (d noFeatures) Save(key string, size int64, write func(io.Writer) error) {
	if !strings.HasPrefix(key, featuresKey) {
		d.Disk.Save(key, size, write)
	}
}
