package tensor

import (
	"sync"

	"dgkip/harness/tensor/internal/kernel"
)

// scratch is the working memory of one task.
type scratch struct {
	a, b, c, d []float32
	tile       kernel.Tile
	segs       [3]kernel.Seg
}

var pool = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch  { return pool.Get().(*scratch) }
func putScratch(s *scratch) { s.tile = kernel.Tile{}; pool.Put(s) }

// one returns the single segment of a plain product.
func (s *scratch) one() []kernel.Seg {
	s.segs[0] = kernel.Seg{}
	return s.segs[:1]
}

// grow returns a slice of n values that reuses buf's memory where it can. What
// it holds is not defined.
func grow(buf *[]float32, n int) []float32 {
	if cap(*buf) < n {
		*buf = make([]float32, n)
	}
	return (*buf)[:n]
}
