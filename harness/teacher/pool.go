package teacher

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// pool is several draws of the networks, each with its own Theta_O. Every update sees
// the set in one of them, in turn, so that what it learns is in all. Unless the method
// asks for real images, none is touched on the way: a Theta_O is all that is kept of them.
//
// As a whole the pool is the features of all draws beside each other, over sqrt(R):
// inner products, outputs and |Theta_O|^2 are means over the draws.
type pool struct {
	passes []Pass
	at     int  // the pass of the last view
	reals  bool // views know the real images
}

// NewPool returns a pass through draws of the networks other than the run's own, whose
// views know the real images if reals says so.
func (r Real) NewPool(ctx context.Context, draws int, p Problem, images []float32, reals bool) (Pass, error) {
	out := &pool{reals: reals}
	for i := range draws {
		one := r
		one.Draw = strconv.Itoa(i)
		// Theta_O and the networks are shared, and so is the digest. What else it takes to
		// solve for it is let go, and features that the pass asks for are its own.
		lent := one
		lent.Shared = new(method.Shared)
		if _, err := shared(lent.Shared, one.key("map"), one.Map); err != nil {
			return nil, err
		}
		if _, err := shared(lent.Shared, digestKey, r.digest); err != nil {
			return nil, err
		}
		if d := r.Shared.Disk(); d != nil {
			lent.Shared = lent.Shared.With(thetaDisk{d})
		}
		theta, err := shared(r.Shared, one.key(fmt.Sprintf("pool theta %+v", p)), func() (*Theta, error) {
			return lent.Theta(ctx, p)
		})
		if err != nil {
			return nil, err
		}
		pass, err := lent.NewPass(ctx, theta, images, reals)
		if err != nil {
			return nil, err
		}
		out.passes = append(out.passes, pass)
	}
	return out, nil
}

// thetaDisk keeps no features: those of all draws would drive out what others need.
type thetaDisk struct{ method.Disk }

func (d thetaDisk) Load(key string, read func(io.Reader) error) bool {
	return !strings.HasPrefix(key, featuresKey) && d.Disk.Load(key, read)
}

func (d thetaDisk) Save(key string, size int64, write func(io.Writer) error) {
	if !strings.HasPrefix(key, featuresKey) {
		d.Disk.Save(key, size, write)
	}
}

func (p *pool) View(update int, gradient bool, batch []int) convex.View {
	p.at = update % len(p.passes)
	return p.passes[p.at].View(update, gradient, batch)
}

func (p *pool) Back(dx []float32) { p.passes[p.at].Back(dx) }

func (p *pool) Norm() float64 {
	sum := 0.0
	for _, one := range p.passes {
		sum += float64(one.Norm() * one.Norm())
	}
	return math.Sqrt(sum / float64(len(p.passes)))
}

func (p *pool) Whole() convex.View {
	var mean convex.Kernel
	for i, one := range p.passes {
		v := one.View(i, false, nil)
		k, f := v.Gram(), v.Outputs()
		if i == 0 {
			mean.K, mean.F = tensor.NewMat[float64](k.Rows, k.Cols), tensor.NewMat[float64](f.Rows, f.Cols)
		}
		for j, x := range k.Data {
			mean.K.Data[j] += x / float64(len(p.passes))
		}
		for j, x := range f.Data {
			mean.F.Data[j] += x / float64(len(p.passes))
		}
		if !p.reals {
			continue
		}
		cross := v.Cross()
		if i == 0 {
			mean.Reals = tensor.NewMat[float32](cross.Rows, cross.Cols)
		}
		for j, x := range cross.Data {
			mean.Reals.Data[j] += x / float32(len(p.passes))
		}
	}
	mean.Norm2 = p.Norm() * p.Norm()
	return mean
}
