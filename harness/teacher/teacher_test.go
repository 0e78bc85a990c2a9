package teacher

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/space"
	"dgkip/harness/tensor"
)

func real(kind string) space.Source {
	return space.Source{
		Data: methodtest.Data(1), Seed: 3, Shared: new(method.Shared),
		Model: method.Model{Kind: kind, Width: 8, Depth: 2, Nets: 3},
	}
}

// usual is a problem with the default settings.
func usual(loss convex.Loss) Problem { return Problem{Loss: loss, Lambda: DefaultLambda} }

// gram returns the inner products of the training images.
func gram(ctx context.Context, s space.Source) (tensor.Mat[float32], error) {
	p, err := s.Space().Real(ctx)
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	return p.Large(ctx)
}

func TestThetaHasTheSameBitsFromEverySource(t *testing.T) {
	for _, kind := range []string{"conv", "fc"} {
		for _, loss := range Losses(2) {
			want, err := usual(loss).Theta(context.Background(), real(kind))
			if err != nil {
				t.Fatal(kind, loss, err)
			}
			if want.Gap > DefaultGap(loss) || !(want.Norm > 0) {
				t.Errorf("%s %s: gap %v, norm %v", kind, loss, want.Gap, want.Norm)
			}
			disk := new(methodtest.Disk)
			for _, where := range []string{"computed", "from disk"} {
				r := real(kind)
				r.Shared = r.Shared.With(disk)
				old := runtime.GOMAXPROCS(1 + len(disk.Content)%3)
				got, err := usual(loss).Theta(context.Background(), r)
				runtime.GOMAXPROCS(old)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s %s %s: not the same (%v)", kind, loss, where, err)
				}
				again, _ := usual(loss).Theta(context.Background(), r)
				if again != got {
					t.Errorf("%s %s: computed twice", kind, loss)
				}
			}
			if len(disk.Content) != 2 { // features and theta
				t.Errorf("%s %s: %d values on disk, want 2", kind, loss, len(disk.Content))
			}
		}
	}
}

func TestDiskKeysContainImagesAndSeed(t *testing.T) {
	disk := new(methodtest.Disk)
	for i := range 3 {
		r := real("fc")
		r.Shared = r.Shared.With(disk)
		switch i {
		case 1:
			r.Data.Train.X[5] += 0.5
		case 2:
			r.Seed++
		}
		if _, err := usual(convex.LogisticLoss).Theta(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	if len(disk.Content) != 6 {
		t.Errorf("%d values on disk, want 6: images or seed are missing in a key", len(disk.Content))
	}
}

// The exact kernel draws nothing: Theta_O is the same for all seeds and all numbers and widths of
// networks, and differs for other images, depths and problems.
func TestExactThetaIsOne(t *testing.T) {
	disk := new(methodtest.Disk)
	theta := func(p Problem, change func(*space.Source)) *Theta {
		t.Helper()
		r := real("nngp")
		r.Shared = r.Shared.With(disk)
		change(&r)
		got, err := p.Theta(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		alone := r
		alone.Shared = nil
		if want, err := p.Theta(context.Background(), alone); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Theta_O differs from the first one (%v)", err)
		}
		return got
	}
	logistic := usual(convex.LogisticLoss)
	theta(logistic, func(*space.Source) {})
	for name, change := range map[string]func(*space.Source){
		"seed": func(r *space.Source) { r.Seed++ }, "width": func(r *space.Source) { r.Model.Width++ }, "nets": func(r *space.Source) { r.Model.Nets++ },
	} {
		if theta(logistic, change); len(disk.Content) != 1 {
			t.Errorf("another %s: %d values on disk, want 1", name, len(disk.Content))
		}
	}
	theta(usual(convex.SquaredLoss), func(*space.Source) {})
	theta(Problem{Loss: convex.LogisticLoss, Lambda: 1e-5}, func(*space.Source) {})
	theta(logistic, func(r *space.Source) { r.Model.Depth++ })
	theta(logistic, func(r *space.Source) { r.Data.Train.X[5] += 0.5 })
	if len(disk.Content) != 5 {
		t.Errorf("%d values on disk, want 5: the loss, lambda, depth or images are missing in a key", len(disk.Content))
	}
}

// Two datasets with equal images and different names have different networks, in any order of
// use.
func TestFeaturesDependOnTheName(t *testing.T) {
	named := func(name string, with *method.Shared) space.Source {
		r := real("fc")
		r.Data.Name, r.Shared = name, with
		return r
	}
	values := func(r space.Source) []any {
		real, err := r.Space().Real(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		theta, err := usual(convex.LogisticLoss).Theta(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		k, err := gram(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		trial := method.Trial{Data: r.Data, Test: r.Data.Train, Model: r.Model, Seed: r.Seed, Shared: r.Shared, Own: r.Shared}
		test, err := space.OfTrial(trial).ShowTest(context.Background(), trial)
		if err != nil {
			t.Fatal(err)
		}
		return []any{real.Features, theta, k, test}
	}
	alone := values(named("forms", new(method.Shared)))
	both := new(method.Shared)
	shapes := values(named("shapes", both))
	if reflect.DeepEqual(alone, shapes) {
		t.Fatal("features do not depend on the name")
	}
	if !reflect.DeepEqual(alone, values(named("forms", both))) {
		t.Error("features of forms depend on shapes, which ran before")
	}
}

func TestRefusals(t *testing.T) {
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, c := range []struct {
		why    string
		ctx    context.Context
		change func(*space.Source)
		p      Problem
	}{
		{"loss does not support 2 classes", context.Background(), nil, usual(convex.SoftmaxLoss)},
		{"at least two classes", context.Background(), func(r *space.Source) { r.Data.Classes = r.Data.Classes[:1] }, usual(convex.LogisticLoss)},
		{"class lower of halves has no training images", context.Background(), func(r *space.Source) { clear(r.Data.Train.Labels) }, usual(convex.LogisticLoss)},
		{"canceled", stopped, nil, usual(convex.LogisticLoss)},
	} {
		r := real("fc")
		if c.change != nil {
			c.change(&r)
		}
		if _, err := c.p.Theta(c.ctx, r); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %v, want %q", err, c.why)
		}
	}
	if _, err := usual(convex.LogisticLoss).Theta(stopped, real("fc")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestClass(t *testing.T) {
	for _, c := range []struct {
		outputs []float64
		want    int
	}{
		{[]float64{0.1}, 1}, {[]float64{-0.1}, 0}, {[]float64{0}, -1}, {[]float64{math.NaN()}, -1},
		{[]float64{1, 3, 2}, 1}, {[]float64{1, 3, 3}, -1}, {[]float64{3, 3, 4}, 2}, {[]float64{1, math.NaN(), 0}, -1},
	} {
		if got := Class(c.outputs); got != c.want {
			t.Errorf("%v: class %d, want %d", c.outputs, got, c.want)
		}
	}
}
