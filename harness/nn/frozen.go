package nn

import (
	"sync"

	"dgkip/harness/tensor"
)

// Frozen is a network whose weights never change: they are prepared once, and the
// way back leads to the images alone, so that of what lies between little is kept.
// It may be used by several goroutines.
type Frozen struct {
	layers   []frozen
	sizes    []int // of an image's values before each layer
	in, out  int
	together int
}

// frozen is a layer at work in a Frozen, on one goroutine's memory.
type frozen interface {
	// forward returns the outputs for n images, in memory of k or w. It keeps in k
	// what backward needs.
	forward(x []float32, n int, k *kept, w *turns) []float32
	// backward sets dx to the gradient in the images, and may overwrite dy.
	backward(dx, dy []float32, n int, k *kept)
	// together is how many images best go through at a time.
	together() int
}

// freezer is a layer that has a frozen form, which may keep theta.
type freezer interface {
	freeze(theta []float32) frozen
}

// Freeze returns the network with the parameters that draw gives layer by layer,
// counted from zero, where tensors describe theta. Not every layer has a frozen form:
// it panics where one is missing.
func (n *Net[F]) Freeze(draw func(layer int, tensors []Tensor, theta []float32)) *Frozen {
	f := &Frozen{in: n.Inputs(), out: n.Classes()}
	list := n.list
	for i, l := range n.layers {
		z, ok := l.(freezer)
		if !ok {
			panic("nn: Net.Freeze: a layer has no frozen form")
		}
		tensors := list[:len(l.tensors())]
		list = list[len(tensors):]
		theta := make([]float32, n.offsets[i+1]-n.offsets[i])
		draw(i, tensors, theta)
		made := z.freeze(theta)
		f.layers, f.sizes = append(f.layers, made), append(f.sizes, l.in())
		if k := made.together(); i == 0 || k < f.together {
			f.together = k
		}
	}
	return f
}

// Together is how many images best go through at a time.
func (f *Frozen) Together() int { return f.together }

// Kept is what a pass of a few images leaves for the way back. Its memory is used
// again.
type Kept struct{ layers []kept }

// kept is a layer's share: its output, or bits that mark where that is positive.
type kept struct {
	y    []float32
	bits []byte
}

// turns are two pieces of memory that take turns in holding a layer's values.
type turns struct {
	of [2][]float32
	at int
}

func (t *turns) next(n int) []float32 {
	t.at ^= 1
	return tensor.Grow(&t.of[t.at], n)
}

// travel is the working memory of one pass.
type travel struct {
	turns
	kept Kept // where the caller keeps none
}

var travels = sync.Pool{New: func() any { return new(travel) }}

// begin returns working memory, and its own Kept in place of a nil one.
func (f *Frozen) begin(k *Kept) (*travel, *Kept) {
	w := travels.Get().(*travel)
	if k == nil {
		k = &w.kept
	}
	for len(k.layers) < len(f.layers) {
		k.layers = append(k.layers, kept{})
	}
	return w, k
}

// Forward sets the rows of y to scale times the outputs for the images x. k may be
// nil if no Backward follows.
func (f *Frozen) Forward(y tensor.Mat[float32], x []float32, scale float32, k *Kept) {
	if len(x) != y.Rows*f.in || y.Cols != f.out {
		panic("nn: Frozen.Forward: shapes do not fit")
	}
	w, k := f.begin(k)
	defer travels.Put(w)
	for i, l := range f.layers {
		x = l.forward(x, y.Rows, &k.layers[i], &w.turns)
	}
	tensor.ScaleRows(y, scale, tensor.MatOf(x, y.Rows, f.out))
}

// Backward sets dx to the gradient in the images of the Forward that filled k, where
// dy is the gradient in its result.
func (f *Frozen) Backward(dx []float32, dy tensor.Mat[float32], scale float32, k *Kept) {
	if len(dx) != dy.Rows*f.in || dy.Cols != f.out {
		panic("nn: Frozen.Backward: shapes do not fit")
	}
	w, k := f.begin(k)
	defer travels.Put(w)
	d := w.next(dy.Rows * f.out)
	tensor.ScaleRows(tensor.MatOf(d, dy.Rows, f.out), scale, dy)
	for i := len(f.layers) - 1; i >= 0; i-- {
		to := dx
		if i > 0 {
			to = w.next(dy.Rows * f.sizes[i])
		}
		f.layers[i].backward(to, d, dy.Rows, &k.layers[i])
		d = to
	}
}
