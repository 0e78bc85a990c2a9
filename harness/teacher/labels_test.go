package teacher

import (
	"math"
	"reflect"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

func TestLabelsForEveryLoss(t *testing.T) {
	set := func(kind method.LabelKind, classes int, labels ...float32) *method.Distilled {
		return &method.Distilled{Kind: kind, Classes: []string{"a", "b", "c"}[:classes], Of: []int{0, 1}, Labels: labels}
	}
	half := float32(math.Log(3)) // softmax 1/4, 3/4
	for _, c := range []struct {
		name string
		set  *method.Distilled
		loss convex.Loss
		form convex.Form
		want []float64
	}{
		{"hard", set(method.Hard, 2, 1, 0, 0, 1), convex.LogisticLoss, convex.Gain, []float64{-1, 1}},
		{"hard", set(method.Hard, 2, 1, 0, 0, 1), convex.SquaredLoss, convex.Value, []float64{-1, 1}},
		{"hard", set(method.Hard, 3, 1, 0, 0, 0, 1, 0), convex.SoftmaxLoss, convex.Target, []float64{1, 0, 0, 0, 1, 0}},
		{"hard", set(method.Hard, 3, 1, 0, 0, 0, 1, 0), convex.SquaredLoss, convex.Value, []float64{1, -1, -1, -1, 1, -1}},
		{"gain", set(method.Gain, 2, -3, 0.5), convex.HingeLoss, convex.Gain, []float64{-3, 0.5}},
		{"gain", set(method.Gain, 2, -3, 0.5), convex.SquaredLoss, convex.Value, []float64{-3, 0.5}},
		{"target", set(method.Target, 2, 0.25, 1.5), convex.LogisticLoss, convex.Target, []float64{0.25, 1.5}},
		{"target", set(method.Target, 2, 0.25, 1.5), convex.HingeLoss, convex.Gain, []float64{-0.5, 2}},
		{"soft", set(method.Soft, 2, 0.75, 0.25, 0, 1), convex.LogisticLoss, convex.Target, []float64{0.25, 1}},
		{"soft", set(method.Soft, 3, 0.5, 0.5, 0, 0, 1, 0), convex.SquaredLoss, convex.Value, []float64{0, 0, -1, -1, 1, -1}},
		{"logits", set(method.Logits, 2, 0, half, 0, 0), convex.LogisticLoss, convex.Target, []float64{0.75, 0.5}},
		{"value", set(method.Value, 2, -0.5, 2), convex.LogisticLoss, convex.Gain, []float64{-0.5, 2}},
		{"value", set(method.Value, 2, 1, -1, 0, 3), convex.SquaredLoss, convex.Value, []float64{-1, 1.5}},
		{"value", set(method.Value, 3, 1, -1, -1, -1, 0, 1), convex.SoftmaxLoss, convex.Target, []float64{1, 0, 0, 0, 0.5, 1}},
	} {
		got, _, err := LabelsFor(c.set, c.loss)
		if err != nil {
			t.Errorf("%s to %s: %v", c.name, c.loss, err)
			continue
		}
		if got.Form != c.form || got.Loss != c.loss || len(got.Values.Data) != len(c.want) {
			t.Errorf("%s to %s: %+v, want %v", c.name, c.loss, got, c.want)
			continue
		}
		for i, v := range got.Values.Data {
			if math.Abs(v-c.want[i]) > 1e-7 {
				t.Errorf("%s to %s: %v, want %v", c.name, c.loss, got.Values.Data, c.want)
				break
			}
		}
	}
	if _, _, err := LabelsFor(set(method.Gain, 3, 1, 2), convex.SoftmaxLoss); err == nil {
		t.Error("labels with a single value were accepted for three classes")
	}
}

// If labels were changed, their earlier exact form is ignored.
func TestExactLabels(t *testing.T) {
	d := &method.Distilled{Kind: method.Target, Classes: []string{"a", "b"}, Of: []int{0, 1}, Labels: []float32{0.1, 0.9},
		Extra: map[string]method.Array{exactName: {Shape: []int{2, 1}, Data: []float64{0.1, 0.9}}}}
	if y := exact(d); y.Data[0] != 0.1 {
		t.Errorf("got %v, want the exact 0.1", y.Data[0])
	}
	d.Labels[1] = 0.8
	if y := exact(d); y.Data[0] != float64(float32(0.1)) {
		t.Errorf("got %v, want the label in float32", y.Data[0])
	}
}

// Labels of every form are read back with the same bits.
func TestLabelsComeBack(t *testing.T) {
	for kind, l := range map[method.LabelKind]convex.Labels{
		method.Gain:   {Form: convex.Gain, Loss: convex.HingeLoss, Values: tensor.MatOf([]float64{-0.1, 1e-9}, 2, 1)},
		method.Target: {Form: convex.Target, Loss: convex.LogisticLoss, Values: tensor.MatOf([]float64{0.1, 1 + 1e-9}, 2, 1)},
		method.Soft:   {Form: convex.Target, Loss: convex.SoftmaxLoss, Values: tensor.MatOf([]float64{0.1, 0.2, 0.7, 0, 1e-9, 1}, 2, 3)},
		method.Value:  {Form: convex.Value, Loss: convex.SquaredLoss, Values: tensor.MatOf([]float64{0.1, 0.2, 0.7, 0, 1e-9, 1}, 2, 3)},
	} {
		classes := []string{"a", "b", "c"}[:max(2, l.Values.Cols)]
		d := &method.Distilled{H: 1, W: 1, C: 1, Images: make([]float32, 2), Of: []int{0, 1}, Classes: classes}
		SetLabels(d, l)
		if d.Kind != kind || d.Loss != string(l.Loss) || d.Check() != nil {
			t.Errorf("%s: the set has labels of kind %s for the %s loss: %v", kind, d.Kind, d.Loss, d.Check())
		}
		got, note, err := LabelsFor(d, l.Loss)
		if err != nil || note != "" || !reflect.DeepEqual(got, l) {
			t.Errorf("%s: got %+v, %q, %v", kind, got, note, err)
		}
	}
}

// Soft targets keep the order of the outputs, and large outputs do not give probabilities of one.
func TestSoftTargets(t *testing.T) {
	p := SoftTargets(tensor.MatOf([]float64{-40, 10, 20, 0}, 4, 1), 2, 1)
	for i, class := range []int{0, 1, 1} {
		if p[2*i+class] <= 0.5 || p[2*i+class] > 0.95 || p[2*i]+p[2*i+1] != 1 {
			t.Errorf("image %d: %v", i, p[2*i:2*i+2])
		}
	}
	if !(p[5] > p[3]) || p[6] != 0.5 {
		t.Errorf("probabilities %v", p)
	}
	if p := SoftTargets(tensor.MatOf([]float64{3, -1, -2}, 1, 3), 3, 1); !(p[0] > p[1] && p[1] > p[2]) {
		t.Errorf("three classes: %v", p)
	}
}
