package convex

import (
	"math"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Outputs of the solved model on new images respect both bounds, and so do an Interval's
// decisions.
func TestIntervals(t *testing.T) {
	r := rng.Stream(1, "intervals")
	sure := [2]int{}
	for range 200 {
		p := drawMany(r)
		if p.phi.Rows >= p.phi.Cols {
			continue
		}
		theta := p.theta
		if r.IntN(2) == 0 {
			theta = oneRow(theta.Row(0))
		}
		s, err := Project(Features{A: p.phi, Theta: theta})
		if err != nil {
			t.Fatal(err)
		}
		thetaS := Combine(p.phi, s.C)
		x := tensor.NewMat[float32](50, p.phi.Cols)
		r.FillNormal(x.Data, 0, 0.5)
		for i := range 25 { // images with features near the span
			c := make([]float64, p.phi.Rows)
			for j := range c {
				c[j] = r.Normal64()
			}
			for j, v := range subtractRows(widen(x.Row(i)), p.phi, c) {
				x.Row(i)[j] = float32(0.1*float64(x.Row(i)[j])) + float32(v)
			}
		}
		norms := make([]float64, x.Rows)
		for i := range norms {
			norms[i] = square(widen(x.Row(i)))
		}
		cross := tensor.NewMat[float64](x.Rows, p.phi.Rows)
		tensor.Cross64(cross, x, p.phi)
		span, err := NewSpan(GramOf(p.phi))
		if err != nil {
			t.Fatal(err)
		}
		far := span.Distance2(cross, norms)
		fO, fS := Apply(x, theta), Apply(x, thetaS)
		labels := make([]int, x.Rows)
		for i := range labels {
			labels[i] = r.IntN(max(2, fO.Cols))
			// The distance by projection.
			a := tensor.NewMat[float64](1, x.Cols)
			copy(a.Data, widen(x.Row(i)))
			row := tensor.Mat[float32]{Rows: 1, Cols: x.Cols, Stride: x.Cols, Data: x.Row(i)}
			own, err := Project(Features{A: p.phi, Theta: oneRow(widen(row.Data))})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(own.Norm2-far[i]) > 1e-6*norms[i] || far[i] > norms[i] {
				t.Fatalf("distance from the span %v, by projection %v", far[i], own.Norm2)
			}
		}
		for _, rho := range [][]float64{Rho(norms, math.Sqrt(s.Norm2)), Rho(far, math.Sqrt(s.Norm2))} {
			for i, limit := range rho {
				if d := distance(fO.Row(i), fS.Row(i)); d > limit*(1+1e-9)+1e-9 {
					t.Fatalf("outputs differ by %v, bound %v", d, limit)
				}
				got := NewInterval(oneImage(fO, i), labels[i:i+1], rho[i:i+1])
				right := fS.Row(i)[0] > 0 == (labels[i] == 1)
				if fS.Cols > 1 {
					right = true
					for _, v := range fS.Row(i) {
						right = right && v <= fS.Row(i)[labels[i]]
					}
				}
				if got.Right == 1 && !right || got.Wrong == 1 && right {
					t.Fatalf("the interval is %+v, but S is right: %t", got, right)
				}
			}
			v := NewInterval(fO, labels, rho)
			if v.Right+v.Wrong+v.Unknown != x.Rows || v.Low() > v.High() {
				t.Fatalf("%+v", v)
			}
			sure[0] += v.Right
			sure[1] += v.Wrong
		}
	}
	if sure[0] < 100 || sure[1] < 100 {
		t.Errorf("only %v images were decided", sure)
	}
	if v := (Interval{Unknown: 3}); v.Decided() != 0 || v.Low() != 0 || v.High() != 1 {
		t.Errorf("nothing decided: [%v, %v]", v.Low(), v.High())
	}
	tie := NewInterval(oneColumn([]float64{0}), []int{1}, []float64{0})
	if tie.Unknown != 1 {
		t.Errorf("a tie is %+v", tie)
	}
}

func oneImage(f tensor.Mat[float64], i int) tensor.Mat[float64] { return oneRow(f.Row(i)) }
