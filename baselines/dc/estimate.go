package dc

import "dgkip/harness/method"

// Estimate implements method.Estimator.
func (s Settings) Estimate(z method.Sizes) method.Estimate {
	classes := max(2, z.Classes)
	net, err := s.Shape(z.Model).Net(z.H, z.W, z.C, classes)
	if err != nil || z.IPC < 1 {
		return method.Estimate{}
	}
	outer, inner := s.loops(z.IPC)
	all, first := net.Flops()
	gradient := 3*all - first // the loss and its gradient in the weights
	tangent := 4*all - first  // along the weights, forward, and back to the images
	drawn := min(s.RealBatch, max(1, z.Train/classes))
	set := z.IPC * classes
	matching := float64(classes*drawn)*gradient + float64(set)*(gradient+tangent)
	// A network is trained before all of its updates but the first, which is no
	// part of their time.
	training := float64(outer-1) / float64(outer) * float64(inner*set) * gradient

	// A pass keeps what lies between layers and its gradient, and what is kept inside.
	between, inside := net.Values()
	values := int64(2*between + inside)
	const vectors = 8 // weights, gradients, dD/ds, and what the kernels read
	most := max(drawn, z.IPC, min(set, s.NetBatch))
	size := z.H * z.W * z.C
	return method.Estimate{
		Updates: s.Iterations * outer,
		Flops:   matching,
		Between: training,
		Bytes:   4 * (int64(size*(z.Train+z.Test+3*most+4*set)) + vectors*int64(net.Params()) + int64(most)*values),
	}
}
