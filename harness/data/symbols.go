package data

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"dgkip/harness/rng"
)

// drawnSets describes the datasets that this package draws: symbols in grey and in colour. Image i of
// a split has its own random stream, and class i mod 5.
var drawnSets = []Info{symbolSet("symbols", "Symbols", "grey", 28, 1), symbolSet("colour-symbols", "Colour symbols", "colour", 32, 3)}

func symbolSet(name, title, colour string, side, channels int) Info {
	return Info{
		Name: name, Title: title + " (built-in)", BuiltIn: true, Classes: []string{"cross", "ring", "triangle", "arrow", "wave"},
		Text:  fmt.Sprintf("crosses, rings, triangles, arrows and waves, %dx%d %s, drawn by this program", side, side, colour),
		Shape: Shape{side, side, channels},
	}
}

// drawn holds the sets that have been drawn, by name.
var drawn sync.Map

// draw returns a drawn set. The first call draws it.
func (i *Info) draw() *Set {
	once, _ := drawn.LoadOrStore(i.Name, sync.OnceValue(func() *Set {
		return &Set{
			Name: i.Name, Classes: i.Classes, Shape: i.Shape, BuiltIn: true, Verified: true,
			Train: i.drawSplit("train", 2000),
			Test:  i.drawSplit("test", 500),
		}
	}))
	return once.(func() *Set)()
}

// drawSplit draws the first n images of a split.
func (i *Info) drawSplit(split string, n int) Split {
	dim := i.Dim()
	s := Split{make([]byte, n*dim), make([]int, n)}
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		wait.Go(func() {
			for k := worker; k < n; k += workers {
				s.Labels[k] = k % len(symbols)
				h := hand{rng.Stream(1, "data", i.Name, split, strconv.Itoa(k))}
				drawSymbol(h, symbols[s.Labels[k]], i.H, i.Ch).bytes(s.Images[k*dim : (k+1)*dim])
			}
		})
	}
	wait.Wait()
	return s
}

// symbol returns the lines of a symbol, and an area to fill or nil.
type symbol func(h hand) (lines [][]point, solid []point)

var symbols = []symbol{cross, ring, triangle, arrow, wave}

// drawSymbol draws a symbol that is rotated, slanted, bent and shifted, among dots and dashes that do
// not depend on the class. Grey pictures are light on black; the others use any colour on a tinted
// background. A picture is as likely as its mirror image.
func drawSymbol(h hand, symbol symbol, side, channels int) *picture {
	p := newPicture(side, channels)
	unit := float64(side) / 28
	if channels > 1 {
		ground := p.tint(h, h.between(0, 0.8))
		p.each(func(x, y, c int, v float64) float64 { return ground(c) })
	}
	for range h.IntN(4) {
		p.speck(h)
	}
	size := mul(unit, h.between(7, 10))
	w := turn(mul(size, h.between(0.85, 1.1)), size, h.about(0.15), h.about(0.35))
	if h.chance(0.5) {
		w.a, w.c = -w.a, -w.c
	}
	centre := float64(side) / 2
	w.at = point{centre + h.about(1.2), centre + h.about(1.2)}
	w.dx, w.dy, w.bend, w.size = h.field(3), h.field(3), h.between(0.3, 1.2), float64(side)
	radius, light := h.between(0.8, 1.5), h.between(0.6, 1)
	colour := p.tint(h, light)
	lines, solid := symbol(h)
	if solid != nil {
		p.fill(w.path(solid, true))
		p.ink(colour)
	}
	for _, line := range lines {
		p.stroke(w.path(line, false), mul(unit, radius))
		p.ink(colour)
	}
	p.blur(h.between(0, 0.25))
	noise, stain := h.between(0.01, 0.1), h.field(4)
	murk := h.between(0, 0.12)
	p.each(func(x, y, c int, v float64) float64 {
		s := mul(murk, stain.at((float64(x)+0.5)/float64(side), (float64(y)+0.5)/float64(side)))
		return v + s + mul(noise, h.Normal64())
	})
	return p
}

// tint returns a colour of the given lightness: grey, or any hue in a coloured picture.
func (p *picture) tint(h hand, light float64) func(c int) float64 {
	colour := make([]float64, p.ch)
	for c := range colour {
		colour[c] = light
		if p.ch > 1 {
			colour[c] = mul(light, h.between(0.3, 1))
		}
	}
	return func(c int) float64 { return colour[c] }
}

// speck draws a dot or a dash anywhere on the picture.
func (p *picture) speck(h hand) {
	side := float64(p.side)
	a := point{h.between(0, side), h.between(0, side)}
	s, c := sincos(h.between(0, 2*math.Pi))
	length, radius, light := h.between(0, 6), h.between(0.4, 1.2), h.between(0.2, 0.7)
	p.stroke([]point{a, {a.x + mul(length, c), a.y + mul(length, s)}}, radius)
	p.ink(p.tint(h, light))
}

// cross returns two bars that meet near their middles, almost at a right angle.
func cross(h hand) (lines [][]point, solid []point) {
	lean, x, y := h.about(0.12), h.about(0.15), h.about(0.15)
	l, r, t, b := h.between(0.75, 1), h.between(0.75, 1), h.between(0.75, 1), h.between(0.75, 1)
	return [][]point{
		{{-l, y}, {0, y}, {r, y}},
		{{x - lean, -t}, {x, 0}, {x + lean, b}},
	}, nil
}

// ring returns a round line, closed or nearly so.
func ring(h hand) (lines [][]point, solid []point) {
	const steps = 28
	narrow, start := h.between(0.6, 1), h.between(0, 2*math.Pi)
	angle := mul(2*math.Pi, h.between(0.92, 1.05))
	line := make([]point, steps+1)
	for i := range line {
		s, c := sincos(start + mul(angle, float64(i)/steps))
		line[i] = point{mul(narrow, c), mul(0.95, s)}
	}
	return [][]point{line}, nil
}

// triangle returns an almost regular triangle, which may be filled.
func triangle(h hand) (lines [][]point, solid []point) {
	var corners []point
	for k := range 3 {
		s, c := sincos(mul(2*math.Pi/3, float64(k)) - math.Pi/2 + h.about(0.12))
		r := h.between(0.9, 1.15)
		corners = append(corners, point{mul(r, c), mul(r, s)})
	}
	outline := append(slices.Clone(corners), corners[0])
	if h.chance(0.4) {
		solid = corners
	}
	return [][]point{outline}, solid
}

// arrow returns a bent shaft with barbs at one end, which may be filled.
func arrow(h hand) (lines [][]point, solid []point) {
	bow := h.about(0.1)
	shaft := make([]point, 7)
	for i := range shaft {
		x := float64(i)/3 - 1
		shaft[i] = point{x, mul(bow, 1-mul(x, x))}
	}
	tip := shaft[6]
	back, wide := tip.x-h.between(0.5, 0.75), h.between(0.42, 0.65)
	head := []point{{back, wide}, tip, {back, -wide}}
	if h.chance(0.4) {
		solid = head
	}
	return [][]point{shaft, head}, solid
}

// wave returns a line that goes up and down once or twice.
func wave(h hand) (lines [][]point, solid []point) {
	swing, length := h.between(0.3, 0.55), mul(2*math.Pi, h.between(1.1, 1.7))
	phase := h.between(0, 2*math.Pi)
	line := make([]point, 25)
	for i := range line {
		t := float64(i) / 24
		s, _ := sincos(phase + mul(length, t))
		line[i] = point{lerp(-1.1, 1.1, t), mul(swing, s)}
	}
	return [][]point{line}, nil
}
