package data

import (
	"math"
	"slices"
)

// drawSymbol draws a cross, a ring, a triangle, an arrow or a wave: a pen stroke
// in light grey on black, turned, slanted, bent, and placed off the centre, among
// specks and dashes that say nothing of the class. Any picture is as likely as its
// mirror image, so that flipping one leaves it what it is.
func drawSymbol(h hand, class int) *picture {
	p := newPicture(28, 28, 1)
	for range h.IntN(4) {
		p.speck(h)
	}
	size := h.between(7, 10)
	w := turn(mul(size, h.between(0.85, 1.1)), size, h.about(0, 0.15), h.about(0, 0.35))
	if h.chance(0.5) {
		w.a, w.c = -w.a, -w.c // the mirror image
	}
	w.at = point{14 + h.about(0, 1.2), 14 + h.about(0, 1.2)}
	w.dx, w.dy, w.bend, w.size = h.field(3), h.field(3), h.between(0.3, 1.2), 28
	radius, light := h.between(0.8, 1.5), h.between(0.6, 1)
	lines, solid := symbols[class](h)
	if solid != nil {
		p.fill(w.path(solid, true))
		p.ink(1, func(x, y, c int) float64 { return light })
	}
	for _, line := range lines {
		p.stroke(w.path(line, false), func(float64) float64 { return radius })
		p.ink(1, func(x, y, c int) float64 { return light })
	}
	p.wear(h, 0.1)
	return p
}

// symbols draw one class each: as lines, and an area or nil.
var symbols = [...]func(h hand) (lines [][]point, solid []point){cross, ring, triangle, arrow, wave}

// speck lays a dot or a dash anywhere on the picture.
func (p *picture) speck(h hand) {
	a := point{h.between(0, 28), h.between(0, 28)}
	s, c := sincos(h.between(0, 2*math.Pi))
	length, radius, light := h.between(0, 6), h.between(0.4, 1.2), h.between(0.2, 0.7)
	b := point{a.x + mul(length, c), a.y + mul(length, s)}
	p.stroke([]point{a, b}, func(float64) float64 { return radius })
	p.ink(1, func(x, y, c int) float64 { return light })
}

// cross is two bars that meet near their middles, not quite at a right angle.
func cross(h hand) (lines [][]point, solid []point) {
	lean, x, y := h.about(0, 0.12), h.about(0, 0.15), h.about(0, 0.15)
	l, r, t, b := h.between(0.75, 1), h.between(0.75, 1), h.between(0.75, 1), h.between(0.75, 1)
	return [][]point{
		{{-l, y}, {0, y}, {r, y}},
		{{x - lean, -t}, {x, 0}, {x + lean, b}},
	}, nil
}

// ring is a round stroke, closed or nearly so.
func ring(h hand) (lines [][]point, solid []point) {
	narrow, start := h.between(0.6, 1), h.between(0, 2*math.Pi)
	return [][]point{arc(point{}, narrow, 0.95, start, mul(2*math.Pi, h.between(0.92, 1.05)), 28)}, nil
}

// triangle has three like corners, and may be filled.
func triangle(h hand) (lines [][]point, solid []point) {
	var corners []point
	for k := range 3 {
		s, c := sincos(mul(2*math.Pi/3, float64(k)) - math.Pi/2 + h.about(0, 0.12))
		r := h.between(0.9, 1.15)
		corners = append(corners, point{mul(r, c), mul(r, s)})
	}
	outline := append(slices.Clone(corners), corners[0])
	if h.chance(0.4) {
		solid = corners
	}
	return [][]point{outline}, solid
}

// arrow is a bowed shaft with barbs at one end, which may be filled in.
func arrow(h hand) (lines [][]point, solid []point) {
	bow := h.about(0, 0.1)
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

// wave runs up and down once or twice.
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
