package nn

import (
	"fmt"
	"math"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// netCase is a network with a number of images.
type netCase[F tensor.Float] struct {
	name string
	net  *Net[F]
	n    int
}

// must returns a network, and panics if there is an error instead.
func must[F tensor.Float](net *Net[F], err error) *Net[F] {
	if err != nil {
		panic(err)
	}
	return net
}

// using returns a network after setting the algorithm of its convolutions.
func using[F tensor.Float](algo tensor.Algorithm, net *Net[F]) *Net[F] {
	for _, l := range net.layers {
		switch l := l.(type) {
		case *convBlock[F]:
			l.algo = algo
		case *skip[F]:
			using(algo, l.f)
		}
	}
	return net
}

// cases returns every kind of layer by itself, on odd and tiny shapes, and whole networks.
// The outputs of a single layer serve as logits.
func cases[F tensor.Float](t *testing.T, algo tensor.Algorithm) []netCase[F] {
	tensor.StripRows = 2 // seven rows form strips of two, two and three rows
	t.Cleanup(func() { tensor.StripRows = 0 })
	list := []netCase[F]{
		{"linear", build[F](&linear[F]{name: "linear", inputs: 5, outputs: 3}), 4},
		{"linear relu", build[F](&linear[F]{name: "linear", inputs: 3, outputs: 7, relu: true}), 2},
		{"linear 1", build[F](&linear[F]{name: "a", inputs: 1, outputs: 1}, &linear[F]{name: "b", inputs: 1, outputs: 2}), 1},
		{"pad", build[F](&pad[F]{h: 2, w: 3, ch: 2, by: 2}, &linear[F]{name: "linear", inputs: 6 * 7 * 2, outputs: 2}), 2},
		{"fc", must(FCNet[F](6, 5, 3, 3)), 3},
		{"conv", must(ConvNet[F](Shape{Kind: "conv", Width: 3, Depth: 3}, 8, 9, 2, 2)), 2},
		{"conv norm", using(algo, must(ConvNet[F](Shape{Kind: "conv", Width: 3, Depth: 3, Norm: true}, 9, 8, 2, 3))), 3},
		{"skip", build[F](&skip[F]{build[F](&linear[F]{name: "a", inputs: 4, outputs: 3, relu: true}, &linear[F]{name: "b", inputs: 3, outputs: 4})}, &linear[F]{name: "c", inputs: 4, outputs: 2}), 3},
		{"skip below", build[F](&linear[F]{name: "first", inputs: 3, outputs: 4, relu: true}, &skip[F]{build[F](&linear[F]{name: "a", inputs: 4, outputs: 4, relu: true})}), 2},
		{"res", using(algo, must(ConvNet[F](Shape{Kind: "res", Width: 3, Depth: 2, Norm: true, FirstPad: 2}, 8, 9, 2, 3))), 2},
		{"conv norm pad", using(algo, must(ConvNet[F](Shape{Kind: "conv", Width: 5, Depth: 3, Norm: true, FirstPad: 3}, 5, 7, 1, 2))), 2},
	}
	for _, s := range [][2]int{{1, 1}, {1, 4}, {2, 2}, {3, 3}, {5, 2}, {4, 7}, {7, 4}} {
		for _, norm := range []bool{false, true} {
			for _, pool := range []bool{false, true} {
				if pool && min(s[0], s[1]) < 2 {
					continue
				}
				shape := convShape{h: s[0], w: s[1], inCh: 2, outCh: 3, pool: pool}
				list = append(list, netCase[F]{fmt.Sprintf("block %dx%d norm=%t pool=%t", s[0], s[1], norm, pool),
					build[F](&convBlock[F]{convShape: shape, norm: norm, algo: algo}), 2})
			}
		}
	}
	return list
}

// point draws parameters, images and targets. The targets of an image do not sum to one.
func point[F tensor.Float](c netCase[F], label string) Grad[F] {
	r := rng.Stream(7, c.name, label)
	g := newGrad(c.net, c.n)
	for _, x := range [][]F{g.Theta, g.X, g.Targets} {
		for i := range x {
			x[i] = F(r.Normal64())
		}
	}
	for i, x := range g.Targets {
		g.Targets[i] = F(math.Abs(float64(x)))
	}
	return g
}

// shifted returns p + h d. Parts of d may be nil.
func shifted[F tensor.Float](p Grad[F], h F, d Grad[F]) Grad[F] {
	add := func(x, y []F) []F {
		z := append([]F(nil), x...)
		for i := range y {
			z[i] += h * y[i]
		}
		return z
	}
	return Grad[F]{add(p.Theta, d.Theta), add(p.X, d.X), add(p.Targets, d.Targets)}
}

// parts calls do with the fields of a Grad by name, and with each tensor of parameters.
func parts[F tensor.Float](net *Net[F], g Grad[F], do func(name string, x []F)) {
	for _, t := range net.Tensors() {
		do(t.Name, g.Theta[t.Offset:][:t.Len])
	}
	do("x", g.X)
	do("targets", g.Targets)
}

// nearGrad compares part by part, so that small gradients count too. The scale of a part is
// at least a thousandth of the largest entry or of unit, whichever is larger.
func nearGrad[F tensor.Float](t *testing.T, what string, net *Net[F], got, want Grad[F], unit, tol float64) {
	t.Helper()
	largest := unit
	parts(net, want, func(_ string, x []F) { largest = max(largest, size(x)) })
	wants := map[string][]F{}
	parts(net, want, func(name string, x []F) { wants[name] = x })
	parts(net, got, func(name string, x []F) {
		w := wants[name]
		scale := max(size(w), 1e-3*largest)
		for i := range x {
			if d := math.Abs(float64(x[i] - w[i])); !(d <= tol*scale) {
				t.Errorf("%s: %s[%d] is %g, want %g (scale %.3g)", what, name, i, x[i], w[i], scale)
				return
			}
		}
	})
}

func size[F tensor.Float](x []F) float64 {
	var m float64
	for _, v := range x {
		m = max(m, math.Abs(float64(v)))
	}
	return m
}

func largest[F tensor.Float](g Grad[F]) float64 {
	return max(size(g.Theta), size(g.X), size(g.Targets))
}

func dot[F tensor.Float](a, b []F) float64 {
	var s float64
	for i, v := range a {
		s += float64(v) * float64(b[i])
	}
	return s
}

func dotGrad[F tensor.Float](a, b Grad[F]) float64 {
	return dot(a.Theta, b.Theta) + dot(a.X, b.X) + dot(a.Targets, b.Targets)
}

// TestGradient compares every component of the gradient with a central difference of the
// loss.
func TestGradient(t *testing.T) {
	const h = 1e-6
	for _, c := range cases[float64](t, tensor.Auto) {
		p := point(c, "point")
		pass := c.net.NewPass()
		loss := func(q Grad[float64]) float64 { return pass.Loss(q.Theta, q.X, q.Targets, c.n) }
		loss(p)
		g, want := newGrad(c.net, c.n), newGrad(c.net, c.n)
		pass.Gradient(g)
		at := func(x, out []float64) {
			for i, v := range x {
				x[i] = v + h
				up := loss(p)
				x[i] = v - h
				out[i] = (up - loss(p)) / (2 * h)
				x[i] = v
			}
		}
		at(p.Theta, want.Theta)
		at(p.X, want.X)
		at(p.Targets, want.Targets)
		nearGrad(t, c.name, c.net, g, want, 0, 1e-6)
	}
}

// directions returns random directions in each argument alone and in all of them.
func directions[F tensor.Float](c netCase[F]) map[string]Grad[F] {
	d := point(c, "direction")
	return map[string]Grad[F]{
		"theta":   {Theta: d.Theta},
		"x":       {X: d.X},
		"targets": {Targets: d.Targets},
		"all":     d,
		"none":    {},
	}
}

// TestTangent compares the tangent of the gradient with a central difference of
// the gradient, and the tangent of the loss with the gradient.
func TestTangent(t *testing.T) {
	const h = 1e-6
	for _, c := range cases[float64](t, tensor.Auto) {
		p := point(c, "point")
		pass, other := c.net.NewPass(), c.net.NewPass()
		pass.Loss(p.Theta, p.X, p.Targets, c.n)
		g := newGrad(c.net, c.n)
		pass.Gradient(g)
		gradient := func(q Grad[float64]) Grad[float64] {
			g := newGrad(c.net, c.n)
			other.Loss(q.Theta, q.X, q.Targets, c.n)
			other.Gradient(g)
			return g
		}
		for name, d := range directions(c) {
			what := c.name + " along " + name
			out := newGrad(c.net, c.n)
			lossT := pass.Tangent(d, out)
			up, down := gradient(shifted(p, h, d)), gradient(shifted(p, -h, d))
			want := shifted(up, -1, down)
			for _, x := range [][]float64{want.Theta, want.X, want.Targets} {
				for i := range x {
					x[i] /= 2 * h
				}
			}
			nearGrad(t, what, c.net, out, want, largest(g), 2e-6)
			if c.net.Params() > 100 && (name == "theta" || name == "x") && largest(out) < 1e-3*largest(g) {
				t.Errorf("%s: the gradient hardly changes, so the case tests nothing", what)
			}
			if want := dotGrad(d2(d, g), g); math.Abs(lossT-want) > 1e-12*max(1, math.Abs(want)) {
				t.Errorf("%s: loss changes by %g, want %g", what, lossT, want)
			}
		}
	}
}

// d2 replaces the nil parts of d by zeros.
func d2[F tensor.Float](d, like Grad[F]) Grad[F] {
	fill := func(x, like []F) []F {
		if x == nil {
			return make([]F, len(like))
		}
		return x
	}
	return Grad[F]{fill(d.Theta, like.Theta), fill(d.X, like.X), fill(d.Targets, like.Targets)}
}

// TestAdjoint checks <J (x', v), y> = <(x', v), J' y> layer by layer. Forward tangent and
// backward pass are transposes as long as no ReLU is between them.
func TestAdjoint(t *testing.T) {
	t.Run("float64", func(t *testing.T) { checkAdjoint[float64](t, tensor.Auto, 1e-12) })
	t.Run("float32", func(t *testing.T) { checkAdjoint[float32](t, tensor.Direct, 1e-4) })
	t.Run("float32 winograd", func(t *testing.T) { checkAdjoint[float32](t, tensor.Winograd, 1e-4) })
}

func checkAdjoint[F tensor.Float](t *testing.T, algo tensor.Algorithm, tol float64) {
	for _, c := range cases[F](t, algo) {
		p, d := point(c, "point"), point(c, "direction")
		for i, l := range c.net.layers {
			r := rng.Stream(3, c.name, "adjoint", fmt.Sprint(i))
			draw := func(n int) []F {
				x := make([]F, n)
				for i := range x {
					x[i] = F(r.Normal64())
				}
				return x
			}
			s := l.stage(new(workspace[F]))
			theta, v := c.net.part(p.Theta, i), c.net.part(d.Theta, i)
			x, xt := draw(c.n*l.in()), draw(c.n*l.in())
			y, yt, dy := draw(c.n*l.out()), draw(c.n*l.out()), draw(c.n*l.out())
			copyDy := append([]F(nil), dy...)
			dx, dtheta := draw(len(x)), draw(len(theta))
			if theta == nil {
				dtheta = nil
			}
			s.forward(y, x, theta, c.n, true)
			s.backward(dx, dtheta, dy)
			s.tangent(yt, xt, v)
			left, right := dot(yt, copyDy), dot(xt, dx)+dot(v, dtheta)
			scale := math.Sqrt(dot(yt, yt) * dot(copyDy, copyDy))
			if math.Abs(left-right) > tol*scale {
				t.Errorf("%s, layer %d: %g and %g differ", c.name, i, left, right)
			}
		}
	}
}
