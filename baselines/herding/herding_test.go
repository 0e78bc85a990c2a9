package herding

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

func TestContract(t *testing.T) {
	methodtest.Run(t, func() method.Method { return new(Herding) }, methodtest.Options{})
}

func TestTooMany(t *testing.T) {
	p := method.Problem{Data: methodtest.Data(1), IPC: 7}
	_, err := new(Herding).Distill(context.Background(), p, func(method.Step) {})
	if err == nil || !strings.Contains(err.Error(), "class upper of halves has only 6") {
		t.Errorf("got %v", err)
	}
}

func draw(n, dim int) tensor.Mat[float32] {
	phi := tensor.NewMat[float32](n, dim)
	rng.Stream(1, "herding").FillNormal(phi.Data, 0.3, 1)
	return phi
}

// distance returns the distance between the means of two sets of rows.
func distance(phi tensor.Mat[float32], some, members []int) float64 {
	sum := 0.0
	for j := range phi.Cols {
		d := 0.0
		for _, i := range some {
			d += float64(phi.Row(i)[j]) / float64(len(some))
		}
		for _, i := range members {
			d -= float64(phi.Row(i)[j]) / float64(len(members))
		}
		sum += d * d
	}
	return math.Sqrt(sum)
}

// Every choice is the best remaining one, by the definition.
func TestGreedy(t *testing.T) {
	phi := draw(40, 13)
	var members []int
	for i := 1; i < 40; i += 2 {
		members = append(members, i)
	}
	chosen, last, err := choose(context.Background(), phi, members, len(members))
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range chosen {
		reached := distance(phi, chosen[:k+1], members)
		for _, other := range chosen[k+1:] {
			if d := distance(phi, append(slices.Clone(chosen[:k]), other), members); d < reached-1e-12 {
				t.Errorf("choice %d is image %d with distance %v, but image %d has distance %v", k, i, reached, other, d)
			}
		}
		_, said, err := choose(context.Background(), phi, members, k+1)
		if err != nil || math.Abs(said-reached) > 1e-12 {
			t.Errorf("%d choices: distance %v, but choose returned %v (%v)", k+1, reached, said, err)
		}
	}
	if last > 1e-12 {
		t.Errorf("with all images chosen, the distance is %v", last)
	}
	if sorted := slices.Sorted(slices.Values(chosen)); !slices.Equal(sorted, members) {
		t.Errorf("chosen %v of %v", chosen, members)
	}
}

// Of equal images the first is chosen, and each image only once.
func TestTies(t *testing.T) {
	phi := tensor.NewMat[float32](4, 3)
	for i := range phi.Data {
		phi.Data[i] = 1
	}
	chosen, d, err := choose(context.Background(), phi, []int{0, 1, 2, 3}, 3)
	if err != nil || d != 0 || !slices.Equal(chosen, []int{0, 1, 2}) {
		t.Errorf("chosen %v, at %v (%v)", chosen, d, err)
	}
}
