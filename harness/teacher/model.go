package teacher

import (
	"math"

	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// Signs returns the targets +1 for an image's class and -1 for others, [n, K]: for
// two classes one column, -1 for class 0.
func Signs(labels []int, classes int) tensor.Mat[float64] {
	k := Outputs(classes)
	y := tensor.NewMat[float64](len(labels), k)
	for i, of := range labels {
		row := y.Row(i)
		for j := range row {
			row[j] = -1
		}
		if k == 1 {
			row[0] = float64(2*of - 1)
		} else {
			row[of] = 1
		}
	}
	return y
}

// Class returns the class that outputs stand for. An output of zero for two
// classes, like equal outputs for several, stands for none: -1.
func Class(outputs []float64) int {
	if len(outputs) == 1 {
		switch f := outputs[0]; {
		case f > 0:
			return 1
		case f < 0:
			return 0
		}
		return -1
	}
	top, tie := 0, false
	for k, f := range outputs {
		switch {
		case f != f:
			return -1
		case k == 0:
		case f > outputs[top]:
			top, tie = k, false
		case f == outputs[top]:
			tie = true
		}
	}
	if tie {
		return -1
	}
	return top
}

// Errors counts the images whose outputs, [n, K], do not stand for their class.
func Errors(outputs tensor.Mat[float64], labels []int) int {
	wrong := 0
	for i, of := range labels {
		if Class(outputs.Row(i)) != of {
			wrong++
		}
	}
	return wrong
}

// Apply returns the outputs phi Theta' of a model with weights Theta [K, M], [n, K].
func Apply(phi tensor.Mat[float32], theta tensor.Mat[float64]) tensor.Mat[float64] {
	out := tensor.NewMat[float64](phi.Rows, theta.Rows)
	column := make([]float64, phi.Rows)
	for k := range theta.Rows {
		tensor.MulVec64(column, phi, theta.Row(k))
		for i, f := range column {
			out.Row(i)[k] = f
		}
	}
	return out
}

// Combine returns the weights c'phi of a model that lies in the span of features,
// [K, M] for c [n, K].
func Combine(phi tensor.Mat[float32], c tensor.Mat[float64]) tensor.Mat[float64] {
	theta := tensor.NewMat[float64](c.Cols, phi.Cols)
	column := make([]float64, c.Rows)
	for k := range theta.Rows {
		for i := range column {
			column[i] = c.Row(i)[k]
		}
		tensor.AddRows64(theta.Row(k), phi, column)
	}
	return theta
}

// Norm is the Frobenius norm.
func Norm(theta tensor.Mat[float64]) float64 {
	sum := 0.0
	for k := range theta.Rows {
		for _, v := range theta.Row(k) {
			sum += float64(v * v)
		}
	}
	return math.Sqrt(sum)
}

// Distance is the Frobenius norm of a difference.
func Distance(a, b tensor.Mat[float64]) float64 {
	sum := 0.0
	for k := range a.Rows {
		rb := b.Row(k)
		for j, v := range a.Row(k) {
			d := v - rb[j]
			sum += float64(d * d)
		}
	}
	return math.Sqrt(sum)
}

// marginOf returns a loss of the margin by its name.
func marginOf(loss convex.Loss) convex.Margin {
	if loss == convex.HingeLoss {
		return convex.Hinge{}
	}
	return convex.Logistic{}
}
