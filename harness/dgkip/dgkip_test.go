package dgkip

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

func problem(kind string) method.Problem {
	return method.Problem{
		Data: methodtest.Data(1), IPC: 2, Seed: 5, Shared: new(method.Shared),
		Model: method.Model{Kind: kind, Width: 32, Depth: 2, Nets: 2},
	}
}

// three returns data of three classes.
func three() *method.Data {
	d := methodtest.Data(1)
	d.Name, d.Classes = "thirds", append(d.Classes, "middle")
	for i := range d.Train.Labels {
		if i%3 == 2 {
			x := d.Train.At(i)
			for j := range x {
				x[j] = 2 * float32(math.Abs(float64(j/8)-3.5)) * x[j]
			}
			d.Train.Labels[i] = 2
		}
	}
	return d
}

// With a short memory, AdaBelief lowers the gap faster than with the usual one. Labels that change slowly
// keep the margins of all images close.
func TestPublished(t *testing.T) {
	run := func(change func(*Learning)) map[string]float64 {
		l := published()
		l.Updates = 200
		change(&l)
		lines, _ := trace(t, &LR{l}, problem("conv"))
		return lines[len(lines)-1].values
	}
	spread := func(last map[string]float64) float64 { return last["margin_max"] / last["margin_min"] }
	own := run(func(*Learning) {})
	if usual := run(func(l *Learning) { l.Beta2 = 0 }); !(own["bound"] < usual["bound"]) {
		t.Errorf("the bound ends at %v with a short memory, at %v with the usual one", own["bound"], usual["bound"])
	}
	if fast := run(func(l *Learning) { l.LabelRate = 0.01 }); !(spread(own) < spread(fast)) {
		t.Errorf("margins end at %v with slow labels, at %v with fast ones", own, fast)
	}
}

type line struct {
	update int
	loss   float64
	values map[string]float64
}

func trace(t *testing.T, m method.Method, p method.Problem) ([]line, *method.Distilled) {
	t.Helper()
	var lines []line
	set, err := m.Distill(context.Background(), p, func(s method.Step) {
		lines = append(lines, line{s.Update, s.Loss, s.Metrics()})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Check(); err != nil {
		t.Fatal(err)
	}
	return lines, set
}

// Every method lowers its objective, and every bound holds on the way.
func TestProgress(t *testing.T) {
	for name, m := range map[string]method.Method{
		"lr":              &LR{with(learning("gain"), 60)},
		"lr target":       &LR{with(learning("target"), 60)},
		"lr scaled":       &LR{with(learning("scaled"), 60)},
		"svm scaled":      &SVM{with(learning("scaled"), 60), 0.05},
		"lr fixed":        &LR{with(learning("fixed"), 60)},
		"svm":             &SVM{with(learning("gain"), 60), 0.2},
		"ls":              &Solved{Loop: defaults(60), Loss: "auto", Match: matchWeights},
		"ls squared":      &Solved{Loop: defaults(60), Loss: "squared", Match: matchWeights},
		"ls hinge":        &Solved{Loop: defaults(60), Loss: "hinge", Match: matchWeights},
		"ls outputs":      &Solved{Loop: defaults(60), Loss: "logistic", Match: matchOutputs},
		"ls draws":        &Solved{Loop: inDraws(defaults(60)), Loss: "auto", Match: matchWeights},
		"lr draws":        &LR{Learning{Loop: inDraws(learning("target").Loop), Objective: "log-gap", Labels: "target", LabelRate: 0.01, LabelStart: 1, Alpha: "through"}},
		"ls loss":         &Solved{Loop: defaults(60), Loss: "logistic", Match: matchLoss},
		"ls softmax loss": &Solved{Loop: defaults(60), Loss: "softmax", Match: matchLoss},
		"softmax":         &Softmax{with(learning("dual"), 60)},
		"softmax target":  &Softmax{with(learning("target"), 60)},
		"lr dual":         &LR{with(learning("dual"), 60)},
		"ls softmax":      &Solved{Loop: defaults(60), Loss: "auto", Match: matchWeights},
		"ls softmax fit":  &Solved{Loop: defaults(60), Loss: "softmax", Match: matchOutputs},
	} {
		for _, kind := range []string{"conv", "fc", "nngp"} {
			if kind == "nngp" && strings.Contains(name, "draws") {
				continue
			}
			t.Run(name+" "+kind, func(t *testing.T) {
				p := problem(kind)
				if strings.Contains(name, "softmax") {
					p.Data = three()
				}
				lines, set := trace(t, m, p)
				first, last := lines[0], lines[len(lines)-1]
				if len(lines) != 61 || last.update != 60 {
					t.Fatalf("%d lines, the last of update %d", len(lines), last.update)
				}
				share := 0.9
				if strings.Contains(name, "loss") {
					share = 1 // the regularisation is most of it, and stays
				}
				if first.loss > 1e-6 && !(last.loss < share*first.loss) { // some start at the solution
					t.Errorf("the objective went from %v to %v", first.loss, last.loss)
				}
				loss := convex.HingeLoss
				if !strings.Contains(name, "hinge") && name != "svm" {
					loss = convex.Loss(set.Loss)
				}
				theta, err := teacher.Problem{Loss: loss, Lambda: teacher.DefaultLambda}.Theta(context.Background(), space.Of(p))
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range lines {
					// The deviation is known up to the gap of the student's own solution.
					lambda := float64(set.Len()) * teacher.DefaultLambda
					unsure := math.Sqrt(2*l.values["solve_gap"]/lambda) / theta.Norm
					if l.values["bound"] < l.values["deviation"]*(1-1e-6)-2*unsure {
						t.Errorf("update %d: bound %v is below the deviation %v", l.update, l.values["bound"], l.values["deviation"])
					}
				}
			})
		}
	}
}

func inDraws(l Loop) Loop {
	l.Updates, l.Draws, l.Travel = 60, 3, true
	return l
}

func with(l Learning, updates int) Learning { l.Updates = updates; return l }

// With solved labels the bound equals the deviation, which is computed independently, by training on the
// set.
func TestSolvedLabelsMakeTheBoundTight(t *testing.T) {
	for _, loss := range []string{"logistic", "squared", "hinge"} {
		lines, _ := trace(t, &Solved{Loop: defaults(20), Loss: loss, Match: matchWeights}, problem("conv"))
		opposed := 0 // lines with an image whose coefficient opposes its output
		for _, l := range lines {
			if l.values["alpha_max"] == 1 && l.values["clipped"] == 0 {
				opposed++
			}
			if b, d := l.values["bound"], l.values["deviation"]; math.Abs(b-d) > 1e-4*d {
				t.Errorf("%s, update %d: bound %v, deviation %v", loss, l.update, b, d)
			}
		}
		if loss == "hinge" && opposed == 0 {
			t.Error("no image of the hinge loss has a coefficient that opposes its output")
		}
	}
	p := problem("fc")
	p.Data = three()
	lines, set := trace(t, &Solved{Loop: defaults(20), Loss: "auto", Match: matchWeights}, p)
	for _, l := range lines {
		if b, d := l.values["bound"], l.values["deviation"]; math.Abs(b-d) > 1e-4*d {
			t.Errorf("softmax, update %d: bound %v, deviation %v", l.update, b, d)
		}
	}
	if set.Kind != method.Soft || set.Loss != "softmax" || set.LabelWidth() != 3 {
		t.Errorf("labels of kind %q, loss %q, width %d", set.Kind, set.Loss, set.LabelWidth())
	}
}

// Without updates, dgkip-ls is the control with random images and solved labels.
func TestNoUpdates(t *testing.T) {
	p := problem("fc")
	lines, set := trace(t, &Solved{Loop: defaults(0), Loss: "auto", Match: matchWeights}, p)
	if len(lines) != 1 || lines[0].update != 0 {
		t.Fatalf("lines %v", lines)
	}
	for i := range set.Len() {
		found := false
		for j := range p.Data.Train.Len() {
			same := p.Data.Train.Labels[j] == set.Of[i]
			for k, v := range p.Data.Train.At(j) {
				same = same && v == set.Images[i*set.Size()+k]
			}
			found = found || same
		}
		if !found {
			t.Errorf("image %d is not a training image of its class", i)
		}
	}
}

// begun returns a run after Steps 1 and 2. With two classes, its gains are learned.
func begun(t *testing.T, p method.Problem, loss convex.Loss, reals bool) *run {
	t.Helper()
	r := defaults(1).newRun(p, "test")
	err := r.train(t.Context(), loss)
	if err == nil {
		err = r.initialise(t.Context(), reals)
	}
	if err == nil && len(p.Data.Classes) == 2 {
		r.learn(signs(r.of), 0.01)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func signs(of []int) tensor.Mat[float64] { return teacher.Signs(of, 2) }

// gapOf returns the gap of logistic regression, with labels of a form.
func gapOf(r *run, labels string) *gap {
	l := learning(labels)
	l.Objective = "gap"
	return l.gap(r, convex.LogisticLoss, nil, 1)
}

// The gradient of the pixels, through features, gap and labels, equals differences of the objective.
func TestGradientInThePixels(t *testing.T) {
	for name, build := range map[string]func(r *run, p method.Problem) objective{
		"gap": func(r *run, _ method.Problem) objective {
			return gapOf(r, "gain")
		},
		"gap, dual": func(r *run, _ method.Problem) objective {
			return gapOf(r, "dual")
		},
		"weights": func(r *run, _ method.Problem) objective {
			return &solved{named: convex.LogisticLoss, theta: r.theta, norm: r.norm, lambda: r.lambda, match: matchWeights}
		},
		"outputs": func(r *run, p method.Problem) objective {
			return &solved{named: convex.LogisticLoss, theta: r.theta, norm: r.norm, lambda: r.lambda, match: matchOutputs}
		},
		"loss": func(r *run, p method.Problem) objective {
			labels := teacher.RealLabels(p.Data.Train.Labels, 2, convex.LogisticLoss)
			return &solved{named: convex.LogisticLoss, theta: r.theta, norm: r.norm, lambda: r.lambda, match: matchLoss, labels: labels, real: r.Lambda}
		},
	} {
		for _, kind := range []string{"fc", "conv", "nngp", "nngp-conv", "ntk", "ntk-conv"} {
			p := problem(kind)
			r := begun(t, p, convex.LogisticLoss, true)
			r.obj = build(r, p)
			value := func(gradient bool) float64 {
				v, err := r.eval(context.Background(), 0, gradient)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			value(true)
			r.pass.Back(r.dx)
			norm := length(r.dx)
			start := slices.Clone(r.images)
			at := func(step float64) float64 {
				for i, g := range r.dx {
					r.images[i] = start[i] + float32(step*float64(g)/norm)
				}
				return value(false)
			}
			const h = 2e-3
			got := (at(h) - at(-h)) / (2 * h)
			if math.Abs(got-norm) > 0.02*norm {
				t.Errorf("%s %s: slope along the gradient %v, its length %v", name, kind, got, norm)
			}

			if _, learns := r.obj.(*gap); !learns {
				continue
			}
			at(0)
			along, begin := slices.Clone(r.dlearned.Data), slices.Clone(r.learned.Data)
			norm = length(along)
			in := func(step float64) float64 {
				for i, g := range along {
					r.learned.Data[i] = begin[i] + step*g/norm
				}
				return value(false)
			}
			if got := (in(h) - in(-h)) / (2 * h); math.Abs(got-norm) > 1e-3*norm {
				t.Errorf("%s %s: slope along the gradient in the labels %v, its length %v", name, kind, got, norm)
			}
		}
	}
}

func length[T float32 | float64](v []T) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// A set gets a note if all its dual variables have vanished.
func TestTrivialPlateauIsTold(t *testing.T) {
	r := begun(t, problem("fc"), convex.LogisticLoss, false)
	far := *r.theta
	far.Weights = tensor.NewMat[float64](1, r.theta.Weights.Cols)
	for _, factor := range []float64{1, 1000} {
		for i, v := range r.theta.Weights.Data {
			far.Weights.Data[i] = factor * v
		}
		far.Norm = factor * r.theta.Norm
		var err error
		if r.pass, err = space.Of(r.problem).Space().Learn(context.Background(), r.images, &far.Model, false); err != nil {
			t.Fatal(err)
		}
		r.norm = far.Norm
		o := gapOf(r, "gain")
		r.obj = o
		if _, err := r.eval(context.Background(), 0, false); err != nil {
			t.Fatal(err)
		}
		notes := o.finish().notes
		if told := len(notes) == 1 && strings.Contains(notes[0], "trivial"); told != (factor > 1) {
			t.Errorf("factor %v: notes %q at bound %v, alpha %v", factor, notes, o.bound(), o.v.Alpha.Data)
		}
	}
}

// The Gram matrix of two equal images is singular, except for the jitter. Labels can still be solved for,
// and the bound holds.
func TestEqualImages(t *testing.T) {
	p := problem("fc")
	for i := range p.Data.Train.Labels {
		copy(p.Data.Train.At(i), p.Data.Train.At(p.Data.Train.Labels[i]))
	}
	lines, set := trace(t, &Solved{Loop: defaults(3), Loss: "auto", Match: matchWeights}, p)
	same := true
	for i, v := range set.Images[:set.Size()] {
		same = same && v == set.Images[set.Size()+i]
	}
	if !same {
		t.Error("the two images of a class differ, so nothing was tested")
	}
	for _, l := range lines {
		// Both vanish: the set is all training images. The student is solved to 1e-6.
		if b, d := l.values["bound"], l.values["deviation"]; math.Abs(b-d) > 1e-6 {
			t.Errorf("update %d: bound %v, deviation %v", l.update, b, d)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for want, m := range map[string]method.Checker{
		"lambda":       &Solved{Loop: func() Loop { l := defaults(1); l.Lambda = 0; return l }(), Loss: "auto", Match: matchWeights},
		"rate":         &LR{func() Learning { l := learning("gain"); l.Rate = math.Inf(1); return l }()},
		"labels":       &SVM{learning("target"), 1},
		"temperature":  &SVM{learning("gain"), 0},
		"label_rate":   &SVM{learning("fixed"), 1},
		"label_start":  &LR{func() Learning { l := learning("gain"); l.LabelStart = 0; return l }()},
		"alpha":        &Softmax{func() Learning { l := learning("dual"); l.Alpha = "detached"; return l }()},
		"match":        &Solved{Loop: defaults(1), Loss: "hinge", Match: matchOutputs},
		"refit_labels": &Solved{Loop: func() Loop { l := defaults(1); l.Draws = 2; return l }(), Loss: "auto", Match: matchWeights, RefitLabels: matchOutputs},
		"batch":        &Solved{Loop: defaults(1), Loss: "auto", Match: matchWeights, Batch: 10},
	} {
		err, ok := m.Check().(*method.BadSetting)
		if !ok || err.Key != want {
			t.Errorf("%s: got %v", want, m.Check())
		}
	}
	for start, want := range map[float64][]float64{0: {0, 0}, 1: {-1, 1}, 0.5: {-0.5, 0.5}} {
		l := learning("scaled")
		l.LabelStart = start
		if got := l.first([]int{0, 1}, 1).Data; !slices.Equal(got, want) {
			t.Errorf("label_start %v: gains begin at %v, want %v", start, got, want)
		}
	}
	if err := (&SVM{learning("dual"), 1}).Check(); err == nil || !strings.Contains(err.Error(), "dual") {
		t.Errorf("the hinge loss with dual: %v", err)
	}
	if err := (&Softmax{learning("scaled")}).Check(); err == nil || !strings.Contains(err.Error(), "scaled") {
		t.Errorf("scaled gains of ten classes: %v", err)
	}
	if err := (&Softmax{learning("gain")}).Check(); err == nil {
		t.Error("gains for many classes were accepted")
	}
}

// If all real images are zero, Theta_O is zero, and distilling is an error.
func TestModelOfZero(t *testing.T) {
	p := problem("fc")
	clear(p.Data.Train.X)
	for name, m := range map[string]method.Method{"lr": &LR{learning("gain")}, "ls": &Solved{Loop: defaults(6), Loss: "logistic", Match: matchWeights}} {
		if _, err := m.Distill(context.Background(), p, func(method.Step) {}); !errors.Is(err, teacher.ErrZero) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadSizes(t *testing.T) {
	fits := method.Sizes{Train: 100, Test: 10, Classes: 2, H: 8, W: 8, C: 1, Smallest: 50, IPC: 2, Model: method.Model{Kind: "fc", Width: 4, Depth: 1, Nets: 1}}
	if err := (&LR{learning("gain")}).CheckSizes(fits); err != nil {
		t.Error(err)
	}
	fit := &Solved{Loop: defaults(6), Loss: "logistic", Match: matchOutputs, Batch: 4}
	if err := fit.CheckSizes(fits); err == nil || !strings.Contains(err.Error(), "fits exactly on 4 real images") {
		t.Errorf("as many images as real ones: %v", err)
	}
	if fit.Batch = 5; fit.CheckSizes(fits) != nil {
		t.Error(fit.CheckSizes(fits))
	}
	for want, change := range map[string]func(*method.Sizes){
		"not support 3 classes":     func(s *method.Sizes) { s.Classes = 3 },
		"at least two classes":      func(s *method.Sizes) { s.Classes = 1 },
		"smallest class has only 1": func(s *method.Sizes) { s.Smallest = 1 },
		// With few features the matrix is not needed, but an exact kernel has no features.
		"networks of finite width": func(s *method.Sizes) { s.Train, s.Model.Kind = 30001, "nngp" },
	} {
		s := fits
		change(&s)
		if err := (&LR{learning("gain")}).CheckSizes(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Labels are solved for one lambda. Scoring with another is an error before the run.
func TestLambdaIsOne(t *testing.T) {
	s := method.Sizes{Train: 100, Test: 10, Classes: 2, H: 8, W: 8, C: 1, Smallest: 50, IPC: 2, Model: method.Model{Kind: "fc", Width: 4, Depth: 1, Nets: 1}}
	for scored, refused := range map[float64]bool{teacher.DefaultLambda: false, 1e-4: true, 0: false} {
		err := method.CheckSizes(&LR{learning("gain")}, judge{scored}, s)
		if refused != (err != nil) || refused && !strings.Contains(err.Error(), "the protocol's is 0.0001") {
			t.Errorf("scored with %v: %v", scored, err)
		}
	}
}

// judge is a protocol whose model has a lambda; 0 means that it has no model.
type judge struct{ lambda float64 }

func (j judge) Info() method.ProtocolInfo { return method.ProtocolInfo{Lambda: j.lambda} }
func (judge) Score(context.Context, method.Trial, func(method.Step)) (*method.Scores, error) {
	return nil, nil
}

// refit_labels does not change the images, and its labels lower the real loss.
func TestRefitLabels(t *testing.T) {
	for _, kind := range []string{"fc", "nngp", "nngp-conv", "ntk-conv"} {
		plain := &Solved{Loop: defaults(6), Loss: "auto", Match: matchWeights}
		lines, set := trace(t, plain, problem(kind))
		again := *plain
		again.RefitLabels = matchLoss
		refitted, other := trace(t, &again, problem(kind))
		if !slices.Equal(set.Images, other.Images) {
			t.Errorf("%s: the images are not the same", kind)
		}
		if slices.Equal(set.Labels, other.Labels) {
			t.Errorf("%s: the labels are the same", kind)
		}
		last, after := lines[len(lines)-1].values, refitted[len(refitted)-1].values
		if after["real_loss"] <= 0 || after["residual"] <= last["residual"] {
			t.Errorf("%s: real loss %v; distance from Theta_O %v, and %v where labels lower that", kind, after["real_loss"], after["residual"], last["residual"])
		}
		if after["deviation"] > after["bound"]*(1+1e-6) {
			t.Errorf("%s: deviation %v beyond the bound %v", kind, after["deviation"], after["bound"])
		}
	}
}

// In the exact kernel with several classes, the slope along the gradient equals its length, both for all
// real images and for a batch.
func TestKernelGradientOfThreeClasses(t *testing.T) {
	some := []int{1, 2, 4, 5, 7, 9, 10, 11}
	for match, batch := range map[Match][]int{matchWeights: nil, matchOutputs: nil, matchLoss: some} {
		p := problem("nngp")
		p.Data = three()
		r := begun(t, p, convex.SoftmaxLoss, true)
		if batch != nil {
			r.batches = func(int) []int { return batch }
		}
		labels := teacher.RealLabels(p.Data.Train.Labels, 3, convex.SoftmaxLoss)
		r.obj = &solved{named: convex.SoftmaxLoss, theta: r.theta, norm: r.norm, lambda: r.lambda, match: match, labels: labels, real: 1e-2, batch: batch}
		value := func(gradient bool) float64 {
			v, err := r.eval(context.Background(), 0, gradient)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		value(true)
		r.pass.Whole() // which leaves the gradient alone
		r.pass.Back(r.dx)
		norm := length(r.dx)
		start := slices.Clone(r.images)
		at := func(step float64) float64 {
			for i, g := range r.dx {
				r.images[i] = start[i] + float32(step*float64(g)/norm)
			}
			return value(false)
		}
		const h = 1e-2
		if got := (at(h) - at(-h)) / (2 * h); math.Abs(got-norm) > 0.03*norm {
			t.Errorf("%s: slope along the gradient %v, its length %v", match, got, norm)
		}
	}
}
