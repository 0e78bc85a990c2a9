package nn

import (
	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// SoftmaxRow sets p to e^z_j / sum_k e^z_k, computed in float64, and returns the
// largest z, and log sum_k e^(z_k - top). p may be z.
func SoftmaxRow[F tensor.Float](p []float64, z []F) (top, logSum float64) {
	top = float64(z[0])
	for _, v := range z {
		top = max(top, float64(v))
	}
	var sum float64
	for j, v := range z {
		p[j] = fmath.Exp(float64(v) - top)
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return top, fmath.Log(sum)
}

// Softmax sets the rows of p to e^z_j / sum_k e^z_k. They may be the same memory.
func Softmax[F tensor.Float](p, z []F, classes int) {
	row := make([]float64, classes)
	for at := 0; at < len(z); at += classes {
		SoftmaxRow(row, z[at:][:classes])
		for j, v := range row {
			p[at+j] = F(v)
		}
	}
}

// ThroughSoftmax turns a gradient in p = softmax(z) into one in z, where it lies:
// dz_j = p_j (dp_j - <dp, p>).
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
