package tensor

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// GramContext gives the same bits as Gram, on every vector path.
func TestGramContextIsGram(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, size := range [][2]int{{1, 1}, {5, 3}, {97, 700}, {64, 2100}, {130, 257}} {
			a := MatOf(random(r, size[0]*size[1]), size[0], size[1])
			want := NewMat[float32](a.Rows, a.Rows)
			Gram(want, a)
			for _, edge := range []int{1, 7, 32, 64, 200} {
				got := Mat[float32]{Rows: a.Rows, Cols: a.Rows, Stride: a.Rows + 3, Data: make([]float32, a.Rows*(a.Rows+3))}
				last := 0.0
				err := gramBlocks(context.Background(), got, a, edge, func(done float64) {
					if done < last || done > 1 {
						t.Errorf("progress went from %v to %v", last, done)
					}
					last = done
				})
				if err != nil || last != 1 {
					t.Fatal(err, last)
				}
				for i := range a.Rows {
					if !slices.Equal(got.Row(i), want.Row(i)) {
						t.Fatalf("%v in blocks of %d: row %d differs", size, edge, i)
					}
				}
			}
		}
	})
	for length, want := range map[int]int{1: 131072, 30720: 704, 32768: 704, 18432: 960, 1 << 30: 64} {
		if got := gramEdge(length); got != want {
			t.Errorf("rows of %d: blocks of %d, want %d", length, got, want)
		}
	}
}

// GramContext stops when its context is cancelled.
func TestGramContextStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a := NewMat[float32](300, 10)
	calls := 0
	err := gramBlocks(ctx, NewMat[float32](300, 300), a, 32, func(float64) { calls++; cancel() })
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("got %v after %d rows of blocks", err, calls)
	}
}
