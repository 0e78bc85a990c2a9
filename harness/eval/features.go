package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
	"dgkip/harness/tensor"
)

// Features trains a convex model on the set, in the features or kernel of the cell's networks, and
// compares it with the reference model.
type Features struct {
	// Loss is the loss of the model. "own" means the loss for which the set's labels were
	// learned. Other sets use the logistic loss for two classes and the softmax loss for more.
	Loss   string  `toml:"loss" enum:"own,logistic,hinge,squared,softmax"`
	Lambda float64 `toml:"lambda" min:"1e-14" max:"1e6"` // regularisation per image of the set
	// Transfer also scores the set under all other losses. transfer.test_acc repeats the first
	// of them, which for two classes is the logistic or the hinge loss.
	Transfer bool `toml:"transfer"`
	// Carry is how labels are converted for the other losses. Empty keeps the labels, "solved"
	// solves them again, and "offset" keeps them, fits an offset to the outputs and subtracts it.
	Carry  string `toml:"carry,omitzero" enum:",solved,offset"`
	Bounds bool   `toml:"bounds"` // computes the deviation from the reference model and its bounds
}

func init() {
	method.RegisterProtocol(func() method.Protocol {
		return &Features{Loss: "own", Lambda: teacher.DefaultLambda, Transfer: true, Bounds: true}
	})
}

// Info implements method.Protocol.
func (f *Features) Info() method.ProtocolInfo {
	version := 1
	if f.Carry == "solved" {
		version = 2 // added hinge labels for images whose coefficient and output differ in sign
	}
	return method.ProtocolInfo{Name: "features", Title: "Same networks", Version: version, Family: method.Kernel, Lambda: f.Lambda, About: "a convex model trained on the set in fixed random features"}
}

// Check implements method.Checker.
func (f *Features) Check() error {
	if err := method.PositiveLambda(f.Lambda); err != nil {
		return err
	}
	if f.Carry != "" && !f.Transfer {
		return &method.BadSetting{Key: "carry", Why: "has no effect with transfer = false, which leaves out other losses", Hint: "set transfer = true"}
	}
	return nil
}

// CheckSizes implements method.SizesChecker.
func (f *Features) CheckSizes(s method.Sizes) error {
	if f.Loss != "own" {
		if err := teacher.CheckLoss(convex.Loss(f.Loss), s.Classes); err != nil {
			return err
		}
	}
	if f.Carry != "" && s.Classes != 2 {
		return fmt.Errorf("carry works for two classes only, not %d\nhint: leave it out", s.Classes)
	}
	return s.Model.CheckFeatures(s)
}

// Score implements method.Protocol.
func (f *Features) Score(ctx context.Context, t method.Trial, observe func(method.Step)) (*method.Scores, error) {
	s, err := f.score(ctx, t)
	if err != nil {
		return nil, err
	}
	return s.out, nil
}

// checkSet returns an error if set and test images differ in size or number of classes.
func checkSet(t method.Trial) error {
	d := t.Set
	if d.H != t.Test.H || d.W != t.Test.W || d.C != t.Test.C || len(d.Classes) != len(t.Data.Classes) {
		return fmt.Errorf("the distilled set has images of %dx%dx%d and %d classes, the test set %dx%dx%d and %d\nhint: score the set on the dataset that it was distilled from",
			d.H, d.W, d.C, len(d.Classes), t.Test.H, t.Test.W, t.Test.C, len(t.Data.Classes))
	}
	return nil
}

// ownLoss returns the loss for which a set's labels were learned, or the default.
func ownLoss(d *method.Distilled, classes int) convex.Loss {
	return convex.Loss(cmp.Or(d.Loss, string(teacher.DefaultLoss(classes))))
}

func (f *Features) score(ctx context.Context, t method.Trial) (*scoring, error) {
	classes := len(t.Data.Classes)
	loss := convex.Loss(f.Loss)
	if f.Loss == "own" {
		loss = ownLoss(t.Set, classes)
	}
	if err := teacher.CheckLoss(loss, classes); err != nil {
		return nil, err
	}
	test, err := space.OfTrial(t).ShowTest(ctx, t)
	if err != nil {
		return nil, err
	}
	s := &scoring{
		Features: f, trial: t, test: test, loss: loss,
		out: &method.Scores{Metrics: map[string]float64{}, Counts: map[string][]int64{"test_images": {int64(t.Test.Len())}}},
	}
	if t.Set.Whole {
		return s, s.whole(ctx)
	}
	if err := checkSet(t); err != nil {
		return nil, err
	}
	return s, s.set(ctx)
}

// scoring is a scoring in progress.
type scoring struct {
	*Features
	trial method.Trial
	test  space.Images
	loss  convex.Loss
	out   *method.Scores

	shown  space.Images // the set
	gram   tensor.Mat[float64]
	lambda float64
	own    convex.Solution // the model on the set
}

// accuracy scores outputs on the test images.
func (s *scoring) accuracy(outputs tensor.Mat[float64]) (acc float64, errors int64) {
	n := s.trial.Test.Len()
	wrong := teacher.Errors(outputs, s.trial.Test.Labels)
	return float64(n-wrong) / float64(n), int64(wrong)
}

// whole scores the reference model.
func (s *scoring) whole(ctx context.Context) error {
	losses := []convex.Loss{s.loss}
	if s.Transfer && s.trial.Final {
		losses = others(s.loss, len(s.trial.Data.Classes), losses)
	}
	for i, loss := range losses {
		if err := s.solvable(loss); err != nil && i > 0 {
			s.out.Notes = append(s.out.Notes, "no transfer: "+firstLine(err))
			continue
		}
		theta, err := teacher.Problem{Loss: loss, Lambda: s.Lambda}.Theta(ctx, space.OfTrial(s.trial))
		if i > 0 && errors.Is(err, convex.ErrGap) {
			s.out.Notes = append(s.out.Notes, "no transfer: "+firstLine(err))
			continue
		}
		if err != nil {
			return err
		}
		outputs, err := s.test.Outputs(ctx, &theta.Model)
		if err != nil {
			return err
		}
		acc, wrong := s.accuracy(outputs)
		prefix := ""
		if i > 0 {
			prefix = "transfer." + string(loss) + "."
		} else {
			s.out.Metrics["teacher_gap"] = theta.Gap
			s.out.Metrics["teacher_norm"] = theta.Norm
			s.out.Metrics["train_acc"] = 1 - float64(theta.Errors)/float64(s.trial.Data.Train.Len())
		}
		s.out.Metrics[prefix+"test_acc"] = acc
		s.out.Counts[prefix+"test_errors"] = []int64{wrong}
	}
	return nil
}

// solvable returns an error if the reference model cannot be solved for a loss.
func (s *scoring) solvable(loss convex.Loss) error {
	train := s.trial.Data.Train
	if err := teacher.CheckLoss(loss, len(s.trial.Data.Classes)); err != nil {
		return err
	}
	return convex.CheckSize(loss, train.Len(), space.Dim(s.trial.Model, train.H, train.W))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// others appends the losses that differ from loss.
func others(loss convex.Loss, classes int, to []convex.Loss) []convex.Loss {
	for _, l := range teacher.Losses(classes) {
		if l != loss {
			to = append(to, l)
		}
	}
	return to
}

// set scores the model trained on a distilled set.
func (s *scoring) set(ctx context.Context) error {
	d := s.trial.Set
	var err error
	if s.shown, err = space.OfTrial(s.trial).Space().Show(ctx, d.Images, nil); err != nil {
		return err
	}
	if s.gram, err = s.shown.Gram(ctx); err != nil {
		return err
	}
	s.lambda = float64(d.Len()) * s.Lambda
	labels, _, err := teacher.LabelsFor(d, s.loss)
	if err != nil {
		return err
	}
	if s.own, err = s.train(ctx, labels, ""); err != nil {
		return err
	}
	if err := s.solvable(s.loss); err != nil && s.Bounds {
		s.out.Notes = append(s.out.Notes, "no bounds: "+firstLine(err))
	} else if s.Bounds {
		if err := s.bounds(ctx); errors.Is(err, convex.ErrGap) || errors.Is(err, teacher.ErrZero) {
			s.out.Notes = append(s.out.Notes, "no bounds: "+firstLine(err))
		} else if err != nil {
			return err
		}
	}
	if !s.Transfer || !s.trial.Final {
		return nil
	}
	for i, loss := range others(s.loss, len(s.trial.Data.Classes), nil) {
		prefix := "transfer." + string(loss) + "."
		if err := s.transfer(ctx, loss, prefix); err != nil {
			if ctx.Err() != nil {
				return err
			}
			// Transfer is optional: the score under the set's own loss remains.
			s.out.Notes = append(s.out.Notes, "no transfer to the "+string(loss)+" loss: "+firstLine(err))
			continue
		}
		if i == 0 { // for two classes: from logistic regression to the SVM or back
			s.out.Metrics["transfer.test_acc"] = s.out.Metrics[prefix+"test_acc"]
		}
	}
	return nil
}

// transfer scores the set under another loss than its own.
func (s *scoring) transfer(ctx context.Context, loss convex.Loss, prefix string) error {
	labels, note, err := teacher.LabelsFor(s.trial.Set, loss)
	if err != nil {
		return err
	}
	anew := ""
	if s.Carry == "solved" {
		labels, anew = solved(loss, s.own)
	}
	if _, err := s.train(ctx, labels, prefix); err != nil {
		return err
	}
	for _, n := range []string{note, anew} {
		if n != "" {
			s.out.Notes = append(s.out.Notes, n)
		}
	}
	return nil
}

// train solves the model for labels and scores it.
func (s *scoring) train(ctx context.Context, labels convex.Labels, prefix string) (convex.Solution, error) {
	student, err := teacher.Train(ctx, s.gram, labels, s.lambda)
	if err != nil {
		return convex.Solution{}, fmt.Errorf("the %s model on the set: %w", labels.Loss, err)
	}
	outputs, err := s.test.Student(ctx, s.shown, student.C)
	if err != nil {
		return convex.Solution{}, err
	}
	if s.Carry == "offset" && prefix != "" {
		alone, err := s.fitOffset(ctx, outputs, student.C)
		if err != nil {
			return convex.Solution{}, err
		}
		s.out.Metrics[prefix+"offset_alone"], _ = s.accuracy(alone)
	}
	acc, wrong := s.accuracy(outputs)
	s.out.Metrics[prefix+"test_acc"] = acc
	s.out.Metrics[prefix+"solve_gap"] = student.Gap
	s.out.Counts[prefix+"test_errors"] = []int64{wrong}
	return student, nil
}
