package space

import (
	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// Draws is a pass through R draws of the networks, each with its own Theta_O. Updates use the
// draws in turn, so that the set is learned in all of them. Whole is the view of the features and
// Theta_O of all draws, concatenated and divided by sqrt(R): inner products, outputs and |Theta_O|^2
// are means over the draws.
type Draws struct {
	Passes []Pass
	Norm   float64 // |Theta_O|
	Reals  bool    // whether views include the real images

	at int // the pass of the last view
}

// View implements Pass.
func (p *Draws) View(update int, gradient bool, batch []int) convex.View {
	p.at = update % len(p.Passes)
	return p.Passes[p.at].View(update, gradient, batch)
}

// Back implements Pass.
func (p *Draws) Back(dx []float32) { p.Passes[p.at].Back(dx) }

// Whole implements Pass.
func (p *Draws) Whole() convex.View {
	mean := convex.Kernel{Norm2: p.Norm * p.Norm}
	for i, one := range p.Passes {
		v := one.View(i, false, nil)
		add(&mean.K, v.Gram(), len(p.Passes))
		add(&mean.F, v.Outputs(), len(p.Passes))
		if p.Reals {
			add(&mean.Reals, v.Cross(), len(p.Passes))
		}
	}
	return mean
}

// add adds x / of to sum, which may be empty.
func add[F tensor.Float](sum *tensor.Mat[F], x tensor.Mat[F], of int) {
	if sum.Rows == 0 {
		*sum = tensor.NewMat[F](x.Rows, x.Cols)
	}
	for j, v := range x.Data {
		sum.Data[j] += v / F(of)
	}
}
