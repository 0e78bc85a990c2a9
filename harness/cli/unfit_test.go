package cli

import (
	"errors"
	"fmt"
	"testing"
)

// Joined errors are shown separately. An error with several causes is one error.
func TestEach(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	for _, c := range []struct {
		err  error
		want int
	}{
		{a, 1}, {errors.Join(a, b), 2}, {fmt.Errorf("file: %w: %w", a, b), 1},
	} {
		if got := each(c.err); len(got) != c.want {
			t.Errorf("%v: %d errors: %v", c.err, len(got), got)
		}
	}
}
