package eval

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

func regressor() *Squared {
	q := method.NewProtocol("squared").(*Squared)
	q.Nets, q.Steps, q.Batch, q.Rate, q.Rise = 2, 30, 5, 0.01, 4
	return q
}

// valued returns a trial whose labels are one value per class.
func valued(kind string) method.Trial {
	tr := trial(kind)
	tr.Set.Kind = method.Value
	for i, v := range tr.Set.Labels {
		tr.Set.Labels[i] = 3*v - 1
	}
	return tr
}

func TestSquaredLearns(t *testing.T) {
	for _, kind := range []string{"conv", "fc"} {
		for _, tr := range []method.Trial{trial(kind), valued(kind)} {
			q := regressor()
			q.Steps = 100
			if s := scored(t, q, tr); s.Metrics["test_acc"] < 0.9 || len(s.Counts["test_errors"]) != 2 {
				t.Errorf("%s, labels of kind %s: %v", kind, tr.Set.Kind, s)
			}
		}
	}
	whole := trial("fc")
	want := scored(t, regressor(), whole)
	whole.Set = &method.Distilled{Whole: true, Classes: whole.Data.Classes}
	if got := scored(t, regressor(), whole); !reflect.DeepEqual(got, want) {
		t.Errorf("the whole set scores %v, its images %v", got, want)
	}
}

// Scores match an explicit loop of Adam on (1/2n) sum |f - y|^2.
func TestSquaredByHand(t *testing.T) {
	q := regressor()
	q.Nets, q.Steps, q.Augment = 1, 8, ""
	tr := valued("fc")
	tr.Model.Width = 12 // wide enough that no image makes all units of a layer zero, which would be a kink
	net, err := nn.FCNet[float64](64, tr.Model.Width, tr.Model.Depth, 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	s, err := q.Score(context.Background(), tr, func(s method.Step) { got = append(got, s.Loss) })
	if err != nil {
		t.Fatal(err)
	}
	theta, images := make([]float64, net.Params()), make([]float64, len(tr.Set.Images))
	net.InitLecun(theta, rng.Stream(tr.Seed, "eval", "squared", "0", "init"))
	for i, v := range tr.Set.Images {
		images[i] = float64(v)
	}
	g, m, v := make([]float64, len(theta)), make([]float64, len(theta)), make([]float64, len(theta))
	pass := net.NewPass()
	for step := range q.Steps {
		from := []int{0, 5, 10}[step%3]
		to := min(from+5, 12)
		loss := func() (loss float64) {
			for i, f := range pass.Outputs(theta, images[from*64:to*64], to-from) {
				e := f - float64(tr.Set.Labels[2*from+i])
				loss += e * e / float64(2*(to-from))
			}
			return loss
		}
		if want := loss(); math.Abs(got[step]-want) > 1e-4*want {
			t.Errorf("loss %v in step %d, want %v", got[step], step, want)
		}
		for i, w := range theta {
			const h = 1e-6
			theta[i] = w + h
			up := loss()
			theta[i] = w - h
			g[i] = (up - loss()) / (2 * h)
			theta[i] = w
		}
		rate := q.Rate * q.share(step, q.Steps)
		for i := range theta {
			m[i] = 0.9*m[i] + 0.1*g[i]
			v[i] = 0.999*v[i] + 0.001*g[i]*g[i]
			mean, square := m[i]/(1-math.Pow(0.9, float64(step+1))), v[i]/(1-math.Pow(0.999, float64(step+1)))
			theta[i] -= rate * mean / (math.Sqrt(square) + 1e-8)
		}
	}
	if s.Counts["test_images"][0] != 12 {
		t.Errorf("counts %v", s.Counts)
	}
}

// The rate rises for 500 steps and then falls to a hundredth. The number of steps depends on the
// number of images.
func TestSquaredRate(t *testing.T) {
	q := method.NewProtocol("squared").(*Squared)
	for step, want := range map[int]float64{0: 0, 250: 1.5e-4, 500: 3e-4, 750: 3e-4 * 0.505, 1000: 3e-6} {
		if got := q.Rate * q.share(step, q.steps(10)); math.Abs(got-want) > 1e-12 {
			t.Errorf("rate %v in step %d, want %v", got, step, want)
		}
	}
	for n, want := range map[int]int{2: 1000, 10: 1000, 100: 2000, 500: 5000, 1000: 10000} {
		if got := q.steps(n); got != want {
			t.Errorf("%d steps on %d images, want %d", got, n, want)
		}
	}
}

func TestSquaredSameBits(t *testing.T) { checkSameBits(t, regressor(), valued("conv"), 7) }

// One value per class is used unchanged; other labels become distributions minus 1/C.
func TestSquaredLabels(t *testing.T) {
	for _, c := range []struct {
		kind         method.LabelKind
		labels, want []float32
	}{
		{method.Value, []float32{0.1, 0.2, 3, -1}, []float32{0.1, 0.2, 3, -1}},
		{method.Value, []float32{-3, 0.1}, []float32{0.5, -0.5, -0.5, 0.5}},
		{method.Hard, []float32{1, 0, 0, 1}, []float32{0.5, -0.5, -0.5, 0.5}},
		{method.Target, []float32{0.25, 1.5}, []float32{0.25, -0.25, -0.5, 0.5}},
	} {
		tr := trial("fc")
		tr.Set.Images, tr.Set.Of, tr.Set.Kind, tr.Set.Labels = tr.Set.Images[:2*64], []int{0, 1}, c.kind, c.labels
		before := slices.Clone(c.labels)
		d, err := values(tr, 2)
		if err != nil || !slices.Equal(d.Targets, c.want) || !slices.Equal(before, c.labels) {
			t.Errorf("%s %v becomes %v, want %v: %v", c.kind, c.labels, d.Targets, c.want, err)
		}
	}
}

func TestSquaredSettings(t *testing.T) {
	q := regressor()
	q.Rate, q.Augment = 0, "spin"
	if err := q.Check(); err == nil || !strings.Contains(err.Error(), "rate must be positive") || !strings.Contains(err.Error(), `"spin"`) {
		t.Errorf("got %v", err)
	}
	s := method.Sizes{Train: 12, Test: 12, Classes: 2, H: 8, W: 8, C: 1, Model: trial("conv").Model}
	if err := regressor().CheckSizes(s); err != nil {
		t.Error(err)
	}
	s.Model.Depth = 4
	if err := regressor().CheckSizes(s); err == nil || !strings.Contains(err.Error(), "[eval.squared] images of 8x8 pixels are too small") {
		t.Errorf("got %v", err)
	}
	q = regressor()
	if got := q.Info().Family; got != method.NetworkSoftAug {
		t.Errorf("family %s", got)
	}
	q.Augment, q.Rate = "", 1e5
	if got := q.Info().Family; got != method.NetworkSoft {
		t.Errorf("family %s", got)
	}
	if _, err := q.Score(context.Background(), valued("conv"), func(method.Step) {}); err == nil || !strings.Contains(err.Error(), "training diverged") {
		t.Errorf("got %v", err)
	}
}
