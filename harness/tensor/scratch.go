package tensor

import (
	"sync"

	"dgkip/harness/tensor/internal/kernel"
)

// scratch is the working memory of one task. It includes the arguments of the kernels,
// which would otherwise escape to the heap because kernels are called through variables.
type scratch struct {
	a, b, c, d []float32
	tile       kernel.Tile
	segs       [3]kernel.Seg
	in         kernel.WinogradIn
	out        kernel.WinogradOut
	pool       kernel.Pool
	filter     kernel.WinogradFilter
	cols       kernel.Cols
	cross      kernel.Cross
	wide       kernel.Wide
	arc        kernel.Arc
	sums       [64]float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }
func putScratch(s *scratch) {
	// Do not keep the caller's memory alive.
	s.tile, s.in, s.out, s.pool = kernel.Tile{}, kernel.WinogradIn{}, kernel.WinogradOut{}, kernel.Pool{}
	s.filter, s.cols = kernel.WinogradFilter{}, kernel.Cols{}
	s.cross, s.wide, s.arc = kernel.Cross{}, kernel.Wide{}, kernel.Arc{}
	scratches.Put(s)
}

// one returns a single segment, as a plain product needs.
func (s *scratch) one() []kernel.Seg {
	s.segs[0] = kernel.Seg{}
	return s.segs[:1]
}

// Grow returns a slice of n values in buf's memory, which it replaces if it is too small.
// The slice's contents are undefined.
func Grow[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n)
	}
	return (*buf)[:n]
}
