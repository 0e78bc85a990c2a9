package data

import (
	"math"
	"slices"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
)

// Pictures must have the same bytes on every machine. Every product that feeds a sum is rounded
// by an explicit conversion, and elementary functions come from fmath.

// point is a place on a picture in pixels; the first pixel spans [0, 1).
type point struct{ x, y float64 }

// mul returns x*y. The conversion prevents the compiler from fusing the product with a sum.
func mul(x, y float64) float64 { return float64(x * y) }

func lerp(a, b, t float64) float64 { return a + mul(t, b-a) }

func clamp01(x float64) float64 { return min(max(x, 0), 1) }

func sincos(a float64) (s, c float64) { return fmath.Sin(a), fmath.Cos(a) }

// ease rises smoothly from 0 to 1 for t in [0, 1].
func ease(t float64) float64 { return mul(mul(t, t), 3-mul(2, t)) }

// hand makes the random choices for a picture.
type hand struct{ *rng.Rand }

func (h hand) between(lo, hi float64) float64 { return lerp(lo, hi, h.Float64()) }

func (h hand) chance(p float64) bool { return h.Float64() < p }

// about returns a normal number with mean 0 and standard deviation sd, clipped at two deviations.
func (h hand) about(sd float64) float64 { return mul(sd, min(max(h.Normal64(), -2), 2)) }

// field is smooth noise on the unit square: random values on a lattice with n steps a side, and
// smooth interpolation between them.
type field struct {
	n int
	v []float64 // [n+1, n+1]
}

func (h hand) field(n int) field {
	f := field{n, make([]float64, (n+1)*(n+1))}
	for i := range f.v {
		f.v[i] = h.about(1)
	}
	return f
}

func (f field) at(u, v float64) float64 {
	x, y := mul(clamp01(u), float64(f.n)), mul(clamp01(v), float64(f.n))
	i, j := min(int(x), f.n-1), min(int(y), f.n-1)
	s, t := ease(x-float64(i)), ease(y-float64(j))
	k := j*(f.n+1) + i
	return lerp(lerp(f.v[k], f.v[k+1], s), lerp(f.v[k+f.n+1], f.v[k+f.n+2], s), t)
}

// warp maps a shape to pixels, by an affine map and then a smooth displacement. The coordinates of
// shapes are roughly within [-1, 1], with y downwards.
type warp struct {
	a, b, c, d float64 // x' = a x + b y, y' = c x + d y
	at         point
	dx, dy     field
	bend       float64 // size of the displacement in pixels; 0 for none
	size       float64 // of the picture
}

// turn returns a linear map that scales by sx and sy, slants by shear, and then rotates by angle.
func turn(sx, sy, shear, angle float64) warp {
	s, c := sincos(angle)
	return warp{
		a: mul(c, sx), b: mul(mul(c, shear)-s, sy),
		c: mul(s, sx), d: mul(mul(s, shear)+c, sy),
	}
}

func (w *warp) point(p point) point {
	x := mul(w.a, p.x) + mul(w.b, p.y) + w.at.x
	y := mul(w.c, p.x) + mul(w.d, p.y) + w.at.y
	if w.bend == 0 {
		return point{x, y}
	}
	u, v := x/w.size, y/w.size
	return point{x + mul(w.bend, w.dx.at(u, v)), y + mul(w.bend, w.dy.at(u, v))}
}

// path maps a polygon or a line. It adds points on the edges, so that these bend too.
func (w *warp) path(p []point, closed bool) []point {
	out := make([]point, 0, 4*len(p)+1)
	for i, a := range p {
		b := p[(i+1)%len(p)]
		if i == len(p)-1 && !closed {
			return append(out, w.point(a))
		}
		for k := range 4 {
			t := float64(k) / 4
			out = append(out, w.point(point{lerp(a.x, b.x, t), lerp(a.y, b.y, t)}))
		}
	}
	return out
}

// scan is the number of scan lines in a row of pixels.
const scan = 4

// picture is a canvas, with buffers for the shape that is being drawn.
type picture struct {
	side, ch int
	px       []float64 // [side, side, ch], 0 for black and 1 for white
	cover    []float64 // [side, side], the part of each pixel that the shape covers
	xs       []float64 // where a scan line crosses the shape's edges
}

func newPicture(side, ch int) *picture {
	return &picture{side: side, ch: ch, px: make([]float64, side*side*ch), cover: make([]float64, side*side)}
}

// fill sets cover to a polygon, by the even-odd rule.
func (p *picture) fill(poly []point) {
	clear(p.cover)
	for row := range p.side {
		for s := range scan {
			y := float64(row) + (float64(s)+0.5)/scan
			p.xs = p.xs[:0]
			for i, a := range poly {
				b := poly[(i+1)%len(poly)]
				if (a.y <= y) != (b.y <= y) {
					p.xs = append(p.xs, lerp(a.x, b.x, (y-a.y)/(b.y-a.y)))
				}
			}
			slices.Sort(p.xs)
			for i := 0; i+1 < len(p.xs); i += 2 {
				p.span(row, p.xs[i], p.xs[i+1])
			}
		}
	}
}

// span adds a scan line from x0 to x1 to cover.
func (p *picture) span(row int, x0, x1 float64) {
	x0, x1 = max(x0, 0), min(x1, float64(p.side))
	if x0 >= x1 {
		return
	}
	line := p.cover[row*p.side : (row+1)*p.side]
	for i := int(x0); i < p.side && float64(i) < x1; i++ {
		line[i] += (min(x1, float64(i+1)) - max(x0, float64(i))) / scan
	}
}

// stroke sets cover to a line drawn with a round pen of radius r.
func (p *picture) stroke(line []point, r float64) {
	clear(p.cover)
	for k := 0; k+1 < len(line); k++ {
		a, b := line[k], line[k+1]
		dx, dy := b.x-a.x, b.y-a.y
		l2 := max(mul(dx, dx)+mul(dy, dy), 1e-12)
		x0, x1 := p.bounds(a.x, b.x, r)
		y0, y1 := p.bounds(a.y, b.y, r)
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				px, py := float64(x)+0.5-a.x, float64(y)+0.5-a.y
				t := clamp01((mul(px, dx) + mul(py, dy)) / l2)
				ex, ey := px-mul(t, dx), py-mul(t, dy)
				d := math.Sqrt(mul(ex, ex) + mul(ey, ey))
				c := &p.cover[y*p.side+x]
				*c = max(*c, clamp01(r+0.5-d))
			}
		}
	}
}

// bounds returns the range of pixels that a pen of radius r may touch between a and b.
func (p *picture) bounds(a, b, r float64) (from, to int) {
	side := float64(p.side)
	lo, hi := min(a, b)-r-1, max(a, b)+r+1
	return int(min(max(lo, 0), side)), int(min(max(hi+1, 0), side))
}

// ink paints the covered pixels in a colour.
func (p *picture) ink(colour func(c int) float64) {
	for i, cover := range p.cover {
		for c := 0; c < p.ch && cover > 0; c++ {
			v := &p.px[i*p.ch+c]
			*v = lerp(*v, colour(c), min(cover, 1))
		}
	}
}

// each replaces every value of the picture by f.
func (p *picture) each(f func(x, y, c int, v float64) float64) {
	for i, v := range p.px {
		k := i / p.ch
		p.px[i] = f(k%p.side, k/p.side, i%p.ch, v)
	}
}

// blur averages each pixel, with weight 1, and its four neighbours, with weight w.
func (p *picture) blur(w float64) {
	old := slices.Clone(p.px)
	p.each(func(x, y, c int, v float64) float64 {
		sum, n := v, 1.0
		for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			if i, j := x+d[0], y+d[1]; i >= 0 && i < p.side && j >= 0 && j < p.side {
				sum += mul(w, old[(j*p.side+i)*p.ch+c])
				n += w
			}
		}
		return sum / n
	})
}

// bytes writes the picture to dst, one byte for each value.
func (p *picture) bytes(dst []byte) {
	for i, v := range p.px {
		dst[i] = byte(mul(clamp01(v), 255) + 0.5)
	}
}
