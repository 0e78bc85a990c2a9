package dgkip

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// singular is an objective that fails because the Gram matrix has no inverse.
type singular struct{ objective }

func (singular) eval(context.Context, convex.View, tensor.Mat[float64], tensor.Mat[float64]) (float64, error) {
	return 0, fmt.Errorf("%w at row 1 of 2", convex.ErrSingular)
}

type noPass struct{}

func (noPass) View(int, bool, []int) convex.View { return nil }
func (noPass) Whole() convex.View                { return nil }
func (noPass) Back([]float32)                    {}

// If labels cannot be solved for, the error has a hint.
func TestSingularHint(t *testing.T) {
	r := &run{pass: noPass{}, obj: singular{}}
	if _, err := r.eval(context.Background(), 0, true); err == nil || !strings.HasSuffix(err.Error(), "hint: try another start, another seed or a lower ipc") {
		t.Error(err)
	}
}
