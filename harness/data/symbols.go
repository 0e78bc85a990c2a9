package data

import (
	"math"
	"slices"
)

// sign draws one class of signs: as lines of a pen, and an area or nil.
type sign func(h hand) (lines [][]point, solid []point)

// drawGlyph draws a handwritten 0 or 1.
func drawGlyph(h hand, class int) *picture { return drawSign(h, []sign{zero, one}[class], false) }

// drawSymbol draws a cross, a ring, a triangle, an arrow or a wave. Any picture is as
// likely as its mirror image, so that flipping one leaves it what it is.
func drawSymbol(h hand, class int) *picture {
	return drawSign(h, []sign{cross, ring, triangle, arrow, wave}[class], true)
}

// drawSign draws a sign with a pen, in light grey on black, turned, slanted, bent, and
// placed off the centre, among specks and dashes that say nothing of the class.
func drawSign(h hand, sign sign, mirrored bool) *picture {
	p := newPicture(28, 28, 1)
	for range h.IntN(4) {
		p.speck(h)
	}
	size := h.between(7, 10)
	w := turn(mul(size, h.between(0.85, 1.1)), size, h.about(0.15), h.about(0.35))
	if mirrored && h.chance(0.5) {
		w.a, w.c = -w.a, -w.c
	}
	w.at = point{14 + h.about(1.2), 14 + h.about(1.2)}
	w.dx, w.dy, w.bend, w.size = h.field(3), h.field(3), h.between(0.3, 1.2), 28
	radius, light := h.between(0.8, 1.5), h.between(0.6, 1)
	lines, solid := sign(h)
	if solid != nil {
		p.fill(w.path(solid, true))
		p.ink(1, func(x, y, c int) float64 { return light })
	}
	for _, line := range lines {
		p.stroke(w.path(line, false), radius)
		p.ink(1, func(x, y, c int) float64 { return light })
	}
	p.blur(h.between(0, 0.25))
	noise, stain := h.between(0.01, 0.1), h.field(4)
	murk := h.between(0, 0.12)
	p.each(func(x, y, c int, v float64) float64 {
		s := mul(murk, stain.at((float64(x)+0.5)/28, (float64(y)+0.5)/28))
		return v + s + mul(noise, h.Normal64())
	})
	return p
}

// speck lays a dot or a dash anywhere on the picture.
func (p *picture) speck(h hand) {
	a := point{h.between(0, 28), h.between(0, 28)}
	s, c := sincos(h.between(0, 2*math.Pi))
	length, radius, light := h.between(0, 6), h.between(0.4, 1.2), h.between(0.2, 0.7)
	b := point{a.x + mul(length, c), a.y + mul(length, s)}
	p.stroke([]point{a, b}, radius)
	p.ink(1, func(x, y, c int) float64 { return light })
}

// one is a stem, bowed a little, most often with a flag.
func one(h hand) (lines [][]point, solid []point) {
	bow := h.about(0.25)
	stem := make([]point, 9)
	for i := range stem {
		y := float64(i)/4 - 1
		stem[i] = point{mul(bow, 1-mul(y, y)), y}
	}
	lines = [][]point{stem}
	if h.chance(0.7) {
		lines = append(lines, []point{{-h.between(0.25, 0.8), h.between(-0.85, -0.25)}, stem[0]})
	}
	return lines, nil
}

// cross is two bars that meet near their middles, not quite at a right angle.
func cross(h hand) (lines [][]point, solid []point) {
	lean, x, y := h.about(0.12), h.about(0.15), h.about(0.15)
	l, r, t, b := h.between(0.75, 1), h.between(0.75, 1), h.between(0.75, 1), h.between(0.75, 1)
	return [][]point{
		{{-l, y}, {0, y}, {r, y}},
		{{x - lean, -t}, {x, 0}, {x + lean, b}},
	}, nil
}

// ring is a round stroke, closed or nearly so, and zero one that may be narrower.
func ring(h hand) (lines [][]point, solid []point) { return round(h, 0.6), nil }
func zero(h hand) (lines [][]point, solid []point) { return round(h, 0.35), nil }

func round(h hand, narrowest float64) [][]point {
	narrow, start := h.between(narrowest, 1), h.between(0, 2*math.Pi)
	return [][]point{arc(point{}, narrow, 0.95, start, mul(2*math.Pi, h.between(0.92, 1.05)), 28)}
}

// triangle has three like corners, and may be filled.
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

// arrow is a bowed shaft with barbs at one end, which may be filled in.
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
