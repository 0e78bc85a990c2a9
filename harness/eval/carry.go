package eval

import (
	"fmt"
	"math"
	"slices"

	"dgkip/harness/convex"
	"dgkip/harness/tensor"
)

// carried returns labels, made for one loss and in the form of another, as Carry wants
// them. Labels are learned in the unit lambda_S |Theta_O|, in which the margins y f of
// their own model are far below one. The hinge loss max(0, 1 - y f) then has all
// alpha_i = 1 and Theta_S = sum_i y_i phi_i / lambda_S, whose offset nothing holds.
//
//	""        as they are; a probability p is 2p - 1
//	"sign"    their sign: hard labels
//	"unit"    divided by the mean of |y f|, f what their own model says of the set
//	"solved"  those with which the other loss has the own model as its minimiser, where
//	          it can: targets sigma(f) + lambda_S c for the logistic loss, HingeLabels for
//	          the hinge
//
// The note says where that is not the own model. That of LabelsFor, which scores record
// beside it, tells how labels are carried over; with "solved" they are made anew all the same.
func (f *Features) carried(labels convex.Labels, own convex.Solution) (carried convex.Labels, note string) {
	if f.Carry == "solved" {
		model := convex.Nearest{C: own.C, Outputs: own.Outputs}
		if labels.Loss != convex.HingeLoss {
			return model.Labels(labels.Loss, own.Lambda), ""
		}
		solved := model.HingeLabels(own.Lambda)
		if solved.Clipped > 0 {
			note = fmt.Sprintf("%d of %d dual variables had to be clipped to 1: the %s loss does not get the set's own model", solved.Clipped, len(solved.Gains), labels.Loss)
		}
		return convex.Labels{Form: convex.Gain, Loss: labels.Loss, Values: tensor.MatOf(solved.Gains, len(solved.Gains), 1)}, note
	}
	if f.Carry == "" || labels.Form != convex.Gain {
		return labels, ""
	}
	y, margin := slices.Clone(labels.Values.Data), 0.0
	for i, output := range own.Outputs.Data {
		margin += math.Abs(y[i]*output) / float64(len(y))
	}
	for i := range y {
		if f.Carry == "sign" {
			y[i] = math.Copysign(1, y[i])
		} else if margin > 0 {
			y[i] /= margin
		}
	}
	labels.Values = tensor.MatOf(y, len(y), 1)
	return labels, ""
}

// centred returns the Gram matrix of features less their mean over the set,
//
//	K_c = H K H,   H = I - 1 1'/n.
func centred(k tensor.Mat[float64]) tensor.Mat[float64] {
	n := k.Rows
	mean, all := make([]float64, n), 0.0 // of rows, and of the whole
	for i := range n {
		for _, v := range k.Row(i) {
			mean[i] += v / float64(n)
		}
		all += mean[i] / float64(n)
	}
	out := tensor.NewMat[float64](n, n)
	for i := range n {
		for j, v := range k.Row(i) {
			out.Row(i)[j] = v - mean[i] - mean[j] + all
		}
	}
	return out
}

// uncentred returns coefficients c' = H c of a model on features less their mean m over
// the set, and the part of its outputs that comes from m:
//
//	sum_i c_i (phi_i - m)'(phi - m) = sum_i c'_i phi_i'phi - (1/n) sum_ij K_ij c'_i.
func uncentred(k, c tensor.Mat[float64]) (coefficients tensor.Mat[float64], offset float64) {
	mean := 0.0
	for _, v := range c.Data {
		mean += v / float64(c.Rows)
	}
	coefficients = tensor.NewMat[float64](c.Rows, 1)
	for i, v := range c.Data {
		coefficients.Data[i] = v - mean
	}
	for i := range k.Rows {
		for _, v := range k.Row(i) {
			offset += float64(v*coefficients.Data[i]) / float64(k.Rows)
		}
	}
	return coefficients, offset
}
