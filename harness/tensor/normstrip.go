package tensor

import (
	"cmp"
	"sync"
)

// normScratch is the working memory of one image's task.
type normScratch[F Float] struct {
	big   [3][]F // an image's activations
	small [8][]F // a value per channel
}

// normScratches holds working memory for both element types.
var normScratches sync.Pool

// each calls do for the images in parallel. Every image has the given number of values
// before pooling.
func (m *InstanceNorm[F]) each(values int, do func(img int, d *normScratch[F])) {
	size := m.H * m.W * m.Ch
	Parallel(values/size, func(i int) {
		d, ok := normScratches.Get().(*normScratch[F])
		if !ok {
			d = new(normScratch[F])
		}
		defer normScratches.Put(d)
		for i := range d.big {
			d.big[i] = Grow(&d.big[i], size)
		}
		for i := range d.small {
			d.small[i] = Grow(&d.small[i], m.Ch)
		}
		do(i, d)
	})
}

// large returns image i's values before pooling; small returns those after it.
func (m *InstanceNorm[F]) large(x []F, i int) []F { return part(x, i, 1, m.H*m.W*m.Ch) }

func (m *InstanceNorm[F]) small(x []F, i int) []F {
	if m.Pool {
		return part(x, i, 1, (m.H/2)*(m.W/2)*m.Ch)
	}
	return m.large(x, i)
}

// strip is a few rows of an image: their number, and their positions in the activations
// and in the output.
type strip[F Float] struct {
	h, w, ch             int
	pool                 bool
	from, to, yFrom, yTo int
}

// stripValues is the approximate number of values in a strip. It is small enough for
// three or four arrays to stay in a core's own cache, and large enough to hide the cost
// of calls.
const stripValues = 1 << 15

// StripRows, if not zero, is the number of rows in a strip, an even number. Tests set it to
// get several strips from small images, so these tests cannot run in parallel.
var StripRows int

// strips calls do with the strips of an image from the top. Each strip holds whole rows
// of pooled pixels.
func (m *InstanceNorm[F]) strips(do func(s strip[F])) {
	values := m.W * m.Ch
	step := cmp.Or(StripRows, max(2, stripValues/values&^1))
	for top := 0; top < m.H; {
		bottom := top + step
		if bottom+1 >= m.H { // includes a last single row
			bottom = m.H
		}
		s := strip[F]{h: bottom - top, w: m.W, ch: m.Ch, pool: m.Pool, from: top * values, to: bottom * values}
		s.yFrom, s.yTo = s.from, s.to
		if m.Pool {
			s.yFrom = top / 2 * (m.W / 2) * m.Ch
			s.yTo = s.yFrom + (s.h/2)*(m.W/2)*m.Ch
		}
		do(s)
		top = bottom
	}
}

// reduce is Reduce for a strip.
func (s strip[F]) reduce(y, u []F) { Reduce(y, u, 1, s.h, s.w, s.ch, s.pool) }

// expand is Expand for a strip.
func (s strip[F]) expand(du, dy, u []F) { Expand(du, dy, u, 1, s.h, s.w, s.ch, s.pool) }
