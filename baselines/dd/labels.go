package dd

import (
	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// softplus sets r to log(1 + e^rho).
func softplus[F tensor.Float](r, rho []F) {
	for i, v := range rho {
		r[i] = F(fmath.Softplus(float64(v)))
	}
}

// throughSoftplus turns a gradient in r = softplus(rho) into one in rho, where it
// lies.
func throughSoftplus[F tensor.Float](d, rho []F) {
	for i, v := range rho {
		d[i] = F(float64(d[i]) * fmath.Sigmoid(float64(v)))
	}
}

// inverseSoftplus returns rho with softplus(rho) = r > 0.
func inverseSoftplus(r float64) float64 { return r + fmath.Log(1-fmath.Exp(-r)) }
