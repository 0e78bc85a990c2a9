package tensor

import (
	"sync"

	"dgkip/harness/tensor/internal/kernel"
)

// convForms holds a convolution's weights in the layouts that the kernels read.
type convForms struct {
	forward, backward convForm
	taps              lazy[*Packed]
}

// reset marks every layout as out of date and keeps its memory.
func (f *convForms) reset() {
	for _, d := range []*convForm{&f.forward, &f.backward} {
		d.direct.done, d.winograd.done = false, false
	}
	f.taps.done = false
}

// convForm holds the weights of one direction: panels for the direct algorithm, and
// transformed weights for Winograd. Images of different sizes may need both.
type convForm struct{ direct, winograd lazy[packedWeights] }

// packedWeights are weights in the order in which the kernels of a path read them.
type packedWeights struct {
	path *kernel.Path
	data []float32
}

// lazy is a value that is computed once, even when several goroutines ask for it.
type lazy[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
}

// make returns the value. If it is out of date, f first computes it from the old one.
func (l *lazy[T]) make(f func(before T) T) T {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.done {
		l.value = f(l.value)
		l.done = true
	}
	return l.value
}

// suitsWinograd is the rule that Auto follows.
func suitsWinograd(h, w, in, out int) bool {
	return in >= 64 && out >= 64 && in%16 == 0 && out%16 == 0 && h >= 4 && w >= 4
}

// forms sets the job's weights to w in the layout that the algorithm reads. For the
// adjoint it takes adjointWeights(w), [3, 3, out, in].
func (j *convJob) forms(f *convForm, w []float32, in, out int, algo Algorithm, adjoint bool) {
	j.in, j.out = in, out
	made := func(pack func(buf []float32, p *kernel.Path, w []float32, in, out int) []float32) func(packedWeights) packedWeights {
		return func(before packedWeights) packedWeights {
			p := kernel.Active()
			if !adjoint {
				return packedWeights{p, pack(before.data, p, w, in, out)}
			}
			s := getScratch()
			defer putScratch(s)
			return packedWeights{p, pack(before.data, p, adjointWeights(Grow(&s.d, len(w)), w, out, in), in, out)}
		}
	}
	var p packedWeights
	if algo == Winograd || algo == Auto && suitsWinograd(j.h, j.w, in, out) {
		p = f.winograd.make(made(winogradWeights))
		j.u = p.data
	} else {
		p = f.direct.make(made(packDirect))
		j.direct = p.data
	}
	j.path = p.path
}
