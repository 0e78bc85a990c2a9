package tensor

import (
	"sync"

	"dgkip/harness/tensor/internal/kernel"
)

// convForms holds a convolution's weights as the kernels want them.
type convForms struct {
	forward, backward convForm
	turned, thin      lazy
	turnedW           []float32
	taps              *Packed
}

func (f *convForms) reset() { *f = convForms{} }

// convForm is one direction's weights: panels for the direct algorithm, or the
// transformed weights of Winograd's.
type convForm struct {
	direct, winograd lazy
	path             *kernel.Path
	panels           []float32
	u                []float32
}

// lazy runs a function once, also when several goroutines ask.
type lazy struct {
	mu   sync.Mutex
	done bool
}

func (l *lazy) make(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.done {
		f()
		l.done = true
	}
}

// forms gives the job the weights w in the form that the algorithm reads.
func (j *convJob) forms(f *convForm, w []float32, in, out int, algo Algorithm) {
	j.in, j.out = in, out
	if algo == Winograd || algo == Auto && in >= 64 && out >= 64 && in%16 == 0 && out%16 == 0 && j.h >= 4 && j.w >= 4 {
		f.winograd.make(func() { f.u = winogradWeights(kernel.Active(), w, in, out); f.path = kernel.Active() })
		j.u, j.path = f.u, f.path
		return
	}
	f.direct.make(func() { f.panels = packDirect(kernel.Active(), w, in, out); f.path = kernel.Active() })
	j.direct, j.path = f.panels, f.path
}
