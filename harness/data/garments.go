package data

import "math"

// drawGarment draws a shirt (class 0) or a pair of trousers (class 1) as it lies
// on a dark table: a bent silhouette with a pattern, folds and a seam.
func drawGarment(h hand, class int) *picture {
	p := newPicture(28, 28, 1)
	w := turn(h.between(6.5, 10.5), h.between(8, 12.5), h.about(0.1), h.about(0.2))
	w.at = point{14 + h.about(1.8), 14 + h.about(1.5)}
	w.dx, w.dy, w.bend, w.size = h.field(3), h.field(3), h.between(0.3, 1), 28
	outline, seams := shirt, shirtSeams
	if class == 1 {
		outline, seams = trousers, trouserSeams
	}
	p.fill(w.path(mirror(outline(h)), true))
	light := cloth(h)
	p.ink(1, func(x, y, c int) float64 { return light(float64(x), float64(y)) })
	body := p.cover
	p.cover = make([]float64, len(body))
	dark := h.between(0.25, 0.7)
	for _, line := range seams(h) {
		p.stroke(w.path(line, false), 0.3)
		for i := range p.cover {
			p.cover[i] = min(p.cover[i], body[i])
		}
		p.ink(dark, func(x, y, c int) float64 { return 0.05 })
	}
	p.blur(h.between(0, 0.2))
	noise := h.between(0.005, 0.06)
	p.each(func(x, y, c int, v float64) float64 { return v + mul(noise, h.Normal64()) })
	return p
}

// shirt returns the right half of an outline from neck to hem. The sleeves may be
// short or long, and hang down or stand out.
func shirt(h hand) []point {
	neck, chest, hem := h.between(0.16, 0.3), h.between(0.4, 0.6), h.between(0.4, 0.68)
	shoulder := point{chest + h.between(0.05, 0.18), -0.78 + h.about(0.04)}
	length, width := h.between(0.35, 1.4), h.between(0.2, 0.34)
	s, c := sincos(h.between(0.12, 1.1)) // from hanging straight down
	along := point{mul(length, s), mul(length, c)}
	across := point{-mul(width, c), mul(width, s)}
	tip := point{shoulder.x + along.x, shoulder.y + along.y}
	return []point{
		{0, -0.9 + h.between(0.03, 0.35)}, {neck, -0.92}, shoulder, tip,
		{tip.x + across.x, tip.y + across.y},
		{min(chest, shoulder.x+across.x), shoulder.y + h.between(0.25, 0.45)},
		{hem, h.between(0.6, 0.98)}, {0, 0.9},
	}
}

// shirtSeams are sometimes a row of buttons down the front, or the sleeves' seams.
func shirtSeams(h hand) (lines [][]point) {
	if h.chance(0.4) {
		lines = append(lines, []point{{0, -0.7}, {h.about(0.05), 0.9}})
	}
	if h.chance(0.4) {
		x := h.between(0.42, 0.6)
		lines = append(lines, []point{{x, -0.8}, {x - 0.05, -0.3}}, []point{{-x, -0.8}, {0.05 - x, -0.3}})
	}
	return lines
}

// trousers returns the right half of an outline from waist to crotch. The legs
// may be wide or tight, close together or apart, and cut off above the knee.
func trousers(h hand) []point {
	waist := h.between(0.3, 0.52)
	hip := waist + h.between(0.03, 0.16)
	gap, leg := h.between(0.02, 0.2), h.between(0.2, 0.45)
	end := h.between(0.25, 0.98)
	return []point{
		{0, -0.92}, {waist, -0.92}, {hip, -0.45 + h.about(0.05)},
		{gap + leg, end}, {gap, end}, {mul(gap, 0.4), -0.3 + h.between(0, 0.35)},
		{0, -0.35 + h.between(0, 0.2)},
	}
}

// trouserSeams are a belt, and sometimes a crease down each leg.
func trouserSeams(h hand) (lines [][]point) {
	if h.chance(0.6) {
		lines = append(lines, []point{{-0.5, -0.78}, {0.5, -0.78}})
	}
	if h.chance(0.4) {
		lines = append(lines, []point{{0.25, -0.5}, {0.3, 0.9}}, []point{{-0.25, -0.5}, {-0.3, 0.9}})
	}
	return lines
}

// cloth returns how light a fabric is at a pixel: a ground, one of several
// patterns, and soft folds.
func cloth(h hand) func(x, y float64) float64 {
	ground, depth := h.between(0.35, 1), h.between(0.15, 0.5)
	kind := h.IntN(5)
	s, c := sincos(h.about(0.25))
	period, phase := h.between(3, 8), h.between(0, 2*math.Pi)
	fold, size := h.field(4), h.between(0.03, 0.14)
	wave := func(t float64) float64 {
		v, _ := sincos(mul(t, 2*math.Pi/period) + phase)
		return mul(0.5, 1+v)
	}
	return func(x, y float64) float64 {
		u, v := mul(c, x)+mul(s, y), mul(c, y)-mul(s, x)
		pattern := 0.0
		switch kind {
		case 0: // rows
			pattern = wave(v)
		case 1: // stripes
			pattern = wave(u)
		case 2: // checks
			pattern = mul(wave(u), wave(v))
		case 3: // a light panel in the middle
			d := mul((u-14)/5, (u-14)/5) + mul((v-12)/5, (v-12)/5)
			pattern = 1 - clamp01(d)
		}
		return clamp01(ground+mul(size, fold.at(x/28, y/28))) - mul(mul(ground, depth), pattern)
	}
}
