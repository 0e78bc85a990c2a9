package data

import "math"

// drawGlyph draws a handwritten 0 or 1: a pen stroke in light grey on black,
// turned, slanted, bent, and placed off the centre.
func drawGlyph(h hand, class int) *picture {
	p := newPicture(28, 28, 1)
	w := turn(h.between(5.5, 8.5), h.between(7, 9.8), h.about(0, 0.2), h.about(0, 0.25))
	w.at = point{14 + h.about(0, 1.2), 14 + h.about(0, 1.2)}
	w.dx, w.dy, w.bend, w.size = h.field(3), h.field(3), h.between(0.6, 2), 28
	radius := h.between(0.7, 1.7)
	swell, light := h.about(0, 0.3), h.between(0.55, 1)
	lines := [][]point{}
	if class == 0 {
		lines = append(lines, zero(h))
	} else {
		lines = one(h)
	}
	for _, line := range lines {
		p.stroke(w.path(line, false), func(t float64) float64 {
			return max(0.45, mul(radius, 1+mul(swell, t-0.5)))
		})
		p.ink(1, func(x, y, c int) float64 { return light })
	}
	p.wear(h, 0.12)
	return p
}

// wear blurs a picture of pen strokes, and adds stains and noise up to a level.
func (p *picture) wear(h hand, level float64) {
	p.blur(h.between(0, 0.25))
	noise, stain := h.between(0.01, level), h.field(4)
	murk := h.between(0, 0.12)
	p.each(func(x, y, c int, v float64) float64 {
		s := mul(murk, stain.at((float64(x)+0.5)/28, (float64(y)+0.5)/28))
		return v + s + mul(noise, h.Normal64())
	})
}

// zero is one round stroke that need not close, or overlaps itself.
func zero(h hand) []point {
	narrow := h.between(0.4, 0.95)
	t0 := -math.Pi/2 + h.about(0, 0.5)
	round := h.between(0.88, 1.1)
	if h.chance(0.5) {
		round = -round
	}
	line := arc(point{}, narrow, 1, t0, 2*math.Pi*round, 28)
	pinch, spiral := h.about(0, 0.12), h.about(0, 0.12)
	for i, q := range line {
		k := 1 + mul(pinch, q.y) + mul(spiral, float64(i)/28)
		line[i] = point{mul(q.x, k), mul(q.y, 1+mul(spiral, float64(i)/28))}
	}
	return line
}

// one is a stem, bowed a little, sometimes with a flag, then sometimes a foot.
func one(h hand) [][]point {
	bow, lean := h.about(0, 0.15), h.about(0, 0.12)
	stem := make([]point, 9)
	for i := range stem {
		y := float64(i)/4 - 1
		stem[i] = point{mul(lean, y) + mul(bow, 1-mul(y, y)), y}
	}
	lines := [][]point{stem}
	top, foot := stem[0], stem[8]
	if h.chance(0.5) {
		end := point{top.x - h.between(0.25, 0.8), top.y + h.between(0.15, 0.75)}
		lines = append(lines, []point{end, {lerp(end.x, top.x, 0.6), lerp(end.y, top.y, 0.7)}, top})
		if h.chance(0.5) {
			l, r := h.between(0.2, 0.6), h.between(0.2, 0.6)
			lines = append(lines, []point{{foot.x - l, foot.y}, foot, {foot.x + r, foot.y + h.about(0, 0.06)}})
		}
	}
	return lines
}
