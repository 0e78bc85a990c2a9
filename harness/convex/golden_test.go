package convex

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Solutions have the same bits on every machine and vector path. They are compared with stored
// digests, which UPDATE_GOLDEN=1 rewrites.
func TestSolutionsAreTheSameEverywhere(t *testing.T) {
	const n, m, file = 60, 90, "testdata/solutions.txt"
	s := rng.Stream(11, "golden")
	phi := tensor.NewMat[float32](n, m)
	s.FillNormal(phi.Data, 0.1, 0.15)
	classes, signs := make([]int, n), make([]float64, n)
	rows, onehot := tensor.NewMat[float64](n, 3), tensor.NewMat[float64](n, 3)
	for i := range n {
		classes[i] = s.IntN(3)
		signs[i] = float64(2*(classes[i]%2) - 1)
		onehot.Row(i)[classes[i]] = 1
		for k := range 3 {
			rows.Row(i)[k] = s.Normal64()
		}
	}
	gram32, gram := tensor.NewMat[float32](n, n), tensor.NewMat[float64](n, n)
	tensor.Gram(gram32, phi)
	tensor.Gram64(gram, phi)
	few := tensor.MatOf(phi.Data[:n*10], n, 10)
	var lines []string
	add := func(name string, err error, values ...[]float64) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		h := fnv.New64a()
		for _, v := range values {
			for _, x := range v {
				h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
			}
		}
		lines = append(lines, fmt.Sprintf("%s %016x", name, h.Sum64()))
	}
	const lambda = 1e-3
	for _, loss := range []Loss{LogisticLoss, HingeLoss} {
		f, err := exactly(gram, gainsOf(loss, signs), lambda, 1e-8)
		add("kernel "+string(loss), err, f.C.Data, f.Outputs.Data, []float64{f.Primal, f.Dual, f.Gap, f.Norm2, float64(f.Sweeps)})
		d, err := dual{Gram: gram32, Labels: signs, Loss: loss, Lambda: lambda}.solve(towards(1e-3, 5000))
		add("dual "+string(loss), err, d.C.Data, d.Outputs.Data, []float64{d.Primal, d.Dual, d.Gap, d.Norm2, float64(d.Sweeps)})
		w, err := primalNewton{Features: few, Labels: signs, Loss: loss, Lambda: lambda}.solve(towards(1e-4, 5000))
		add("primal "+string(loss), err, w.Weights.Data, w.Outputs.Data, []float64{w.Primal, w.Dual, w.Gap, w.Norm2, float64(w.Sweeps)})
	}
	v, err := newMultipliers(&single{dual: dual{Gram: gram32, Labels: signs, Loss: HingeLoss, Lambda: lambda}, search: towards(1e-6, 5000)}).solve()
	add("multipliers", err, v.C.Data, v.Outputs.Data, []float64{v.Primal, v.Dual, v.Gap, v.Norm2, float64(v.Sweeps)})
	for _, loss := range []Loss{SquaredLoss, SoftmaxLoss} {
		f, err := exactly(gram, Labels{Form: forms[loss], Loss: loss, Values: rows}, lambda, 1e-8)
		add("kernel "+string(loss), err, f.C.Data, f.Outputs.Data, []float64{f.Primal, f.Dual, f.Gap, f.Norm2, float64(f.Sweeps)})
	}
	r, err := conjugateGradients{Gram: gram32, Targets: rows, Lambda: lambda}.solve(towards(1e-4, 5000))
	add("ridge", err, r.C.Data, r.Outputs.Data, []float64{r.Primal, r.Dual, r.Gap, r.Norm2, float64(r.Sweeps)})
	x, err := storedSoftmax{Features: phi, Labels: classes, Classes: 3, Lambda: lambda}.solve(towards(1e-3, 500))
	add("softmax", err, x.Weights.Data, x.Outputs.Data, []float64{x.Primal, x.Dual, x.Gap, x.Norm2, float64(x.Sweeps)})
	theta := tensor.NewMat[float64](1, m)
	for j := range theta.Data {
		theta.Data[j] = s.Normal64()
	}
	few = tensor.MatOf(phi.Data[:8*m], 8, m)
	p, err := Project(Features{A: few, Theta: theta})
	add("project", err, p.C.Data, p.Residual.Weights.Data)
	f := tensor.NewMat[float64](n, 1)
	tensor.MulVec64(f.Data, phi, theta.Row(0))
	q, err := Fit(Features{A: few, Theta: theta, Real: phi}, f)
	add("fit", err, q.C.Data, q.Residual.Weights.Data)
	hinge := p.HingeLabels(1e-2)
	add("hinge labels", nil, hinge.Gains, hinge.Alpha)

	few32, labels := tensor.NewMat[float32](8, m), tensor.MatOf(signs[:8], 8, 1)
	for name, g := range map[string]Gap{
		"logistic": {Pair: Gains(Logistic{})}, "hinge": {Pair: Gains(Hinge{})}, "hinge 0.1": {Pair: Gains(Hinge{Temperature: 0.1})},
		"logistic targets": {Pair: targets(LogisticLoss)}, "hinge detached": {Pair: Gains(Hinge{}), Detach: true}, "targets detached": {Pair: targets(LogisticLoss), Detach: true},
	} {
		g.Lambda = 1e-3
		dl := tensor.NewMat[float64](8, 1)
		v := g.Eval(Features{A: few, Theta: theta, Grad: &few32}, labels, &dl)
		add("gap "+name, nil, []float64{v.Gap, v.Norm2}, v.Residual.Weights.Data, v.Alpha.Data, v.Outputs.Data, dl.Data, widen(few32.Data))
	}
	theta3 := tensor.NewMat[float64](3, m)
	for j := range theta3.Data {
		theta3.Data[j] = s.Normal64()
	}
	for name, g := range map[string]Gap{
		"softmax": {Pair: targets(SoftmaxLoss), Lambda: 1e-3}, "softmax detached": {Pair: targets(SoftmaxLoss), Lambda: 1e-3, Detach: true},
	} {
		dl := tensor.NewMat[float64](8, 3)
		v := g.Eval(Features{A: few, Theta: theta3, Grad: &few32}, tensor.MatOf(rows.Data[:24], 8, 3), &dl)
		add("gap "+name, nil, []float64{v.Gap, v.Norm2}, v.Residual.Weights.Data, v.Alpha.Data, v.Outputs.Data, dl.Data, widen(few32.Data))
	}
	slices.Sort(lines)

	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(strings.Join(lines, " ")); !slices.Equal(got, strings.Fields(string(want))) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), want)
	}
}
