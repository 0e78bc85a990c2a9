package convex

import (
	"math"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// The box: its solution is the minimiser with gains 1/f, the bound is tight, and
// the gradient is that of the squared deviation.
func TestProjectBox(t *testing.T) {
	r := rng.Stream(1, "box")
	ends, inner := [2]int{}, 0
	for range 60 {
		p := draw(r)
		if p.phi.Rows >= p.phi.Cols {
			continue
		}
		theta := oneRow(p.theta)
		d := tensor.NewMat[float32](p.phi.Rows, p.phi.Cols)
		s, box, err := ProjectBox(Features{A: p.phi, Theta: theta, Grad: &d}, p.lambda)
		if err != nil {
			t.Fatal(err)
		}
		alpha := box.Alpha
		for i, a := range alpha {
			f := dots(p.phi, p.theta)[i]
			if math.Abs(a/f/p.lambda-s.C.Data[i]) > 1e-9*(1+math.Abs(s.C.Data[i])) {
				t.Fatalf("alpha %v, c %v", a, s.C.Data[i])
			}
			if a == 0 || a == 1 {
				ends[int(a)]++
			} else {
				inner++
				if math.Abs(f-s.Outputs.Data[i]) > 1e-6*math.Abs(f) {
					t.Errorf("alpha %v inside its range, but the outputs are %v and %v", a, f, s.Outputs.Data[i])
				}
			}
		}
		// Where none is at an end, this is the projection.
		if plain, err := Project(Features{A: p.phi, Theta: theta}); err != nil {
			t.Fatal(err)
		} else if plain.HingeLabels(p.lambda).Clipped == 0 {
			near(t, "coefficients", s.C.Data, plain.C.Data, 1e-5)
		} else if s.Norm2 < plain.Norm2*(1-1e-9) {
			t.Errorf("the box brings the model nearer: %v, without %v", s.Norm2, plain.Norm2)
		}
		// The gap at theta with these alpha: margins are 1, so that only the
		// distance is left, and the bound is the deviation.
		gap := 0.0
		for i, f := range dots(p.phi, p.theta) {
			gap += Hinge{}.Residual(1/f*f, alpha[i])
		}
		gap += p.lambda / 2 * s.Norm2
		if b, dev := math.Sqrt(2*gap/p.lambda), math.Sqrt(s.Norm2); math.Abs(b-dev) > 1e-4*dev {
			t.Errorf("bound %v, deviation %v", b, dev)
		}
		value := func() float64 {
			s, _, err := ProjectBox(Features{A: p.phi, Theta: theta}, p.lambda)
			if err != nil {
				t.Fatal(err)
			}
			return s.Value
		}
		for range 4 {
			j := r.IntN(len(p.phi.Data))
			// A step across a corner, where a variable reaches an end, is no test.
			left, right := slope32(&p.phi.Data[j], 1e-4, value), slope32(&p.phi.Data[j], 4e-4, value)
			if math.Abs(left-right) > 1e-2*largest(d) {
				continue
			}
			if math.Abs(left-float64(d.Data[j])) > 1e-2*largest(d) {
				t.Errorf("gradient %v, central differences %v and %v", d.Data[j], left, right)
			}
		}
	}
	if ends[0] < 20 || ends[1] < 20 || inner < 20 {
		t.Errorf("only %d variables at 0, %d at 1, %d between", ends[0], ends[1], inner)
	}
}

// An output of zero has no gain 1/f: the image is left out, with labels that are
// finite, by the box and without it.
func TestGainsOfAnOutputOfZero(t *testing.T) {
	theta, lambda := oneRow([]float64{3, 0, 0}), 1e-2
	for name, a := range map[string]tensor.Mat[float32]{
		"no features":              tensor.MatOf([]float32{1, 0, 0, 0, 0, 0}, 2, 3),
		"features across theta":    tensor.MatOf([]float32{1, 0, 0, 0, 1, 0}, 2, 3),
		"and not across the other": tensor.MatOf([]float32{1, 1, 0, 0, 1, 0}, 2, 3),
	} {
		s, err := Project(Features{A: a, Theta: theta})
		if err != nil {
			t.Fatal(err)
		}
		s.Outputs.Data[1] = 0 // where the sum of the Gram matrix rounds
		free := s.HingeLabels(lambda)
		d := tensor.NewMat[float32](2, 3)
		_, box, err := ProjectBox(Features{A: a, Theta: theta, Grad: &d}, lambda)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, x := range d.Data {
			if x-x != 0 {
				t.Errorf("%s: the gradient holds %v", name, x)
			}
		}
		for which, l := range map[string]HingeLabels{"free": free, "box": box} {
			if l.Gains[1] != 0 || l.Alpha[1] != 1 || !(l.Gains[0] > 0) {
				t.Errorf("%s, %s: gains %v, alpha %v", name, which, l.Gains, l.Alpha)
			}
			if _, err := exactly(GramOf(a), gainsOf(HingeLoss, l.Gains), lambda, 1e-8); err != nil {
				t.Errorf("%s, %s: %v", name, which, err)
			}
		}
		if left := s.C.Data[1] != 0; left != (free.Clipped > 0) {
			t.Errorf("%s: coefficient %v, %d clipped", name, s.C.Data[1], free.Clipped)
		}
	}
}
