package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
)

// Fresh trains the convex model on the set as Features does, but in networks drawn
// anew: what the set is worth to somebody who does not have the draw that it was made
// in. test_acc is the mean over the draws; own.test_acc is in the set's own networks.
//
// Where a set has labels that travel, these are taken, with the squared loss: targets of
// a classifier differ from its probabilities by lambda_S times a coefficient, which means
// something only in the draw they were solved in. Labels "outputs" gives every set such
// labels, the outputs of its own model in its own draw.
type Fresh struct {
	Draws  int     `toml:"draws" min:"1" max:"100"`               // of new networks
	Kind   string  `toml:"kind,omitzero"`                         // of the networks; "" for the cell's
	Width  int     `toml:"width,omitzero" min:"0" max:"65536"`    // 0 for the cell's, or of another kind its default
	Nets   int     `toml:"nets,omitzero" min:"0" max:"4096"`      // 0 likewise
	Labels string  `toml:"labels,omitzero" enum:",exact,outputs"` // "": those that travel, where there are any
	Lambda float64 `toml:"lambda"`                                // regularisation for each image of the set
}

func init() {
	method.RegisterProtocol(func() method.Protocol { return &Fresh{Draws: 4, Lambda: teacher.DefaultLambda} })
}

// Info implements method.Protocol.
func (f *Fresh) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "fresh", Title: "New networks", Version: 1, Family: method.FreshDraws, Lambda: f.Lambda, About: "a convex model trained on the set in random features drawn anew"}
}

// Check implements method.Checker.
func (f *Fresh) Check() error {
	if _, known := nn.Lookup(f.Kind); f.Kind != "" && !known {
		return (method.Model{Kind: f.Kind}).Check()
	}
	return f.own().Check()
}

// own scores in the set's own networks.
func (f *Fresh) own() *Features { return &Features{Loss: "own", Lambda: f.Lambda} }

// model describes the networks that are drawn.
func (f *Fresh) model(of method.Model) method.Model {
	a, _ := nn.Lookup(of.Kind)
	kind := cmp.Or(f.Kind, a.Limit, of.Kind)
	m := of
	if kind != of.Kind && kind != a.Limit {
		m, _ = method.DefaultModel(kind)
	}
	m.Kind, m.Width, m.Nets = kind, cmp.Or(f.Width, m.Width), cmp.Or(f.Nets, m.Nets)
	return m
}

// CheckSizes implements method.SizesChecker.
func (f *Fresh) CheckSizes(s method.Sizes) error {
	if err := (method.Model{Kind: f.Kind}).CheckDrawn("kind", strconv.Quote(f.Kind)); err != nil {
		return fmt.Errorf("[eval.fresh] %w", err)
	}
	if s.IPC == 0 {
		return errWhole
	}
	if err := f.own().CheckSizes(s); err != nil {
		return err
	}
	s.Model = f.model(s.Model)
	return s.Model.CheckFeatures(s)
}

var errWhole = errors.New("the whole training set is not scored in fresh networks: a model would have to be trained in each\nhint: use the protocol \"features\"")

// Score implements method.Protocol.
func (f *Fresh) Score(ctx context.Context, t method.Trial, observe func(method.Step)) (*method.Scores, error) {
	scores, err := f.score(ctx, t)
	return scores, startsAgain(ctx, err)
}

func (f *Fresh) score(ctx context.Context, t method.Trial) (*method.Scores, error) {
	if t.Set.Whole {
		return nil, errWhole
	}
	own, err := f.own().score(ctx, t)
	if err != nil {
		return nil, err
	}
	out := &method.Scores{
		Metrics: map[string]float64{"own.test_acc": own.out.Metrics["test_acc"]},
		Counts:  map[string][]int64{"own.test_errors": own.out.Counts["test_errors"], "test_images": own.out.Counts["test_images"]},
	}
	labels, note, err := f.labels(t.Set, own)
	if err != nil {
		return nil, err
	}
	if t.Final {
		out.Notes = append(out.Notes, note)
	}
	tests := float64(t.Test.Len())
	accs := make([]float64, f.Draws)
	mean, variance := 0.0, 0.0
	for i := range accs {
		wrong, err := f.draw(ctx, t, i, labels)
		if err != nil {
			return nil, fmt.Errorf("fresh networks %d: %w", i, err)
		}
		out.Counts["test_errors"] = append(out.Counts["test_errors"], int64(wrong))
		accs[i] = (tests - float64(wrong)) / tests
		mean += accs[i] / float64(f.Draws)
	}
	for _, a := range accs {
		variance += float64((a-mean)*(a-mean)) / float64(f.Draws)
	}
	out.Metrics["test_acc"], out.Metrics["draws_sd"] = mean, math.Sqrt(variance)
	return out, nil
}

// labels returns those that the models are trained on, and says which they are.
func (f *Fresh) labels(d *method.Distilled, own *scoring) (convex.Labels, string, error) {
	if f.Labels == "" {
		if l, ok := teacher.TravelLabels(d); ok {
			return l, "fresh networks are scored with the labels that travel, by the squared loss", nil
		}
	}
	if f.Labels == "outputs" {
		l := convex.Values(own.own.Outputs)
		return l, fmt.Sprintf("fresh networks are scored with the outputs that the %s model on the set has in its own ones, by the squared loss", own.loss), nil
	}
	l, _, err := teacher.LabelsFor(d, own.loss)
	return l, fmt.Sprintf("fresh networks are scored with the set's own labels, by the %s loss", own.loss), err
}

// freshStream names the streams of fresh networks, as no method's are named.
func freshStream(data string, i int) []string { return []string{"fresh", data, strconv.Itoa(i)} }

// draw returns the test errors in draw i of the networks.
func (f *Fresh) draw(ctx context.Context, t method.Trial, i int, labels convex.Labels) (wrong int, err error) {
	s := space.OfTrial(t)
	s.Model, s.Draw, s.Shared = f.model(t.Model), freshStream(t.Data.Name, i), t.Own
	if t.Phase != nil {
		s.Phase = func(string, float64) { t.Phase("new networks", float64(i)/float64(f.Draws)) }
	}
	test, err := s.ShowTest(ctx, t)
	if err != nil {
		return 0, err
	}
	set, err := s.Space().Show(ctx, t.Set.Images, nil)
	if err != nil {
		return 0, err
	}
	student, err := teacher.Train(ctx, set.Gram(), labels, float64(t.Set.Len())*f.Lambda)
	if err != nil {
		return 0, err
	}
	return teacher.Errors(test.Student(set, student.C), t.Test.Labels), nil
}
