package eval

import (
	"fmt"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// labelsFor returns a set's labels in the form that a loss takes. Labels learned
// for another loss are carried over: as the gain or value y in [-1, 1] that stands
// for the probability (1+y)/2. The note says so.
func labelsFor(d *method.Distilled, loss convex.Loss) (l teacher.Labels, note string, err error) {
	classes := len(d.Classes)
	y := exact(d)
	if y.Cols != 1 && y.Cols != classes {
		return l, "", fmt.Errorf("labels of %d values do not go with %d classes", y.Cols, classes)
	}
	if y.Cols == 1 && classes != 2 {
		return l, "", fmt.Errorf("labels that are a single number are for two classes, and there are %d", classes)
	}
	l.Loss = loss
	probability := d.Kind == method.Target || d.Kind == method.Soft || d.Kind == method.Logits
	if d.Kind == method.Logits {
		p := tensor.NewMat[float64](y.Rows, y.Cols)
		nn.Softmax(p.Data, y.Data, y.Cols)
		y = p
	}
	if d.Kind == method.Hard {
		// One and zero are probabilities; here they are as exact as signs.
		y = teacher.Signs(d.Of, classes)
	} else if classes == 2 && y.Cols == 2 {
		y = column(y, probability)
	}
	switch {
	case loss == convex.SoftmaxLoss:
		l.Values = y
		if !probability {
			l.Values = affine(y, 0.5, 0.5)
		}
	case loss == convex.LogisticLoss && probability:
		l.Targets, l.Values = true, y
	case probability:
		l.Values = affine(y, 2, -1)
	default:
		l.Values = y
	}
	if d.Loss != "" && d.Loss != string(loss) {
		note = fmt.Sprintf("transfer to the %s loss carries the labels over from the %s loss", loss, d.Loss)
		if probability && loss != convex.LogisticLoss && loss != convex.SoftmaxLoss {
			note += ", p as y = 2p - 1"
		}
	}
	return l, note, nil
}

// exact returns the labels in the precision they were made with.
func exact(d *method.Distilled) tensor.Mat[float64] {
	n, k := d.Len(), d.LabelWidth()
	if a, ok := d.Extra[teacher.ExactLabels]; ok && len(a.Data) == n*k {
		same := true
		for i, v := range a.Data {
			same = same && float32(v) == d.Labels[i]
		}
		if same { // else somebody changed the labels
			return tensor.MatOf(a.Data, n, k)
		}
	}
	y := tensor.NewMat[float64](n, k)
	for i, v := range d.Labels {
		y.Data[i] = float64(v)
	}
	return y
}

// column makes one output of two: the probability of class 1, or half the
// difference of values.
func column(y tensor.Mat[float64], probability bool) tensor.Mat[float64] {
	out := tensor.NewMat[float64](y.Rows, 1)
	for i := range out.Data {
		row := y.Row(i)
		if out.Data[i] = row[1]; !probability {
			out.Data[i] = (row[1] - row[0]) / 2
		}
	}
	return out
}

func affine(y tensor.Mat[float64], a, b float64) tensor.Mat[float64] {
	out := tensor.NewMat[float64](y.Rows, y.Cols)
	for i, v := range y.Data {
		out.Data[i] = float64(a*v) + b
	}
	return out
}
