package eval

import (
	"context"
	"strings"
	"testing"

	"dgkip/harness/method"
)

// Training that diverges is stopped at the step where it shows.
func TestDiverges(t *testing.T) {
	n := quick()
	n.Rate = 1e30
	last := 0
	_, err := n.Score(context.Background(), trial("conv"), func(s method.Step) {
		last = s.Update
		if s.Loss-s.Loss != 0 {
			t.Errorf("a loss of %v was passed on", s.Loss)
		}
	})
	if err == nil {
		t.Fatal("nothing was found")
	}
	// Three steps an epoch, of which the first loss is that of the initial weights.
	for _, want := range []string{"the loss of network 1 of 2 is ", " at epoch 1 of 10, step 2 of 3", "\nhint: [eval.network] rate is too large"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	if last != 1 {
		t.Errorf("%d steps were passed on, want the one before", last)
	}
}
