package convex

import (
	"context"
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

// Solutions have the same bits on every machine and vector path: they are held to
// digests that one machine wrote (UPDATE_GOLDEN=1 does it anew).
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
	thin := tensor.MatOf(phi.Data[:n*10], n, 10)
	ctx := context.Background()
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
		f, err := Set{Gram: gram, Loss: loss, Labels: oneColumn(signs), Lambda: lambda}.Solve(ctx, 1e-8)
		add("set "+string(loss), err, f.C.Data, f.Outputs.Data, []float64{f.Primal, f.Dual, f.Gap, f.Norm2, float64(f.Sweeps)})
		d, err := Dual{Gram: gram32, Labels: signs, Loss: map[Loss]Margin{LogisticLoss: Logistic{}, HingeLoss: Hinge{}}[loss], Lambda: lambda}.Solve(ctx, 1e-3, 5000)
		add("dual "+string(loss), err, d.Coefficients(signs, lambda), d.Outputs, []float64{d.Primal, d.Dual, d.Gap, d.Norm2, float64(d.Sweeps)})
		w, err := Thin{Features: thin, Labels: signs, Loss: loss, Lambda: lambda}.Solve(ctx, 1e-4)
		add("thin "+string(loss), err, w.Theta, w.Outputs, []float64{w.Primal, w.Dual, w.Gap, w.Norm2, float64(w.Sweeps)})
	}
	for _, loss := range []Loss{SquaredLoss, SoftmaxLoss} {
		f, err := Set{Gram: gram, Loss: loss, Labels: rows, Lambda: lambda}.Solve(ctx, 1e-8)
		add("set "+string(loss), err, f.C.Data, f.Outputs.Data, []float64{f.Primal, f.Dual, f.Gap, f.Norm2, float64(f.Sweeps)})
	}
	r, err := Ridge{Gram: gram32, Targets: rows, Lambda: lambda}.Solve(ctx, 1e-4, 5000)
	add("ridge", err, r.C.Data, r.Outputs.Data, []float64{r.Primal, r.Dual, r.Gap, r.Norm2, float64(r.Sweeps)})
	x, err := Softmax{Features: phi, Labels: classes, Classes: 3, Lambda: lambda}.Solve(ctx, 1e-3, 500, nil)
	add("softmax", err, x.Theta.Data, x.Outputs.Data, []float64{x.Primal, x.Dual, x.Gap, x.Norm2, float64(x.Iterations)})
	theta := tensor.NewMat[float64](1, m)
	for j := range theta.Data {
		theta.Data[j] = s.Normal64()
	}
	few := tensor.MatOf(phi.Data[:8*m], 8, m)
	p, err := Project(few, theta, nil)
	add("project", err, p.C.Data, p.Residual.Data)
	f := tensor.NewMat[float64](n, 1)
	tensor.MulVec64(f.Data, phi, theta.Row(0))
	q, err := Fit(few, phi, theta, f, nil)
	add("fit", err, q.C.Data, q.Residual.Data)
	b, alpha, err := ProjectBox(few, theta, 1e-2, nil)
	add("box", err, b.C.Data, alpha)

	few32, labels := tensor.NewMat[float32](8, m), tensor.MatOf(signs[:8], 8, 1)
	for name, g := range map[string]Gap{
		"logistic": {Loss: Logistic{}}, "hinge": {Loss: Hinge{}}, "hinge 0.1": {Loss: Hinge{Temperature: 0.1}},
		"logistic targets": {Loss: Logistic{}, Targets: true}, "hinge detached": {Loss: Hinge{}, Detach: true}, "targets detached": {Loss: Logistic{}, Targets: true, Detach: true},
	} {
		g.Lambda = 1e-3
		dl := make([]float64, 8)
		v := g.Eval(few, theta.Row(0), labels.Data, &few32, dl)
		add("gap "+name, nil, []float64{v.Gap, v.Norm2}, v.Residual, v.Alpha, v.Outputs, dl, widen(few32.Data))
	}
	theta3 := tensor.NewMat[float64](3, m)
	for j := range theta3.Data {
		theta3.Data[j] = s.Normal64()
	}
	for name, g := range map[string]SoftmaxGap{"softmax": {Lambda: 1e-3}, "softmax detached": {Lambda: 1e-3, Detach: true}} {
		dl := tensor.NewMat[float64](8, 3)
		v := g.Eval(few, theta3, tensor.MatOf(rows.Data[:24], 8, 3), &few32, &dl)
		add("gap "+name, nil, []float64{v.Gap, v.Norm2}, v.Residual.Data, v.Alpha.Data, v.Outputs.Data, dl.Data, widen(few32.Data))
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
