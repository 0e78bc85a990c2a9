package teacher

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// Theta returns an error with a hint if the gap cannot be reached.
func TestUnreachableGap(t *testing.T) {
	_, err := Problem{Loss: convex.LogisticLoss, Lambda: DefaultLambda, Gap: 1e-300}.Theta(context.Background(), real("fc"))
	if err == nil || !strings.Contains(err.Error(), "hint: raise lambda, or set a larger teacher_gap") {
		t.Error(err)
	}
}

// Equal images with both labels do not change the norm of the hinge model: in float32 their kernel
// is not positive semidefinite, and the squared norm would be negative.
func TestEqualImagesInKernel(t *testing.T) {
	for _, kind := range []string{"nngp", "ntk"} {
		r := real(kind)
		x := r.Data.Train.X[:6*r.Data.Train.Size()]
		for i := range x {
			x[i] = -0.4242
		}
		norm := map[convex.Loss]float64{}
		for _, loss := range []convex.Loss{convex.HingeLoss, convex.SquaredLoss} {
			theta, err := usual(loss).Theta(context.Background(), r)
			if err != nil {
				t.Fatal(kind, loss, err)
			}
			norm[loss] = theta.Norm
		}
		// All other outputs are +1 or -1 for both losses, and zero on the equal images.
		if h, s := norm[convex.HingeLoss], norm[convex.SquaredLoss]; math.Abs(h-s) > 1e-3*s {
			t.Errorf("%s: the norm is %v for the hinge loss, %v for the squared loss", kind, h, s)
		}
	}
	if _, err := normOf(tensor.MatOf([]float64{1e5, -1e5}, 1, 2), tensor.MatOf([]float64{-1, 1}, 2, 1), 2e-6); !errors.Is(err, convex.ErrGap) {
		t.Errorf("a negative squared norm: %v", err)
	}
}
