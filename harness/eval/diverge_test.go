package eval

import (
	"context"
	"strings"
	"testing"

	"dgkip/harness/method"
)

// Training stops at the first loss that is not finite.
func TestDiverges(t *testing.T) {
	n := quick()
	n.Rate = 1e30
	last := 0
	_, err := n.Score(context.Background(), trial("conv"), func(s method.Step) {
		last = s.Update
		if s.Loss-s.Loss != 0 {
			t.Errorf("observed a loss of %v", s.Loss)
		}
	})
	if err == nil {
		t.Fatal("no error")
	}
	// The first loss belongs to the initial weights.
	for _, want := range []string{"the loss of network 1 of 2 is ", " at step 2 of 30", "\nhint: lower rate in [eval.network]"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	if last != 1 {
		t.Errorf("observed %d steps, want 1", last)
	}
}
