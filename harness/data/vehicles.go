package data

import "math"

// drawVehicle draws an aeroplane (class 0) or a car (class 1) from the side, in front of
// sky, grass or tarmac. The surroundings say little about the class.
func drawVehicle(h hand, class int) *picture {
	s := &scene{newPicture(32, 32, 3), h, warp{}}
	s.background(class)
	w := turn(h.between(9.5, 14.5), h.between(9.5, 14.5), h.about(0.1), h.about(0.06))
	if class == 0 {
		w = turn(h.between(10, 15), h.between(10, 15), h.about(0.1), h.about(0.18))
	}
	if h.chance(0.5) {
		w.a, w.c = -w.a, -w.c // facing the other way
	}
	w.at = point{16 + h.about(1.6), 16.5 + h.about(1.6)}
	w.dx, w.dy, w.bend, w.size = h.field(3), h.field(3), h.between(0, 0.6), 32
	s.warp = w
	if class == 0 {
		s.plane()
	} else {
		s.car()
	}
	s.finish()
	return s.picture
}

type rgb [3]float64

// scene is a picture, the hand that draws it, and where its object stands.
type scene struct {
	*picture
	hand
	warp warp
}

// paint returns a colour of metal: often a grey, else any hue.
func (s *scene) paint() rgb {
	v := s.between(0.35, 1)
	if s.chance(0.4) {
		return rgb{v, v, clamp01(v + s.about(0.03))}
	}
	pale, hue := s.between(0.1, 0.5), s.between(0, 2*math.Pi)
	var c rgb
	for i := range c {
		_, co := sincos(hue + mul(2*math.Pi/3, float64(i)))
		c[i] = mul(v, lerp(clamp01(0.5+mul(0.7, co)), 0.7, pale))
	}
	return c
}

func grey(v float64) rgb { return rgb{v, v, v} }

func (c rgb) times(k float64) rgb {
	return rgb{clamp01(mul(c[0], k)), clamp01(mul(c[1], k)), clamp01(mul(c[2], k))}
}

// shape fills a polygon given in the object's coordinates.
func (s *scene) shape(c rgb, poly ...point) { s.lay(c, 1, s.warp.path(poly, true)) }

// round fills an ellipse given in the object's coordinates.
func (s *scene) round(c rgb, at point, rx, ry float64) {
	s.shape(c, arc(at, rx, ry, 0, 2*math.Pi, 14)[1:]...)
}

// lay fills a polygon given in pixels.
func (s *scene) lay(c rgb, opacity float64, poly []point) {
	s.fill(poly)
	s.ink(opacity, func(x, y, i int) float64 { return c[i] })
}

// background draws what lies behind and below.
func (s *scene) background(class int) {
	top, low := s.sky()
	s.each(func(x, y, c int, v float64) float64 { return lerp(top[c], low[c], float64(y)/31) })
	s.clouds()
	if s.chance([2]float64{0.5, 0.2}[class]) {
		return
	}
	horizon, v := s.between(9, 24), s.between(0.25, 0.65)
	ground := grey(v)  // tarmac
	if s.chance(0.5) { // grass or sand
		ground = rgb{mul(v, s.between(0.6, 1.3)), v, mul(v, s.between(0.3, 0.7))}
	}
	tilt := s.about(1)
	s.lay(ground, 1, []point{{0, horizon - tilt}, {32, horizon + tilt}, {32, 32}, {0, 32}})
}

// sky returns two colours from blue, grey or evening light.
func (s *scene) sky() (top, low rgb) {
	v := s.between(0.45, 0.95)
	switch s.IntN(4) {
	case 0: // overcast
		top = rgb{v, v, v}
	case 1: // evening
		top = rgb{v, mul(v, s.between(0.5, 0.8)), mul(v, s.between(0.4, 0.8))}
	default:
		top = rgb{mul(v, s.between(0.3, 0.7)), mul(v, s.between(0.6, 0.85)), v}
	}
	return top, top.times(s.between(0.9, 1.4))
}

// clouds lay soft white or dark patches over the picture.
func (s *scene) clouds() {
	f, g := s.field(3), s.field(7)
	amount, tone := s.between(0, 0.6), s.between(0.3, 1)
	s.each(func(x, y, c int, v float64) float64 {
		p, q := float64(x)/32, float64(y)/32
		a := mul(amount, clamp01(f.at(p, q)+mul(0.4, g.at(p, q))))
		return lerp(v, tone, a)
	})
}

// plane draws an aeroplane, nose to the left.
func (s *scene) plane() {
	body := s.paint()
	dark, thick := body.times(s.between(0.5, 0.8)), s.between(0.13, 0.22)
	fin := dark
	if s.chance(0.4) {
		fin = s.paint()
	}
	s.shape(fin, point{0.55, -mul(thick, 0.5)}, point{0.82, -s.between(0.45, 0.7)}, point{1, -s.between(0.45, 0.65)}, point{0.95, 0})
	s.shape(dark, point{0.62, -0.05}, point{0.95, -0.22}, point{1.1, -0.2}, point{0.92, 0.02})
	hull := arc(point{-0.55, 0}, 0.42, thick, math.Pi/2, math.Pi, 8)
	hull = append(hull, point{0.5, -thick}, point{1, -mul(thick, 0.8)}, point{0.95, -mul(thick, 0.2)}, point{0.45, thick})
	s.shape(body, hull...)
	sweep, drop := s.between(0.2, 0.6), s.between(0.25, 0.6)
	s.shape(dark, point{-0.3, 0.05}, point{0.2, 0.05}, point{0.25 + sweep, drop}, point{0.1 + sweep, drop})
	if s.chance(0.6) {
		s.shape(dark.times(0.7), point{-0.2, 0.2}, point{0.1, 0.2}, point{0.1, 0.34}, point{-0.2, 0.34})
	}
	s.round(body.times(0.3), point{-0.82, -0.05}, 0.08, 0.05)
}

// car draws a car, front to the left.
func (s *scene) car() {
	body := s.paint()
	glass, tyre := grey(s.between(0.1, 0.6)), s.between(0.02, 0.15)
	sill, belt := s.between(0.25, 0.36), -s.between(0.02, 0.16)
	roof := belt - s.between(0.3, 0.45)
	front, back := -s.between(0.5, 0.7), s.between(0.5, 0.95)
	rf, rb := front+s.between(0.15, 0.35), back-s.between(0.03, 0.3)
	s.round(grey(0), point{0, 0.47}, 1, 0.07) // shadow
	s.shape(body, point{-1, sill}, point{-1, belt + 0.17}, point{-0.92, belt + 0.08}, point{front, belt},
		point{rf, roof}, point{rb, roof}, point{back, belt}, point{0.96, belt + 0.04}, point{1, sill})
	mid := lerp(rf, rb, s.between(0.4, 0.6))
	s.shape(glass, point{front + 0.12, belt}, point{rf + 0.04, roof + 0.08}, point{mid - 0.04, roof + 0.08}, point{mid - 0.04, belt})
	s.shape(glass, point{mid + 0.04, belt}, point{mid + 0.04, roof + 0.08}, point{rb - 0.04, roof + 0.08}, point{back - 0.1, belt})
	r := s.between(0.17, 0.25)
	for _, x := range [2]float64{-s.between(0.55, 0.68), s.between(0.52, 0.68)} {
		s.round(grey(tyre), point{x, sill + 0.03}, r, mul(r, 1.05))
		s.round(grey(s.between(0.4, 0.9)), point{x, sill + 0.03}, mul(r, 0.5), mul(r, 0.5))
	}
	s.round(rgb{1, 0.9, 0.6}, point{-0.95, belt + 0.2}, 0.06, 0.05)
}

// finish adds light from one side, blur, and the noise of a camera.
func (s *scene) finish() {
	s.blur(s.between(0, 0.25))
	angle, depth := s.between(0, 2*math.Pi), s.between(0, 0.25)
	sn, co := sincos(angle)
	gain, noise := s.between(0.75, 1.1), s.between(0.01, 0.06)
	s.each(func(x, y, c int, v float64) float64 {
		side := mul(sn, float64(x)/16-1) + mul(co, float64(y)/16-1)
		return mul(mul(v, gain), 1+mul(depth, side)) + mul(noise, s.Normal64())
	})
}
