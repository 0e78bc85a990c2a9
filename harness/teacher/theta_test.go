package teacher

import (
	"context"
	"strings"
	"testing"

	"dgkip/harness/convex"
)

// Theta returns an error with a hint if the gap cannot be reached.
func TestUnreachableGap(t *testing.T) {
	_, err := Problem{Loss: convex.LogisticLoss, Gap: 1e-300}.Theta(context.Background(), real("fc"))
	if err == nil || !strings.Contains(err.Error(), "hint: set a larger teacher_gap") {
		t.Error(err)
	}
}
