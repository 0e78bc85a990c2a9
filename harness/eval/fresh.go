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

// Fresh trains a convex model on the set as Features does, but in new networks. It measures how
// well a set works without the networks in which it was distilled. test_acc is the mean over draws
// of new networks; own.test_acc is the accuracy in the same networks.
//
// By default, Fresh uses a set's portable labels with the squared loss, if the set has them. Solved
// targets differ from probabilities by lambda_S times a coefficient, which has a meaning only in
// the same networks. With Labels = "outputs", any set gets portable labels: the outputs of its
// own model in the same networks.
type Fresh struct {
	Draws  int     `toml:"draws" min:"1" max:"100"`               // number of draws of new networks
	Kind   string  `toml:"kind,omitzero"`                         // kind of the networks; empty means the cell's
	Width  int     `toml:"width,omitzero" min:"0" max:"65536"`    // 0 means the cell's, or the default of another kind
	Nets   int     `toml:"nets,omitzero" min:"0" max:"4096"`      // 0 means the cell's, or the default of another kind
	Labels string  `toml:"labels,omitzero" enum:",exact,outputs"` // empty means portable labels if there are any, else exact ones
	Lambda float64 `toml:"lambda" min:"1e-14" max:"1e6"`          // regularisation per image of the set
}

func init() {
	method.RegisterProtocol(func() method.Protocol { return &Fresh{Draws: 4, Lambda: teacher.DefaultLambda} })
}

// Info implements method.Protocol.
func (f *Fresh) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "fresh", Title: "New networks", Version: 1, Family: method.FreshDraws, Lambda: f.Lambda, About: "a convex model trained on the set in newly drawn random features"}
}

// Check implements method.Checker.
func (f *Fresh) Check() error {
	if _, known := nn.Lookup(f.Kind); f.Kind != "" && !known {
		return (method.Model{Kind: f.Kind}).Check()
	}
	return f.own().Check()
}

// own returns the protocol for the same networks.
func (f *Fresh) own() *Features { return &Features{Loss: "own", Lambda: f.Lambda} }

// model describes the new networks.
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

var errWhole = errors.New("the protocol \"fresh\" does not score the whole training set, because it would train a large model in every draw\nhint: use the protocol \"features\"")

// Score implements method.Protocol.
func (f *Fresh) Score(ctx context.Context, t method.Trial, observe func(method.Step)) (*method.Scores, error) {
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
			return nil, fmt.Errorf("draw %d of new networks: %w", i, err)
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

// labels returns the labels on which the models are trained, and a note that describes them.
func (f *Fresh) labels(d *method.Distilled, own *scoring) (convex.Labels, string, error) {
	if f.Labels == "outputs" {
		l := convex.Values(own.own.Outputs)
		return l, fmt.Sprintf("new networks are scored with the outputs of the %s model on the set in its own networks, by the squared loss", own.loss), nil
	}
	return otherLabels(d, own.loss, f.Labels == "exact", "new")
}

// otherLabels returns the labels on which models in other networks are trained, and a note that
// describes them: portable labels if there are any and exact is not set, or else the set's own.
func otherLabels(d *method.Distilled, loss convex.Loss, exact bool, networks string) (convex.Labels, string, error) {
	if l, ok := teacher.TravelLabels(d); ok && !exact {
		return l, networks + " networks are scored with the portable labels, by the squared loss", nil
	}
	l, _, err := teacher.LabelsFor(d, loss)
	return l, fmt.Sprintf("%s networks are scored with the set's own labels, by the %s loss", networks, loss), err
}

// freshStream names the random stream of draw i. Methods never use these names.
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
	gram, err := set.Gram(ctx)
	if err != nil {
		return 0, err
	}
	student, err := teacher.Train(ctx, gram, labels, float64(t.Set.Len())*f.Lambda)
	if err != nil {
		return 0, err
	}
	outputs, err := test.Student(ctx, set, student.C)
	if err != nil {
		return 0, err
	}
	return teacher.Errors(outputs, t.Test.Labels), nil
}
