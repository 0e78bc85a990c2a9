package nn

import (
	"math"
	"testing"

	"dgkip/harness/tensor"
)

// The derivatives of a linear loss agree with central differences. With the gradient of the
// cross-entropy as weights, both losses have the same gradient.
func TestLinearLoss(t *testing.T) {
	const h = 1e-6
	for _, c := range cases[float64](t, tensor.Auto) {
		p, d := point(c, "point"), point(c, "direction")
		p.Targets, d.Targets = nil, nil
		b := point(c, "weights").Targets
		pass, other := c.net.NewPass(), c.net.NewPass()
		at := func(pass *Pass[float64], q Grad[float64]) (float64, Grad[float64]) {
			g := newGrad(c.net, c.n)
			g.Targets = nil
			z := pass.Outputs(q.Theta, q.X, c.n)
			pass.Linear(b)
			pass.Gradient(g)
			return dot(b, z), g
		}
		_, g := at(pass, p)
		out := Grad[float64]{Theta: make([]float64, len(g.Theta)), X: make([]float64, len(g.X))}
		lossT := pass.Tangent(d, out)
		up, upGrad := at(other, shifted(p, h, d))
		down, downGrad := at(other, shifted(p, -h, d))
		want := shifted(upGrad, -1, downGrad)
		for _, x := range [][]float64{want.Theta, want.X} {
			for i := range x {
				x[i] /= 2 * h
			}
		}
		nearGrad(t, c.name, c.net, out, want, largest(g), 2e-6)
		for what, got := range map[string]float64{"tangent": lossT, "gradient": dot(d.Theta, g.Theta) + dot(d.X, g.X)} {
			if want := (up - down) / (2 * h); math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%s: the %s predicts a change of the loss by %g, want %g", c.name, what, got, want)
			}
		}

		targets := point(c, "targets").Targets
		pass.Loss(p.Theta, p.X, targets, c.n)
		ofLoss := Grad[float64]{Theta: make([]float64, len(g.Theta)), X: make([]float64, len(g.X))}
		pass.Gradient(ofLoss)
		dz := make([]float64, len(targets))
		pass.loss.gradient(dz, nil)
		pass.Outputs(p.Theta, p.X, c.n)
		pass.Linear(dz)
		pass.Gradient(out)
		if !equalBits(out.Theta, ofLoss.Theta) || !equalBits(out.X, ofLoss.X) {
			t.Errorf("%s: the linear loss and the cross-entropy have different gradients", c.name)
		}
	}
}

// Linear refuses the outputs of Errors, which keeps nothing for derivatives.
func TestLinearAfterErrors(t *testing.T) {
	c := convCase[float32](true, 4, 2, tensor.Auto)
	p := point(c, "point")
	pass := c.net.NewPass()
	if _, err := pass.Errors(t.Context(), p.Theta, p.X, make([]int, c.n)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Linear accepts the outputs of Errors")
		}
	}()
	pass.Linear(p.Targets)
}

// The last layer, applied to the outputs of Body, gives the network's outputs.
func TestBody(t *testing.T) {
	for _, c := range cases[float64](t, tensor.Auto)[4:8] {
		p := point(c, "point")
		body := c.net.Body()
		phi := body.NewPass().Outputs(p.Theta[:body.Params()], p.X, c.n)
		last := build(c.net.layers[len(c.net.layers)-1])
		got := last.NewPass().Outputs(p.Theta[body.Params():], phi, c.n)
		if want := c.net.NewPass().Outputs(p.Theta, p.X, c.n); !equalBits(got, want) {
			t.Errorf("%s: outputs %v, want %v", c.name, got, want)
		}
	}
}
