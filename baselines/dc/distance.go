package dc

import (
	"math"

	"dgkip/harness/nn"
	"dgkip/harness/tensor"
)

// rowEps makes the cosine of a row without gradient zero.
const rowEps = 1e-6

// distance sets v to the derivative with respect to s of
//
//	D = sum over rows of 1 - <r, s> / N,  N = ||r|| ||s|| + eps
//
// In each row the derivative is <r, s> ||r|| / (N^2 ||s||) s - r/N. distance returns D. The tensors
// describe the rows of s and r.
func distance[F tensor.Float](v, s, r []F, tensors []nn.Tensor) float64 {
	parts := make([]float64, len(tensors))
	tensor.Parallel(len(tensors), func(i int) {
		t := tensors[i]
		part := func(x []F) []F { return x[t.Offset:][:t.Len] }
		if !t.Weight() {
			clear(part(v))
			return
		}
		parts[i] = rowDistance(part(v), part(s), part(r), t.Outputs())
	})
	var sum float64
	for _, p := range parts {
		sum += p
	}
	return sum
}

// rowDistance is distance for one weight. Its rows, one for each output, are columns in memory.
func rowDistance[F tensor.Float](v, s, r []F, outputs int) float64 {
	column := func() []F { return make([]F, outputs) }
	rr, ss, rs, ofR, ofS := column(), column(), column(), column(), column()
	// Works strip by strip, so that all three sums read a strip from the cache.
	strip := 32 * outputs
	strips := (len(s) + strip - 1) / strip
	part := func(i int, x []F) []F { return x[i*strip : min(len(x), (i+1)*strip)] }
	for i := range strips {
		r, s := part(i, r), part(i, s)
		tensor.ColDot(rr, r, r, outputs)
		tensor.ColDot(ss, s, s, outputs)
		tensor.ColDot(rs, r, s, outputs)
	}
	var sum float64
	for o := range rs {
		nr, ns, dot := math.Sqrt(float64(rr[o])), math.Sqrt(float64(ss[o])), float64(rs[o])
		n := float64(nr*ns) + rowEps
		sum += 1 - dot/n
		ofR[o] = F(-1 / n)
		if ns > 0 {
			ofS[o] = F(dot * nr / (n * n * ns))
		}
	}
	zero := column()
	tensor.Parallel(strips, func(i int) { tensor.Affine2(part(i, v), ofR, part(i, r), ofS, part(i, s), zero) })
	return sum
}
