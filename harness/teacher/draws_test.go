package teacher

import (
	"context"
	"math"
	"strconv"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/space"
	"dgkip/harness/tensor"
)

// A pass through several draws has the concatenated features of all draws, divided by sqrt(R).
func TestDrawsAreConcatenatedFeatures(t *testing.T) {
	const draws = 3
	r := real("fc")
	problem := usual(convex.LogisticLoss)
	ctx := context.Background()
	set := r.Data.Train.X[:4*r.Data.Train.Size()]
	pass, norm, err := LearnInDraws(ctx, r, problem, draws, set, true)
	if err != nil {
		t.Fatal(err)
	}
	var all, reals tensor.Mat[float64] // [n, R M]
	var theta []float64
	for i := range draws {
		one := r
		one.Draw = []string{"drawn features", r.Data.Name, strconv.Itoa(i)}
		dim := space.Dim(r.Model, r.Data.Train.H, r.Data.Train.W)
		th, err := problem.Theta(ctx, one)
		if err != nil {
			t.Fatal(err)
		}
		real, err := one.Space().Real(ctx)
		if err != nil {
			t.Fatal(err)
		}
		phi := real.Features
		if i == 0 {
			all, reals = tensor.NewMat[float64](4, draws*dim), tensor.NewMat[float64](phi.Rows, draws*dim)
		}
		for _, to := range []tensor.Mat[float64]{all, reals} { // the set is the first real images
			for j := range to.Rows {
				for c, v := range phi.Row(j) {
					to.Row(j)[i*dim+c] = float64(v) / math.Sqrt(draws)
				}
			}
		}
		for _, v := range th.Weights.Data {
			theta = append(theta, v/math.Sqrt(draws))
		}
	}
	dot := func(a, b []float64) (sum float64) {
		for i, x := range a {
			sum += x * b[i]
		}
		return sum
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	whole := pass.Whole()
	near("|Theta_O|", norm, math.Sqrt(dot(theta, theta)))
	for i := range 4 {
		near("an output", whole.Outputs().Row(i)[0], dot(all.Row(i), theta))
		for j := range 4 {
			near("an inner product", whole.Gram().Row(i)[j], dot(all.Row(i), all.Row(j)))
		}
		for j := range reals.Rows {
			near("an inner product with a real image", float64(whole.Cross().Row(i)[j]), dot(all.Row(i), reals.Row(j)))
		}
	}
	// Without reals, the view has no real images.
	if pass, _, err = LearnInDraws(ctx, r, problem, draws, set, false); err != nil {
		t.Fatal(err)
	}
	if whole := pass.Whole().(convex.Kernel); whole.Reals.Rows != 0 {
		t.Errorf("the view has %d real images, want none", whole.Reals.Cols)
	}
}
