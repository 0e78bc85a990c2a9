package teacher

import (
	"context"
	"strings"
	"testing"

	"dgkip/harness/convex"
)

// A gap that is out of reach is an error that says so, and what to do.
func TestThetaOutOfReach(t *testing.T) {
	_, err := Problem{Loss: convex.LogisticLoss, Gap: 1e-300}.Theta(context.Background(), real("fc"))
	if err == nil || !strings.Contains(err.Error(), "hint: a larger teacher_gap") {
		t.Error(err)
	}
}
