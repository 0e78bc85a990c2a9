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

// reset makes every form be made again, in the memory that it has.
func (f *convForms) reset() {
	for _, l := range []*lazy{&f.turned, &f.thin, &f.forward.direct, &f.forward.winograd, &f.backward.direct, &f.backward.winograd} {
		l.done = false
	}
}

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
		f.winograd.make(func() { f.path = kernel.Active(); f.u = winogradWeights(f.u, f.path, w, in, out) })
		j.u, j.path = f.u, f.path
		return
	}
	f.direct.make(func() { f.path = kernel.Active(); f.panels = packDirect(f.panels, f.path, w, in, out) })
	j.direct, j.path = f.panels, f.path
}
