package teacher

import (
	"context"

	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// studentGap is the relative duality gap to which models on sets are solved. It must be small
// because lambda_S is small: a gap G leaves Theta_S uncertain by sqrt(2G/lambda_S). The hinge
// gets a larger gap, because the interior-point method divides by distances from bounds.
func studentGap(loss convex.Loss) float64 {
	if loss == convex.HingeLoss {
		return 1e-11
	}
	return 1e-12
}

// Train returns the minimiser on a set with this Gram matrix, [n, n].
func Train(ctx context.Context, gram tensor.Mat[float64], labels convex.Labels, lambda float64) (convex.Solution, error) {
	p := convex.Problem{Gram: gram, Labels: labels, Lambda: lambda}
	return convex.Solve(ctx, p, studentGap(labels.Loss))
}
