package dc

import "dgkip/harness/method"

// Flops implements method.Counter. The training of the network before an update does not count.
func (s Settings) Flops(z method.Sizes) float64 {
	classes := max(2, z.Classes)
	net, err := s.Shape(z.Model).Net(z.H, z.W, z.C, classes)
	if err != nil || z.IPC < 1 {
		return 0
	}
	all, first := net.Flops()
	gradient := 3*all - first // the loss and the gradient of the weights
	tangent := 4*all - first  // along the weights: forward, and back to the images
	drawn := min(s.RealBatch, max(1, z.Train/classes))
	return float64(classes*drawn)*gradient + float64(z.IPC*classes)*(gradient+tangent)
}
