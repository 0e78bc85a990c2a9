package report

import (
	"dgkip/harness/report/chart"
	"gonum.org/v1/plot/vg"
)

// paradigms is a drawing that needs no records.
var paradigms = &chart.Diagram{Width: 484, Height: 226, Draw: drawParadigms}

// Colours of the boxes of a diagram.
const (
	learned, trained, solved, once = 0, 1, 2, 3
	plain                          = chart.Grey
	minimised                      = chart.Ink
)

// drawParadigms sets three ways of distilling side by side: what an update of the
// synthetic set computes, and how far its gradient has to go.
func drawParadigms(d chart.Pen) {
	const boxW, boxH, step, top, panel = 122, 34, 50, 212, 160
	for i, c := range []struct {
		title, line string
		color       int
		model, goal [2]string
		gradient    string
		given       string
		givenColor  int
	}{
		{"(a) Bi-level", "two loops, one in the other", trained,
			[2]string{"train on *S*, again and again", "*θ*_0_ → *θ*_1_ → … → *θ*_*T*_ = *θ*_*S*_"},
			[2]string{"minimise", "the loss of *θ*_*S*_ on *O*"},
			"gradient, back through *T* steps", "real set *O*", plain},
		{"(b) KIP", "one loop, squared loss only", solved,
			[2]string{"kernel ridge, in closed form", "*c* = (*K*_*SS*_ + *λI*)^−1^ *y*_*S*_"},
			[2]string{"minimise", "||*y*_*O*_ − *K*_*OS*_ *c*||^2^"},
			"gradient, through the solve", "real set *O*", plain},
		{"(c) DGKIP", "one loop, any convex loss", solved,
			[2]string{"a dual point, in closed form", "*α* = −∂ℓ(*y*_*S*_, *f*(*S*; *θ*_*O*_))"},
			[2]string{"minimise the duality gap", "*P*_*S*_(*θ*_*O*_) − *D*_*S*_(*α*)"},
			"gradient, one pass", "*θ*_*O*_, trained once on *O*", once},
	} {
		x := vg.Length(boxW/2 + 4 + i*panel + i/2*8) // the last has an arrow on its left
		at := func(dx vg.Length, row int, dy vg.Length) vg.Point {
			return vg.Point{X: x + dx, Y: top - 46 - vg.Length(row*step) + dy}
		}
		box := func(row int, h vg.Length, color int, lines ...string) {
			d.Box(x, at(0, row, 0).Y, boxW, h, color, lines...)
		}
		d.Title(x+8, top, c.title)
		d.Words(x+8, top-13, plain, c.line)
		box(0, boxH, learned, "synthetic set *S*", "images and labels")
		if i == 0 { // a model for every update
			for k := vg.Length(2); k > 0; k-- {
				d.Box(x+2.5*k, at(0, 1, -2.5*k).Y, boxW, boxH, c.color)
			}
		}
		box(1, boxH, c.color, c.model[:]...)
		box(2, boxH, minimised, c.goal[:]...)
		box(3, boxH-10, c.givenColor, c.given)
		d.Arrow(minimised, at(0, 0, -boxH/2), at(0, 1, boxH/2))
		d.Arrow(minimised, at(0, 1, -boxH/2), at(0, 2, boxH/2))
		d.Arrow(minimised, at(0, 3, boxH/2-5), at(0, 2, -boxH/2))
		if i == 2 { // the dual point needs the model, too
			d.Arrow(once, at(-boxW/2, 3, 0), at(-boxW/2-9, 3, 0), at(-boxW/2-9, 1, 0), at(-boxW/2, 1, 0))
		}
		d.Arrow(learned, at(boxW/2, 2, 0), at(boxW/2+13, 2, 0), at(boxW/2+13, 0, 0), at(boxW/2, 0, 0))
		d.Upwards(x+boxW/2+21, at(0, 1, 0).Y, learned, c.gradient)
	}
}
