package teacher

import (
	"fmt"
	"math"

	"dgkip/harness/convex"
	"dgkip/harness/fmath"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// Only this file converts labels between the form in which a set stores them and the form
// that a convex model takes.

// exactName names the array that holds a set's labels in float64. Solved labels differ from
// a probability by lambda_S times a coefficient, which float32 may lose.
const exactName = "exact_labels"

// SetLabels stores the labels of a convex model in a set.
func SetLabels(d *method.Distilled, l convex.Labels) {
	y := l.Values
	switch l.Form {
	case convex.Gain:
		d.Kind = method.Gain
	case convex.Value:
		d.Kind = method.Value
	default:
		if d.Kind = method.Soft; l.Loss == convex.LogisticLoss {
			d.Kind = method.Target
		}
	}
	d.Loss = string(l.Loss)
	d.Labels = make([]float32, len(y.Data))
	for i, v := range y.Data {
		d.Labels[i] = float32(v)
	}
	if d.Extra == nil {
		d.Extra = map[string]method.Array{}
	}
	d.Extra[exactName] = method.Array{Shape: []int{y.Rows, y.Cols}, Data: append([]float64(nil), y.Data...)}
}

// travelLabels names the array that holds a set's portable labels.
const travelLabels = "travel_labels"

// SetTravelLabels stores portable labels in a set: the outputs f [n, K] of the set's model on
// the set's images, as labels for the squared loss. Exact labels differ from these outputs by
// lambda_S times a coefficient, which has no meaning in other networks.
func SetTravelLabels(d *method.Distilled, f tensor.Mat[float64]) {
	if d.Extra == nil {
		d.Extra = map[string]method.Array{}
	}
	d.Extra[travelLabels] = method.Array{Shape: []int{f.Rows, f.Cols}, Data: append([]float64(nil), f.Data...)}
}

// TravelLabels returns a set's portable labels, and reports whether it has any.
func TravelLabels(d *method.Distilled) (convex.Labels, bool) {
	a, ok := d.Extra[travelLabels]
	if _, same := exactLabels(d); !same { // the labels were changed later
		return convex.Labels{}, false
	}
	if !ok || len(a.Shape) != 2 || a.Shape[0] != d.Len() || a.Shape[1] != Outputs(len(d.Classes)) || len(a.Data) != a.Shape[0]*a.Shape[1] {
		return convex.Labels{}, false
	}
	return convex.Values(tensor.MatOf(a.Data, a.Shape[0], a.Shape[1])), true
}

// LabelsFor returns a set's labels in the form that a loss takes. Labels that were learned
// for another loss are carried over, a probability p as the gain or value y = 2p - 1. The
// note describes this.
func LabelsFor(d *method.Distilled, loss convex.Loss) (l convex.Labels, note string, err error) {
	classes := len(d.Classes)
	y := exact(d)
	if y.Cols != 1 && y.Cols != classes {
		return l, "", fmt.Errorf("labels with %d values do not fit %d classes", y.Cols, classes)
	}
	if y.Cols == 1 && classes != 2 {
		return l, "", fmt.Errorf("labels with a single value fit two classes, not %d", classes)
	}
	l = convex.Labels{Form: convex.Value, Values: y}
	switch d.Kind {
	case method.Gain:
		l.Form = convex.Gain
	case method.Target, method.Soft:
		l.Form = convex.Target
	case method.Logits:
		l.Form, l.Values = convex.Target, tensor.NewMat[float64](y.Rows, y.Cols)
		for i := range y.Rows {
			fmath.Softmax(l.Values.Row(i), y.Row(i))
		}
	case method.Hard:
		// Signs become exactly 0 and 1 if the loss takes probabilities.
		l.Values = Signs(d.Of, classes)
	}
	if classes == 2 && l.Values.Cols == 2 {
		l.Values = oneOutput(l)
	}
	probability := l.Form == convex.Target
	l = l.For(loss)
	if d.Loss != "" && d.Loss != string(loss) {
		note = fmt.Sprintf("transfer to the %s loss carries the labels over from the %s loss", loss, d.Loss)
		if probability && l.Form != convex.Target {
			note += ", p as y = 2p - 1"
		}
	}
	return l, note, nil
}

// exactLabels returns the labels in float64. It returns false if the set has none, or if its
// labels were changed later.
func exactLabels(d *method.Distilled) (tensor.Mat[float64], bool) {
	n, k := d.Len(), d.LabelWidth()
	a, ok := d.Extra[exactName]
	if !ok || len(a.Data) != n*k {
		return tensor.Mat[float64]{}, false
	}
	for i, v := range a.Data {
		if float32(v) != d.Labels[i] { // the labels were changed later
			return tensor.Mat[float64]{}, false
		}
	}
	return tensor.MatOf(a.Data, n, k), true
}

// exact returns the labels in float64 if the set has them, or else widens the float32 labels.
func exact(d *method.Distilled) tensor.Mat[float64] {
	if y, ok := exactLabels(d); ok {
		return y
	}
	n, k := d.Len(), d.LabelWidth()
	y := tensor.NewMat[float64](n, k)
	for i, v := range d.Labels {
		y.Data[i] = float64(v)
	}
	return y
}

// oneOutput reduces two columns to one: the probability of class 1, or half the difference of
// the values.
func oneOutput(l convex.Labels) tensor.Mat[float64] {
	out := tensor.NewMat[float64](l.Values.Rows, 1)
	for i := range out.Data {
		row := l.Values.Row(i)
		if out.Data[i] = row[1]; l.Form != convex.Target {
			out.Data[i] = (row[1] - row[0]) / 2
		}
	}
	return out
}

// SoftTargets returns class probabilities for outputs or values f [n, K]: the softmax, or sigma
// for one output, of sharpness f / rms(f). Dividing by the root mean square keeps large outputs
// from giving probabilities of zero and one.
func SoftTargets(f tensor.Mat[float64], classes int, sharpness float64) []float32 {
	sum := 0.0
	for _, x := range f.Data {
		sum += float64(x * x)
	}
	scale := sharpness
	if sum > 0 {
		scale *= math.Sqrt(float64(len(f.Data)) / sum)
	}
	out := make([]float32, 0, f.Rows*classes)
	logits, p := make([]float64, classes), make([]float64, classes)
	for i := range f.Rows {
		for k, x := range f.Row(i) {
			logits[classes-f.Cols+k] = float64(scale * x) // a single output is the logit of class 1; class 0 has logit 0
		}
		fmath.Softmax(p, logits)
		for _, x := range p {
			out = append(out, float32(x))
		}
	}
	return out
}
