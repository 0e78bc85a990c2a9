package features

import (
	"math"

	"dgkip/harness/tensor"
)

// nngp returns the Gram matrix to which that of the FC map tends as its nets
// become wide and many: from k = x'y/d, depth times
//
//	s = 2 k + 0.01,  k = sqrt(s_xx s_yy) (sin t + (pi - t) cos t) / (2 pi),  cos t = s_xy / sqrt(s_xx s_yy).
//
// x holds n images of d values.
func nngp(x []float32, n, d, depth int) tensor.Mat[float64] {
	k := tensor.NewMat[float64](n, n)
	for i := range n {
		for j := range n {
			sum := 0.0
			for l, v := range x[i*d:][:d] {
				sum += float64(v) * float64(x[j*d+l])
			}
			k.Data[i*n+j] = sum / float64(d)
		}
	}
	next := tensor.NewMat[float64](n, n)
	for range depth {
		s := func(i, j int) float64 { return 2*k.Data[i*n+j] + 0.01 }
		for i := range n {
			for j := range n {
				r := math.Sqrt(s(i, i) * s(j, j))
				c := max(-1, min(1, s(i, j)/r))
				t := math.Acos(c)
				next.Data[i*n+j] = r * (math.Sin(t) + (math.Pi-t)*c) / (2 * math.Pi)
			}
		}
		k, next = next, k
	}
	return k
}
