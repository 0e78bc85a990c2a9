package dd

import "dgkip/harness/method"

// Estimate implements method.Estimator.
func (m *DD) Estimate(s method.Sizes) method.Estimate {
	classes := max(2, s.Classes)
	net, err := m.Shape(s.Model).Net(s.H, s.W, s.C, classes)
	if err != nil || s.IPC < 1 {
		return method.Estimate{}
	}
	p := newPlan(s.IPC, classes, m.Steps, m.Epochs)
	k := len(p.steps)
	params := int64(net.Params())
	stride := strideFor(k, 4*params, keptBytes)

	all, first := net.Flops()
	step := 3*all - first                                           // the loss and its gradient
	back := all + (all - first) + (2*all - first) + (4*all - first) // the same without the weights', and the tangents of both
	var images, again float64                                       // seen by all steps, and by those taken again
	most := 0
	for i, slot := range p.steps {
		n := len(p.of[slot])
		images += float64(n)
		if stretch := i / stride * stride; i+1 < stretch+stride && stretch+stride < k {
			again += float64(n)
		}
		most = max(most, n)
	}
	batch := min(m.Batch, max(1, s.Train))
	chunk := max(most, min(batch, realChunk))
	flops := images*(step+back) + again*step + float64(batch)*step

	// A pass keeps what lies between layers and what is kept inside, the gradient
	// and tangents of the one and the tangent of the other.
	between, inside := net.Values()
	values := int64(4*between + 2*inside)

	return method.Estimate{
		Updates: m.Iterations,
		Flops:   float64(m.Nets) * flops,
		Bytes: int64(4*s.H*s.W*s.C*(s.Train+s.Test)) +
			4*params*(keptWeights(k, stride)+weightForms) +
			int64(chunk)*4*values +
			int64(5*4*s.IPC*classes*s.H*s.W*s.C),
	}
}

// weightForms is how many vectors of weights there are beside those kept: w_0, v,
// a gradient, and what the kernels read.
const weightForms = 5
