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
	all, first := net.Flops()
	step := 3*all - first                                           // the loss and its gradient
	back := all + (all - first) + (2*all - first) + (4*all - first) // gradients without those of the weights, and both tangents
	var images float64                                              // seen by all steps
	for _, slot := range p.steps {
		images += float64(len(p.of[slot]))
	}
	batch := min(m.Batch, max(1, s.Train))
	return float64(m.Nets) * (images*(step+back) + float64(batch)*step)
}
