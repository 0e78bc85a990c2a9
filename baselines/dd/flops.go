package dd

import "dgkip/harness/method"

// Flops implements method.Counter.
func (m *DD) Flops(s method.Sizes) float64 {
	classes := max(2, s.Classes)
	net, err := m.Shape(s.Model).Net(s.H, s.W, s.C, classes)
	if err != nil || s.IPC < 1 {
		return 0
	}
	p := newPlan(s.IPC, classes, m.Steps, m.Epochs)
	k := len(p.steps)
	stride := strideFor(k, 4*int64(net.Params()), keptBytes)

	all, first := net.Flops()
	step := 3*all - first                                           // the loss and its gradient
	back := all + (all - first) + (2*all - first) + (4*all - first) // gradients without those of the weights, and both tangents
	var images, again float64                                       // images seen by all steps, and by the repeated steps
	for i, slot := range p.steps {
		n := float64(len(p.of[slot]))
		images += n
		if stretch := i / stride * stride; i+1 < stretch+stride && stretch+stride < k {
			again += n
		}
	}
	batch := min(m.Batch, max(1, s.Train))
	return float64(m.Nets) * (images*(step+back) + again*step + float64(batch)*step)
}
