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

// throughSoftplus replaces d, a gradient with respect to r = softplus(rho), by the gradient with
// respect to rho.
func throughSoftplus[F tensor.Float](d, rho []F) {
	for i, v := range rho {
		d[i] = F(float64(d[i]) * fmath.Sigmoid(float64(v)))
	}
}

// inverseSoftplus returns rho with softplus(rho) = r > 0.
func inverseSoftplus(r float64) float64 { return r + fmath.Log(1-fmath.Exp(-r)) }
