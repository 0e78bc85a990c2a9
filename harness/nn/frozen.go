package nn

import (
	"sync"

	"dgkip/harness/tensor"
)

// Frozen is a network whose weights never change. The weights are prepared once. The
// backward pass computes only the gradient of the images, so it keeps little of the
// forward pass. A Frozen may be used by several goroutines.
type Frozen struct {
	layers   []frozen
	sizes    []int // number of values of an image before each layer
	in, out  int
	together int
}

// frozen is a layer of a Frozen.
type frozen interface {
	// forward returns the outputs for n images, in memory of k or w. It keeps in k
	// what backward needs.
	forward(x []float32, n int, k *kept, w *turns) []float32
	// backward sets dx to the gradient of the images. It may overwrite dy.
	backward(dx, dy []float32, n int, k *kept)
	// together is the best number of images to process at a time.
	together() int
}

// freezer is a layer that can be frozen with given parameters. The frozen layer does not keep
// theta.
type freezer interface {
	freeze(theta []float32) frozen
}

// Freeze returns the network with parameters set by draw. It calls draw for each layer,
// counted from zero, with tensors that describe theta. It panics if a layer has no frozen
// form.
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

// Together returns the best number of images to process at a time.
func (f *Frozen) Together() int { return f.together }

// Kept holds what the forward pass of a few images leaves for the backward pass. Its memory
// is reused.
type Kept struct{ layers []kept }

// kept is the part of one layer: its output, or bits that mark where the output is positive.
type kept struct {
	y    []float32
	bits []byte
}

// turns are two buffers that hold the layers' values in turn.
type turns struct {
	of [2][]float32
	at int
}

func (t *turns) next(n int) []float32 {
	t.at ^= 1
	return tensor.Grow(&t.of[t.at], n)
}

// passMemory is the working memory of one pass.
type passMemory struct {
	turns
	kept Kept // used if the caller passes a nil *Kept
}

var passMemories = sync.Pool{New: func() any { return new(passMemory) }}

// begin returns working memory and k, or the memory's own Kept if k is nil.
func (f *Frozen) begin(k *Kept) (*passMemory, *Kept) {
	w := passMemories.Get().(*passMemory)
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
	defer passMemories.Put(w)
	for i, l := range f.layers {
		x = l.forward(x, y.Rows, &k.layers[i], &w.turns)
	}
	tensor.ScaleRows(y, scale, tensor.MatOf(x, y.Rows, f.out))
}

// Backward sets dx to the gradient of the images of the Forward that filled k. dy is the
// gradient of its result.
func (f *Frozen) Backward(dx []float32, dy tensor.Mat[float32], scale float32, k *Kept) {
	if len(dx) != dy.Rows*f.in || dy.Cols != f.out {
		panic("nn: Frozen.Backward: shapes do not fit")
	}
	w, k := f.begin(k)
	defer passMemories.Put(w)
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
