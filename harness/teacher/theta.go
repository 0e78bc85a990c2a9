package teacher

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/space"
	"dgkip/harness/tensor"
)

// Problem is the convex problem whose solution on the real data is Theta_O.
type Problem struct {
	Loss   convex.Loss
	Lambda float64 // for each image: lambda_O = n * Lambda
	Gap    float64 // relative duality gap to reach; 0 means DefaultGap
}

// DefaultLambda is the default regularisation for each image.
const DefaultLambda = 1e-6

// DefaultGap is the relative duality gap to which a loss is solved by default.
func DefaultGap(loss convex.Loss) float64 {
	switch loss {
	case convex.HingeLoss:
		return 1e-3
	case convex.SoftmaxLoss:
		return 1e-2
	}
	return 1e-4
}

// Theta is the model trained on the real data.
type Theta struct {
	space.Model
	Outputs tensor.Mat[float64] // of the training images, [n, K]
	Gap     float64             // relative duality gap that was reached
	Errors  int                 // misclassified training images
}

// Losses lists the losses that a number of classes allows.
func Losses(classes int) []convex.Loss {
	if classes == 2 {
		return []convex.Loss{convex.LogisticLoss, convex.HingeLoss, convex.SquaredLoss}
	}
	return []convex.Loss{convex.SoftmaxLoss, convex.SquaredLoss}
}

// DefaultLoss is the first of Losses.
func DefaultLoss(classes int) convex.Loss { return Losses(classes)[0] }

// CheckLoss returns an error if a loss does not fit a number of classes.
func CheckLoss(loss convex.Loss, classes int) error {
	if classes < 2 {
		return fmt.Errorf("a model needs at least two classes, but the data has %d", classes)
	}
	if allowed := Losses(classes); !slices.Contains(allowed, loss) {
		names := make([]string, len(allowed))
		for i, l := range allowed {
			names[i] = string(l)
		}
		return fmt.Errorf("the %s loss does not support %d classes\nhint: use one of these losses: %s; or change the number of classes", loss, classes, strings.Join(names, ", "))
	}
	return nil
}

// CheckLossOf applies CheckLoss to the loss for which a set's labels were learned, if any.
func CheckLossOf(d *method.Distilled) error {
	if d.Loss == "" {
		return nil
	}
	return CheckLoss(convex.Loss(d.Loss), len(d.Classes))
}

// ErrZero means that Theta_O is zero, so distances relative to its norm do not exist.
var ErrZero = errors.New("the reference model is zero: the labels of the real images do not depend on the images\nhint: choose other classes, or check the labels")

// Theta returns Theta_O in the space of a source: Step 1 of Algorithm 1.
func (p Problem) Theta(ctx context.Context, s space.Source) (*Theta, error) {
	if err := CheckLoss(p.Loss, len(s.Data.Classes)); err != nil {
		return nil, err
	}
	if _, err := s.Data.Members(); err != nil {
		return nil, err
	}
	gap := cmp.Or(p.Gap, DefaultGap(p.Loss))
	name := fmt.Sprintf("theta %s lambda %v gap %v %s", p.Loss, p.Lambda, gap, s.Space().Settings())
	return method.Do(s.Shared, s.Key(name), func() (*Theta, error) {
		disk, key := s.Shared.Disk(), ""
		if disk != nil {
			// The number must be raised if the fields of Theta change.
			key = strings.Join([]string{name, s.Data.Name, s.Digest(), "gob 1"}, " ")
			t := new(Theta)
			if disk.Load(key, func(from io.Reader) error { return gob.NewDecoder(from).Decode(t) }) {
				return t, nil
			}
		}
		t, err := p.solve(ctx, s, gap)
		if err != nil {
			return nil, fmt.Errorf("the %s model on %s: %w", p.Loss, s.Data.Name, err)
		}
		if disk != nil {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(t)
			disk.Save(key, int64(b.Len()), func(to io.Writer) error {
				_, failed := b.WriteTo(to)
				return errors.Join(err, failed)
			})
		}
		return t, nil
	})
}

func (p Problem) solve(ctx context.Context, s space.Source, gap float64) (*Theta, error) {
	train := s.Data.Train
	if err := convex.CheckSize(p.Loss, train.Len(), space.Dim(s.Model, train.H, train.W)); err != nil {
		return nil, err
	}
	problem, err := s.Space().Real(ctx)
	if err != nil {
		return nil, err
	}
	problem.Labels, problem.Lambda = RealLabels(train.Labels, len(s.Data.Classes), p.Loss), float64(train.Len())*p.Lambda
	problem.Report = s.Report("solving the " + string(p.Loss) + " model")
	fit, err := convex.Solve(ctx, problem, gap)
	if errors.Is(err, convex.ErrGap) {
		more := ""
		if p.Gap != 0 { // given by a method, which has the setting
			more = fmt.Sprintf(", or set a larger teacher_gap for the method; the default for the %s loss is %v", p.Loss, DefaultGap(p.Loss))
		}
		err = fmt.Errorf("%w\nhint: raise lambda%s", err, more)
	}
	if err != nil {
		return nil, err
	}
	model := space.Model{Weights: fit.Weights, Norm: convex.Norm(fit.Weights)}
	if fit.Weights.Rows == 0 { // an exact kernel: one weight per image and output
		model.Weights = fit.C.Transposed()
		if model.Norm, err = normOf(model.Weights, fit.Outputs, fit.Lambda); err != nil {
			return nil, err
		}
	}
	return &Theta{Model: model, Outputs: fit.Outputs, Gap: fit.Gap, Errors: Errors(fit.Outputs, train.Labels)}, nil
}

// normOf returns the norm of a model with weights a [K, N] of the training images and outputs
// f [N, K] on them: |Theta|^2 = tr a K a' = tr a f. The slack is (2/lambda) G for a gap G of 1e-8 n,
// the precision of a small problem with P <= n. A lower sum shows that the Gram matrix is not
// positive semidefinite, so that the gap proves nothing. A positive sum does not show the opposite.
func normOf(a, f tensor.Mat[float64], lambda float64) (float64, error) {
	sum := 0.0
	for k := range a.Rows {
		for j, v := range a.Row(k) {
			sum += float64(v * f.Row(j)[k])
		}
	}
	if sum < -2e-8*float64(f.Rows)/lambda {
		return 0, fmt.Errorf("%w: the squared norm of the solution is %.3g, because similar images with different labels need more than the precision of float32\nhint: choose a larger lambda, or leave out one of each pair of such images", convex.ErrGap, sum)
	}
	return math.Sqrt(max(0, sum)), nil
}
