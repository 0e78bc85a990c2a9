package eval

import (
	"context"
	"fmt"

	"dgkip/harness/convex"
	"dgkip/harness/rng"
	"dgkip/harness/space"
	"dgkip/harness/tensor"
)

// solved returns labels for another loss under which the set's own model is still the minimiser:
// targets sigma(f) + lambda_S c for the logistic loss, HingeLabels for the hinge loss. If clipped dual
// variables make that only approximate, note reports it.
func solved(loss convex.Loss, own convex.Solution) (labels convex.Labels, note string) {
	model := convex.Nearest{C: own.C, Outputs: own.Outputs}
	if loss != convex.HingeLoss {
		return model.Labels(loss, own.Lambda), ""
	}
	hinge := model.HingeLabels(own.Lambda)
	if hinge.Clipped > 0 {
		note = fmt.Sprintf("%d of %d dual variables were clipped to 1, so the model of the %s loss differs from the set's own", hinge.Clipped, len(hinge.Gains), loss)
	}
	return convex.Labels{Form: convex.Gain, Loss: loss, Values: tensor.MatOf(hinge.Gains, len(hinge.Gains), 1)}, note
}

// offsetImages is the number of real images on which an offset is fitted.
const offsetImages = 600

// fitOffset replaces the outputs f of the model C'A on the test images by multiples of
// f - s k(x, m) - t, where m is the mean feature of some training images. Least squares on the
// classes of these images give s and t. If the fit would reverse the sign of the model, outputs
// stay unchanged.
//
// The offset compensates for one effect of another loss. If a set's model is a small difference of
// large vectors, all of which contain m, another loss shifts the model along m.
//
// As a control without the set, fitOffset also returns k(x, m) minus its mean, signed by its
// covariance with the classes.
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
	along := func(k tensor.Mat[float64]) []float64 { // returns k(x, m)
		out := make([]float64, k.Rows)
		for i := range out {
			out[i] = mean(k.Row(i))
		}
		return out
	}
	gram, err := some.Gram(ctx)
	if err != nil {
		return alone, err
	}
	there := along(gram)
	own, err := some.Student(ctx, s.shown, c)
	if err != nil {
		return alone, err
	}
	cross, err := s.test.Cross(ctx, some)
	if err != nil {
		return alone, err
	}
	fit, towards := leastSquares(own.Data, there, y)
	alone = tensor.NewMat[float64](outputs.Rows, 1)
	for i, k := range along(cross) {
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

// leastSquares fits y by a f + b k + c. If a is not positive, fit returns f unchanged. towards has
// the sign of the covariance of k and y.
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
	if !(d > 0 && a > 0) { // d is zero if f is a multiple of k, and a then NaN or infinite
		return func(f, _ float64) float64 { return f }, ky
	}
	return func(f, k float64) float64 { return float64(a*(f-mf)) + float64(b*(k-mk)) + my }, ky
}
