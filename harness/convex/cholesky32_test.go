package convex

import (
	"context"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// The blocked factor solves its system, and decompose32 rejects an indefinite matrix.
func TestDecompose32(t *testing.T) {
	r := rng.Stream(1, "factor")
	for _, n := range []int{1, factorBlock, 2*factorBlock + 17} {
		a := tensor.NewMat[float32](n, n+40)
		r.FillNormal(a.Data, 0, 1/float32(n))
		k := tensor.NewMat[float32](n, n)
		tensor.Gram(k, a)
		for i := range n {
			k.Row(i)[i] += 0.01
		}
		wide := tensor.MatOf(widen(k.Data), n, n)
		x := normals(r, n, 1, 1)
		c, ok := decompose32(context.Background(), k, func() {})
		if !ok {
			t.Fatalf("n = %d: no factor", n)
		}
		near(t, "solution", c.solve(multiply(wide, x).Data), x.Data, 1e-4)
	}
	bad := tensor.MatOf([]float32{1, 2, 2, 1}, 2, 2)
	if _, ok := decompose32(context.Background(), bad, func() {}); ok {
		t.Error("an indefinite matrix has a factor")
	}
}
