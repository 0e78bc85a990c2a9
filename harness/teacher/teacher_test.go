package teacher

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/rng"
	"dgkip/harness/space"
	"dgkip/harness/tensor"
)

func real(kind string) space.Source {
	return space.Source{
		Data: methodtest.Data(1), Seed: 3, Shared: new(method.Shared),
		Model: method.Model{Kind: kind, Width: 8, Depth: 2, Nets: 3},
	}
}

// gram returns the inner products of the training images.
func gram(ctx context.Context, s space.Source) (tensor.Mat[float32], error) {
	p, err := s.Space().Real(ctx)
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	return p.Large(ctx)
}

// memory is a method.Disk in memory.
type memory map[string][]byte

func (m memory) Load(key string, read func(io.Reader) error) bool {
	b, ok := m[key]
	return ok && read(bytes.NewReader(b)) == nil
}

func (m memory) Save(key string, size int64, write func(io.Writer) error) {
	var b bytes.Buffer
	if err := write(&b); err == nil && int64(b.Len()) == size {
		m[key] = b.Bytes()
	}
}

func TestThetaHasTheSameBitsFromEverySource(t *testing.T) {
	for _, kind := range []string{"conv", "fc"} {
		for _, loss := range Losses(2) {
			want, err := Problem{Loss: loss}.Theta(context.Background(), real(kind))
			if err != nil {
				t.Fatal(kind, loss, err)
			}
			if want.Gap > defaultGap(loss) || !(want.Norm > 0) {
				t.Errorf("%s %s: gap %v, norm %v", kind, loss, want.Gap, want.Norm)
			}
			disk := memory{}
			for _, where := range []string{"computed", "from disk"} {
				r := real(kind)
				r.Shared = r.Shared.With(disk)
				old := runtime.GOMAXPROCS(1 + len(disk)%3)
				got, err := Problem{Loss: loss}.Theta(context.Background(), r)
				runtime.GOMAXPROCS(old)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s %s %s: not the same (%v)", kind, loss, where, err)
				}
				again, _ := Problem{Loss: loss}.Theta(context.Background(), r)
				if again != got {
					t.Errorf("%s %s: computed twice", kind, loss)
				}
			}
			if len(disk) != 2 { // features and theta
				t.Errorf("%s %s: %d values on disk, want 2", kind, loss, len(disk))
			}
		}
	}
}

func TestDiskKeysContainImagesAndSeed(t *testing.T) {
	disk := memory{}
	for i := range 3 {
		r := real("fc")
		r.Shared = r.Shared.With(disk)
		switch i {
		case 1:
			r.Data.Train.X[5] += 0.5
		case 2:
			r.Seed++
		}
		if _, err := (Problem{Loss: convex.LogisticLoss}).Theta(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	if len(disk) != 6 {
		t.Errorf("%d values on disk, want 6: images or seed are missing in a key", len(disk))
	}
}

// The exact kernel draws nothing: Theta_O is the same for all seeds and all numbers and widths of
// networks, and differs for other images, depths and problems.
func TestExactThetaIsOne(t *testing.T) {
	disk := memory{}
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
	logistic := Problem{Loss: convex.LogisticLoss}
	theta(logistic, func(*space.Source) {})
	for name, change := range map[string]func(*space.Source){
		"seed": func(r *space.Source) { r.Seed++ }, "width": func(r *space.Source) { r.Model.Width++ }, "nets": func(r *space.Source) { r.Model.Nets++ },
	} {
		if theta(logistic, change); len(disk) != 1 {
			t.Errorf("another %s: %d values on disk, want 1", name, len(disk))
		}
	}
	theta(Problem{Loss: convex.SquaredLoss}, func(*space.Source) {})
	theta(Problem{Loss: convex.LogisticLoss, Lambda: 1e-5}, func(*space.Source) {})
	theta(logistic, func(r *space.Source) { r.Model.Depth++ })
	theta(logistic, func(r *space.Source) { r.Data.Train.X[5] += 0.5 })
	if len(disk) != 5 {
		t.Errorf("%d values on disk, want 5: the loss, lambda, depth or images are missing in a key", len(disk))
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
		theta, err := Problem{Loss: convex.LogisticLoss}.Theta(context.Background(), r)
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
		{"loss does not support 2 classes", context.Background(), nil, Problem{Loss: convex.SoftmaxLoss}},
		{"at least two classes", context.Background(), func(r *space.Source) { r.Data.Classes = r.Data.Classes[:1] }, Problem{Loss: convex.LogisticLoss}},
		{"lambda must be positive, not -1", context.Background(), nil, Problem{Loss: convex.LogisticLoss, Lambda: -1}},
		{"class lower of halves has no training images", context.Background(), func(r *space.Source) { clear(r.Data.Train.Labels) }, Problem{Loss: convex.LogisticLoss}},
		{"canceled", stopped, nil, Problem{Loss: convex.LogisticLoss}},
	} {
		r := real("fc")
		if c.change != nil {
			c.change(&r)
		}
		if _, err := c.p.Theta(c.ctx, r); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %v, want %q", err, c.why)
		}
	}
	if _, err := (Problem{Loss: convex.LogisticLoss}).Theta(stopped, real("fc")); !errors.Is(err, context.Canceled) {
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

// The best gap equals P(Theta) - P(Theta*), computed by definition.
func TestBestGap(t *testing.T) {
	s := rng.Stream(1, "best gap")
	const n, m, lambda = 6, 40, 0.05
	phi := tensor.NewMat[float32](n, m)
	s.FillNormal(phi.Data, 0, 0.3)
	random := func(rows, cols int, sd float64) tensor.Mat[float64] {
		x := tensor.NewMat[float64](rows, cols)
		for i := range x.Data {
			x.Data[i] = sd * s.Normal64()
		}
		return x
	}
	signs := Signs([]int{0, 1, 1, 0, 1, 0}, 2)
	for name, labels := range map[string]convex.Labels{
		"logistic gain":   {Form: convex.Gain, Loss: convex.LogisticLoss, Values: signs},
		"logistic target": {Form: convex.Target, Loss: convex.LogisticLoss, Values: random(n, 1, 2)},
		"hinge":           {Form: convex.Gain, Loss: convex.HingeLoss, Values: signs},
		"squared":         {Form: convex.Value, Loss: convex.SquaredLoss, Values: random(n, 3, 1)},
		"softmax":         {Form: convex.Target, Loss: convex.SoftmaxLoss, Values: random(n, 3, 1)},
	} {
		k := labels.Values.Cols
		theta := random(k, m, 1)
		student, err := Train(context.Background(), convex.GramOf(phi), labels, lambda)
		if err != nil {
			t.Fatal(name, err)
		}
		view, weights := convex.Features{A: phi, Theta: theta}, convex.Combine(phi, student.C)
		distance := view.Distance(student.C)
		got := convex.BestGap(view, student)
		want := primal(phi, theta, labels, lambda) - primal(phi, weights, labels, lambda)
		if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("%s: gap %v, want %v", name, got, want)
		}
		if bound := convex.Bound(got, lambda); bound < distance*(1-1e-9) {
			t.Errorf("%s: bound %v below the distance %v", name, bound, distance)
		}
	}
}

func primal(phi tensor.Mat[float32], theta tensor.Mat[float64], l convex.Labels, lambda float64) float64 {
	f := convex.Apply(phi, theta)
	sum := lambda / 2 * convex.Norm(theta) * convex.Norm(theta)
	for i := range f.Rows {
		a, y := f.Row(i), l.Values.Row(i)
		switch l.Loss {
		case convex.HingeLoss:
			sum += math.Max(0, 1-y[0]*a[0])
		case convex.LogisticLoss:
			if l.Form == convex.Target {
				sum += math.Log1p(math.Exp(a[0])) - y[0]*a[0]
			} else {
				sum += math.Log1p(math.Exp(-y[0] * a[0]))
			}
		case convex.SquaredLoss:
			for k := range a {
				sum += (a[k] - y[k]) * (a[k] - y[k]) / 2
			}
		case convex.SoftmaxLoss:
			z := 0.0
			for k := range a {
				z += math.Exp(a[k])
				sum -= y[k] * a[k]
			}
			sum += math.Log(z)
		}
	}
	return sum
}

// Larger problems use other solvers, with more features than images and with fewer.
func TestThetaOnManyImages(t *testing.T) {
	s := rng.Stream(9, "many")
	d := methodtest.Data(1)
	d.Train.X, d.Train.Labels = nil, nil
	for i := range 612 { // more than the solver for small sets takes
		class := i % 2
		for j := range 64 {
			d.Train.X = append(d.Train.X, float32(s.Normal64())+0.5*float32(2*class-1)*float32(j%2))
		}
		d.Train.Labels = append(d.Train.Labels, class)
	}
	for _, nets := range []int{1, 12} { // 64 and 768 features
		for _, loss := range Losses(2) {
			var first *Theta
			for _, threads := range []int{1, 3} {
				shares := 0
				r := space.Source{Data: d, Seed: 3, Shared: new(method.Shared), Model: method.Model{Kind: "fc", Width: 64, Depth: 1, Nets: nets}}
				r.Phase = func(what string, done float64) {
					if what == "solving the "+string(loss)+" model" && done > 0 && done < 1 {
						shares++
					}
				}
				old := runtime.GOMAXPROCS(threads)
				got, err := Problem{Loss: loss}.Theta(context.Background(), r)
				runtime.GOMAXPROCS(old)
				if err != nil {
					t.Fatal(nets, loss, err)
				}
				if got.Gap > defaultGap(loss) || got.Errors > len(d.Train.Labels)/10 {
					t.Errorf("%d nets, %s: gap %v, %d errors", nets, loss, got.Gap, got.Errors)
				}
				if shares == 0 {
					t.Errorf("%d nets: the %s model reports no progress", nets, loss)
				}
				if first == nil {
					first = got
				} else if !reflect.DeepEqual(first, got) {
					t.Errorf("%d nets, %s: the number of threads changes the bits", nets, loss)
				}
			}
		}
	}
}
