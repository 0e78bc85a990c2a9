package eval

import (
	"context"
	"fmt"

	"dgkip/harness/convex"
	"dgkip/harness/rng"
	"dgkip/harness/space"
	"dgkip/harness/tensor"
)

// solved returns the labels with which a loss has the own model as its minimiser, where it
// can: targets sigma(f) + lambda_S c for the logistic loss, HingeLabels for the hinge. The
// note says where that is not the own model.
func solved(loss convex.Loss, own convex.Solution) (labels convex.Labels, note string) {
	model := convex.Nearest{C: own.C, Outputs: own.Outputs}
	if loss != convex.HingeLoss {
		return model.Labels(loss, own.Lambda), ""
	}
	hinge := model.HingeLabels(own.Lambda)
	if hinge.Clipped > 0 {
		note = fmt.Sprintf("%d of %d dual variables had to be clipped to 1: the %s loss does not get the set's own model", hinge.Clipped, len(hinge.Gains), loss)
	}
	return convex.Labels{Form: convex.Gain, Loss: loss, Values: tensor.MatOf(hinge.Gains, len(hinge.Gains), 1)}, note
}

// offsetImages is how many real images an offset is fitted on.
const offsetImages = 600

// fitOffset takes from outputs f of the model C'A on the test images a multiple of k(x, m)
// and a constant, m being the mean feature of some training images: what is left is
// proportional to f - s k(x, m) - t. Both are fitted by least squares to the classes of
// these images. Where a set's model is the small difference of large vectors, which all have
// much of m in them, another loss shifts it along m, and that is all that is taken back. It
// returns k(x, m) less its mean there, in the direction of the classes: what these images
// say without the set. Where the fit would turn the model round, outputs stay as they are.
func (s *scoring) fitOffset(ctx context.Context, outputs, c tensor.Mat[float64]) (alone tensor.Mat[float64], err error) {
	train := s.trial.Data.Train
	n := min(offsetImages, train.Len())
	chosen := rng.Stream(s.trial.Seed, "features", "offset").Perm(train.Len())[:n]
	x, y := make([]float32, 0, n*train.Size()), make([]float64, n)
	for i, at := range chosen {
		x, y[i] = append(x, train.At(at)...), float64(2*train.Labels[at]-1)
	}
	some, err := space.OfTrial(s.trial).Space().Show(ctx, x, nil)
	if err != nil {
		return alone, err
	}
	along := func(k tensor.Mat[float64]) []float64 { // k(x, m)
		out := make([]float64, k.Rows)
		for i := range out {
			out[i] = mean(k.Row(i))
		}
		return out
	}
	there := along(some.Gram())
	fit, towards := leastSquares(some.Student(s.shown, c).Data, there, y)
	alone = tensor.NewMat[float64](outputs.Rows, 1)
	for i, k := range along(s.test.Cross(some)) {
		outputs.Data[i] = fit(outputs.Data[i], k)
		alone.Data[i] = float64(towards * (k - mean(there)))
	}
	return alone, nil
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// leastSquares fits y by a f + b k + c, or leaves f as it is where a is not positive. The
// sign of towards is that of the covariance of k with y.
func leastSquares(f, k, y []float64) (fit func(f, k float64) float64, towards float64) {
	mf, mk, my := mean(f), mean(k), mean(y)
	var ff, fk, kk, fy, ky float64
	for i := range y {
		df, dk, dy := f[i]-mf, k[i]-mk, y[i]-my
		ff += float64(df * df)
		fk += float64(df * dk)
		kk += float64(dk * dk)
		fy += float64(df * dy)
		ky += float64(dk * dy)
	}
	d := float64(ff*kk) - float64(fk*fk)
	a, b := (float64(fy*kk)-float64(ky*fk))/d, (float64(ky*ff)-float64(fy*fk))/d
	if !(a > 0) { // or d is zero
		return func(f, _ float64) float64 { return f }, ky
	}
	return func(f, k float64) float64 { return float64(a*(f-mf)) + float64(b*(k-mk)) + my }, ky
}
