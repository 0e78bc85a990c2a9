package nn

import (
	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// Softmax sets the rows of p to e^z_j / sum_k e^z_k. p and z may be the same memory.
func Softmax[F tensor.Float](p, z []F, classes int) {
	row := make([]float64, classes)
	for at := 0; at < len(z); at += classes {
		fmath.Softmax(row, z[at:][:classes])
		for j, v := range row {
			p[at+j] = F(v)
		}
	}
}

// ThroughSoftmax replaces d, a gradient with respect to p = softmax(z), by the gradient with
// respect to z: dz_j = p_j (dp_j - <dp, p>).
func ThroughSoftmax[F tensor.Float](d, p []F, classes int) {
	for at := 0; at < len(d); at += classes {
		var mean float64
		for j := at; j < at+classes; j++ {
			mean += float64(float64(p[j]) * float64(d[j]))
		}
		for j := at; j < at+classes; j++ {
			d[j] = F(float64(p[j]) * (float64(d[j]) - mean))
		}
	}
}
