package convex

import (
	"context"

	"dgkip/harness/tensor"
)

// towards is a search for a gap in a number of steps.
func towards(tol float64, limit int) *search {
	return &search{ctx: context.Background(), tol: tol, limit: limit}
}

// exactly solves a problem on a small set in float64.
func exactly(gram tensor.Mat[float64], labels Labels, lambda, tol float64) (Solution, error) {
	return Solve(context.Background(), Problem{Gram: gram, Labels: labels, Lambda: lambda}, tol)
}

func gainsOf(loss Loss, y []float64) Labels {
	return Labels{Form: Gain, Loss: loss, Values: oneColumn(y)}
}
