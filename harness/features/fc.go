package features

import (
	"sync"

	"dgkip/harness/tensor"
)

// fcNet is one fully connected net: layers of a linear map and ReLU. Its
// weights live only in the order in which the kernels read them; those of the
// backward pass are drawn again when it is first needed.
type fcNet struct {
	in, width, depth int
	weights          func(layer, fanIn int, w, b []float32)
	forward          []*tensor.Packed
	bias             [][]float32
	once             sync.Once
	back             []*tensor.Packed
}

func newFC(cfg Config, weights func(layer, fanIn int, w, b []float32)) *fcNet {
	f := &fcNet{in: cfg.H * cfg.W * cfg.C, width: cfg.Width, depth: cfg.Depth, weights: weights}
	f.forward, f.bias = f.pack(tensor.NN)
	return f
}

// fanIn returns the number of inputs of a layer.
func (f *fcNet) fanIn(layer int) int {
	if layer == 0 {
		return f.in
	}
	return f.width
}

func (f *fcNet) pack(order tensor.Order) (packed []*tensor.Packed, bias [][]float32) {
	for l := range f.depth {
		in := f.fanIn(l)
		w, b := make([]float32, in*f.width), make([]float32, f.width)
		f.weights(l, in, w, b)
		packed = append(packed, tensor.Pack(tensor.MatOf(w, in, f.width), order))
		bias = append(bias, b)
	}
	return packed, bias
}

// group is twelve full register tiles of rows.
func (f *fcNet) group() int { return 168 }

func (f *fcNet) flops() float64 {
	sum := 0.0
	for l := range f.depth {
		sum += 2 * float64(f.fanIn(l)*f.width)
	}
	return sum
}

func (f *fcNet) features(phi []float32, stride int, x []float32, n int, scale float32, s *state) {
	wk, s := borrow(s, f.depth)
	defer works.Put(wk)
	h := tensor.MatOf(x, n, f.in)
	for l, w := range f.forward {
		y := tensor.MatOf(grow(&s.acts[l], n*f.width), n, f.width)
		tensor.MulPacked(y, h, w, f.bias[l], true)
		h = y
	}
	for i := range n {
		row := phi[i*stride:][:f.width]
		for j, v := range h.Row(i) {
			row[j] = scale * v
		}
	}
}

func (f *fcNet) backward(dx, dphi []float32, stride, n int, scale float32, s *state) {
	wk, s := borrow(s, f.depth)
	defer works.Put(wk)
	f.once.Do(func() { f.back, _ = f.pack(tensor.NT) })
	d := tensor.MatOf(grow(&wk.turns[0], n*f.width), n, f.width)
	for i := range n {
		for j, v := range dphi[i*stride:][:f.width] {
			d.Data[i*f.width+j] = scale * v
		}
	}
	for l := f.depth - 1; l >= 0; l-- {
		tensor.Mask(d.Data[:n*f.width], d.Data[:n*f.width], s.acts[l][:n*f.width])
		to := dx
		if l > 0 {
			to = grow(&wk.turns[(f.depth-l)%2], n*f.width)
		}
		out := tensor.MatOf(to, n, f.fanIn(l))
		tensor.MulPacked(out, d, f.back[l], nil, false)
		d = out
	}
}
