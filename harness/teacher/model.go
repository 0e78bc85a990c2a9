package teacher

import (
	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// Outputs is the number of outputs of a model for a number of classes.
func Outputs(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// Signs returns the targets +1 for an image's class and -1 for other classes, [n, K]. Two
// classes have one column, which is -1 for class 0.
func Signs(labels []int, classes int) tensor.Mat[float64] {
	k := Outputs(classes)
	y := tensor.NewMat[float64](len(labels), k)
	for i, of := range labels {
		row := y.Row(i)
		for j := range row {
			if row[j] = -1; of == classes-k+j { // a single column belongs to class 1
				row[j] = 1
			}
		}
	}
	return y
}

// RealLabels returns the labels of real images in the form that a loss takes.
func RealLabels(of []int, classes int, loss convex.Loss) convex.Labels {
	return convex.Labels{Form: convex.Gain, Values: Signs(of, classes)}.For(loss)
}

// Class returns the class that the outputs predict, or -1 if they predict none: if the
// output for two classes is zero, if the largest outputs are equal, or if an output is NaN.
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

// Errors counts the images whose outputs, [n, K], do not predict their class.
func Errors(outputs tensor.Mat[float64], labels []int) int {
	wrong := 0
	for i, of := range labels {
		if Class(outputs.Row(i)) != of {
			wrong++
		}
	}
	return wrong
}
