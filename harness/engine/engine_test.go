package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/progress"
	"dgkip/harness/rng"
	"dgkip/harness/store"
)

// walk is a method that moves random images at random. Wrong selects a fault.
type walk struct {
	Updates int    `toml:"updates"`
	Wrong   string `toml:"wrong" enum:",error,panic,data,nan,zero,lossless,score,forgets,heedless,blunt,refuses,beyond,slow,begins,more,wider"`
	Shares  bool   `toml:"shares,omitzero"` // uses a shared value that depends on the name of the data
}

type walkState struct {
	Update int
	Images []float32
	Stream []byte
}

func (*walk) Info() method.Info {
	return method.Info{Name: "walk", Title: "Walk", About: "for tests", Version: 1, Protocol: "half"}
}

// surroundings is the time that faults "slow" and "begins" wait before an update.
const surroundings = 40 * time.Millisecond

// hook is called before every update of every walk.
var hook = func(ctx context.Context, update int) {}

// loading is called before data is read.
var loading = func(context.Context) {}

var order struct {
	sync.Mutex
	runs []string
}

func (w *walk) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	if p.Resume == nil {
		order.Lock()
		order.runs = append(order.runs, fmt.Sprint(p.Data.Name, p.IPC, p.Seed))
		order.Unlock()
	}
	if p.Resume != nil && w.Wrong == "refuses" {
		return nil, fmt.Errorf("%w of walk: it is damaged", method.ErrCheckpoint)
	}
	set, err := method.Choose(p, rng.Stream(p.Seed, "walk"))
	if err != nil {
		return nil, err
	}
	noise := rng.Stream(p.Seed, "walk", "noise")
	if w.Shares {
		shift, err := p.Shared.Do("shift", func() (any, error) {
			return float32(rng.Stream(p.Seed, "walk", p.Data.Name).Normal64()), nil
		})
		if err != nil {
			return nil, err
		}
		set.Images[0] += shift.(float32)
	}
	s := walkState{Update: -1, Images: set.Images}
	save := func() ([]byte, error) {
		if s.Stream, err = noise.MarshalBinary(); err != nil {
			return nil, err
		}
		return json.Marshal(s)
	}
	if p.Resume != nil {
		if err := errors.Join(json.Unmarshal(p.Resume, &s), noise.UnmarshalBinary(s.Stream)); err != nil {
			return nil, err
		}
		set.Images = s.Images
	}
	for s.Update < w.Updates {
		hook(ctx, s.Update+1)
		if ctx.Err() != nil && w.Wrong != "heedless" {
			switch w.Wrong {
			case "forgets": // allowed: the run starts again
				return nil, &method.Interrupted{Cause: ctx.Err()}
			case "blunt":
				return nil, ctx.Err()
			}
			b, err := save()
			if err != nil {
				return nil, err
			}
			return nil, &method.Interrupted{Checkpoint: b, Cause: ctx.Err()}
		}
		switch w.Wrong {
		case "slow":
			time.Sleep(surroundings)
		case "begins":
			time.Sleep(surroundings)
			p.Begin()
		}
		s.Update++
		loss := 1 / float64(s.Update+1)
		if s.Update > 0 {
			for i := range s.Images {
				s.Images[i] += float32(0.1 * noise.Normal64())
			}
		}
		if s.Update == 2 {
			switch w.Wrong {
			case "error":
				return nil, errors.New("out of luck")
			case "panic":
				panic("out of order")
			case "data":
				p.Data.Train.X[1]++
			case "nan":
				loss = math.NaN()
			case "heedless":
				loss = math.NaN()
				time.Sleep(1100 * time.Millisecond) // sets of over a second are kept
			case "zero":
				loss = 0
			}
		}
		if s.Update == w.Updates && w.Wrong == "more" {
			set.Of, set.Labels = append(set.Of, 0), append(set.Labels, 1, 0)
			set.Images = append(set.Images, set.Images[:set.Size()]...)
		}
		if s.Update == 3 && w.Wrong == "wider" {
			set.W, set.H = 2*set.W, set.H/2
		}
		observe(method.Step{
			Update: s.Update, Of: w.Updates, Loss: loss, HasLoss: w.Wrong != "lossless", Distilled: set.Clone, Checkpoint: save,
			Metrics: func() map[string]float64 {
				line := map[string]float64{"first": float64(s.Images[0])}
				if w.Wrong == "beyond" {
					line["train_acc"] = 2
				}
				return line
			},
		})
	}
	return set, nil
}

// half is a protocol that scores the sum of pixels. It takes a step for each image, and can be
// interrupted.
type half struct {
	Wrong bool `toml:"wrong"`
	Way   bool `toml:"way,omitzero"` // fails on the way, but not at the end

	Says bool `toml:"says,omitzero"` // returns a metric with the name of one of the method

	Refuses bool `toml:"refuses,omitzero"` // rejects its own checkpoints
}

func (*half) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "half", Version: 1, Family: method.Network}
}

func (h *half) Score(ctx context.Context, t method.Trial, observe func(method.Step)) (*method.Scores, error) {
	if h.Way && !t.Final {
		return nil, errors.New("nothing to score yet")
	}
	from := 0
	var sum float64
	if t.Resume != nil && h.Refuses {
		return nil, fmt.Errorf("%w of half: it is damaged", method.ErrCheckpoint)
	}
	if t.Resume != nil {
		var state [2]float64
		if err := json.Unmarshal(t.Resume, &state); err != nil {
			return nil, err
		}
		from, sum = int(state[0]), state[1]
	}
	for i := from; i < t.Set.Len(); i++ {
		save := func() ([]byte, error) { return json.Marshal([2]float64{float64(i), sum}) }
		hook(ctx, -1)
		if ctx.Err() != nil {
			b, err := save()
			return nil, errors.Join(err, &method.Interrupted{Checkpoint: b, Cause: ctx.Err()})
		}
		for _, v := range t.Set.Images[i*t.Set.Size():][:t.Set.Size()] {
			sum += float64(v)
		}
		observe(method.Step{Update: i + 1, Of: t.Set.Len(), Checkpoint: save})
	}
	acc := 0.5 + sum/1e4
	if h.Wrong {
		acc = math.Inf(1)
	}
	scores := map[string]float64{"test_acc": acc}
	if h.Says {
		scores["first"] = -1
	}
	return &method.Scores{Metrics: scores}, nil
}

func init() {
	method.Register(func() method.Method { return &walk{Updates: 6} })
	method.RegisterProtocol(func() method.Protocol { return new(half) })
	store.Touch, store.Stale = 100*time.Millisecond, 2*time.Second
}

// source opens any dataset except c.
type source struct{}

func (source) Open(_ context.Context, d experiment.Data) (*engine.Dataset, error) {
	if d.Name == "c" {
		return nil, errors.New("c: no such data")
	}
	side := 8
	if d.Name == "large" {
		side = 16
	}
	return &engine.Dataset{
		Known: store.Known{
			Data:            d,
			DatasetIdentity: experiment.DatasetIdentity{Name: d.Name, Classes: []string{"upper", "lower"}, Preprocess: "standard", Digest: "sha256:" + d.Name},
			Shape:           store.Shape{Train: 12, Test: 12, Height: side, Width: side, Channels: 1},
		},
		Load: func(ctx context.Context) (*method.Data, method.Images, error) {
			loading(ctx)
			if ctx.Err() != nil {
				return nil, method.Images{}, fmt.Errorf("reading %s: %w", d.Name, ctx.Err())
			}
			data := methodtest.Data(1)
			data.Name = d.Name
			return data, data.Train, nil
		},
	}, nil
}

const text = `schema = 1
name = "t"
title = "T"
[grid]
dataset = ["a", "b"]
ipc = [1, 2]
method = ["walk"]
[eval]
trace = 2
score = 3
[seeds]
count = 2
`

func plan(t *testing.T, text string) *engine.Plan {
	t.Helper()
	s, err := experiment.Parse("t.toml", text, experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Lookup{Source: source{}}.Make(context.Background(), []*experiment.Spec{s}, experiment.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func options() engine.Options {
	return engine.Options{Board: progress.New(io.Discard, true), CheckpointEvery: time.Hour}
}

func execute(t *testing.T, p *engine.Plan, s *store.Store, o engine.Options) engine.Outcome {
	t.Helper()
	out, err := engine.Execute(context.Background(), p, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// contents returns result.json and trace.csv of all records.
func contents(t *testing.T, p *engine.Plan, s *store.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range p.Runs {
		record, err := s.Get(r.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"result.json", "trace.csv"} {
			b, err := os.ReadFile(filepath.Join(record.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all[r.Name()+" "+name] = string(b)
		}
	}
	return all
}

// reference computes all runs without an interruption.
func reference(t *testing.T, text string) (*engine.Plan, map[string]string) {
	t.Helper()
	p := plan(t, text)
	s := store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out.Computed != len(p.Runs) {
		t.Fatalf("outcome %+v", out)
	}
	return p, contents(t, p, s)
}

func TestExecute(t *testing.T) {
	order.runs = nil
	p := plan(t, text)
	s := store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out != (engine.Outcome{Computed: 8}) {
		t.Errorf("outcome %+v", out)
	}
	if want := []string{"a1 0", "a2 0", "b1 0", "b2 0", "a1 1", "a2 1", "b1 1", "b2 1"}; !slices.Equal(order.runs, want) {
		t.Errorf("order %q, want %q", order.runs, want)
	}
	r, err := s.Get(p.Runs[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	if r.Result.Updates != 6 || r.Result.Images != 2 || r.Result.Metrics["last.loss"] != 1.0/7 {
		t.Errorf("result %+v", r.Result)
	}
	trace, err := r.Trace()
	if err != nil {
		t.Fatal(err)
	}
	if got := trace.Column("update"); !slices.Equal(got, []float64{0, 2, 3, 4, 6}) {
		t.Errorf("lines of the trace at %v", got)
	}
	if acc := trace.Column("test_acc"); math.IsNaN(acc[0]) || !math.IsNaN(acc[1]) || acc[4] != r.Result.Metrics["test_acc"] {
		t.Errorf("accuracies %v", acc)
	}
	if tm := r.Provenance.Timing; tm.Counted+tm.Excluded != 6 || tm.Counted < 3 || tm.Shared || tm.Hosts != 1 || r.Provenance.Shared {
		t.Errorf("timing %+v", tm)
	}
	if want := (store.Shape{Train: 12, Test: 12, Height: 8, Width: 8, Channels: 1}); r.Provenance.Dataset.Shape != want {
		t.Errorf("shape %+v, want %+v", r.Provenance.Dataset.Shape, want)
	}
	if out := execute(t, p, s, options()); out != (engine.Outcome{Before: 8}) {
		t.Errorf("the second time: %+v", out)
	}
	o := options()
	o.Force = true
	if out := execute(t, p, s, o); out != (engine.Outcome{Computed: 8}) {
		t.Errorf("with force: %+v", out)
	}
}

// interrupt executes a plan until stop returns true, before an update or, with -1, before a step of
// scoring.
func interrupt(p *engine.Plan, s *store.Store, o engine.Options, stop func(update int) bool) (engine.Outcome, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hook = func(_ context.Context, update int) {
		if stop(update) {
			cancel()
		}
	}
	defer func() { hook = func(context.Context, int) {} }()
	return engine.Execute(ctx, p, s, o)
}

func at(update int) func(int) bool { return func(u int) bool { return u == update } }

// after stops at the call that follows the given number of calls.
func after(calls int) func(int) bool {
	return func(int) bool { calls--; return calls == -1 }
}

// Interruptions do not affect the records.
func TestInterruptAnywhere(t *testing.T) {
	p, want := reference(t, text)
	for _, stride := range []int{1, 3, 11} {
		if stride == 1 && testing.Short() {
			continue
		}
		s := store.Open(t.TempDir())
		o := options()
		if stride == 3 {
			o.CheckpointEvery = time.Nanosecond
		}
		for rounds := 0; ; rounds++ {
			out, err := interrupt(p, s, o, after(stride))
			if err == nil {
				if out.Before+out.Computed != len(p.Runs) {
					t.Errorf("outcome %+v", out)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || rounds > 1000 {
				t.Fatal(err)
			}
		}
		if got := contents(t, p, s); !maps.Equal(got, want) {
			t.Errorf("interrupted every %d steps, the records differ", stride)
		}
	}
}

// A loss of exactly 0 is recorded, unlike a missing loss.
func TestLossOfZero(t *testing.T) {
	for wrong, want := range map[string]string{"zero": "[1 0 0.25 0.2 0.14285714285714285]", "lossless": "[]"} {
		p := plan(t, text+"[method.walk]\nwrong = \""+wrong+"\"\n")
		s := store.Open(t.TempDir())
		execute(t, p, s, options())
		r, err := s.Get(p.Runs[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := r.Trace()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(trace.Column("loss")); got != want {
			t.Errorf("%s: losses %v, want %v", wrong, got, want)
		}
	}
}

// If a method stops without a checkpoint, or rejects its own, the run and its trace start again.
func TestInterruptWithoutCheckpoint(t *testing.T) {
	for _, wrong := range []string{"forgets", "blunt", "refuses"} {
		p, want := reference(t, text+"[method.walk]\nwrong = \""+wrong+"\"\n")
		for _, every := range []time.Duration{time.Hour, time.Nanosecond} {
			s, o := store.Open(t.TempDir()), options()
			o.CheckpointEvery = every
			if _, err := interrupt(p, s, o, at(3)); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			execute(t, p, s, o)
			if got := contents(t, p, s); !maps.Equal(got, want) {
				t.Errorf("%s: records differ after an interruption", wrong)
			}
		}
	}
}

// If a protocol rejects its own checkpoint, it starts again.
func TestScoringRefusesCheckpoint(t *testing.T) {
	p, want := reference(t, text+"[eval.half]\nrefuses = true\n")
	for stop := range 12 { // in scores on the way and at the end
		looks := after(stop)
		s := store.Open(t.TempDir())
		if _, err := interrupt(p, s, options(), func(update int) bool { return update == -1 && looks(update) }); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if out := execute(t, p, s, options()); out.Failed > 0 {
			t.Errorf("stopped at look %d: %+v", stop, out)
		}
		if got := contents(t, p, s); !maps.Equal(got, want) {
			t.Errorf("stopped at look %d: the records differ", stop)
		}
	}
}

func TestJobs(t *testing.T) {
	p, want := reference(t, text)
	s := store.Open(t.TempDir())
	o := options()
	o.Jobs = 3
	execute(t, p, s, o)
	if got := contents(t, p, s); !maps.Equal(got, want) {
		t.Error("several jobs at a time change the records")
	}
	r, err := s.Get(p.Runs[0].Key)
	if err != nil || !r.Provenance.Timing.Shared || !r.Provenance.Shared {
		t.Errorf("timings, processor time and memory of several jobs are not flagged: %v", err)
	}
	s = store.Open(t.TempDir())
	execute(t, &engine.Plan{Runs: p.Runs[:1]}, s, o)
	if r, err := s.Get(p.Runs[0].Key); err != nil || r.Provenance.Timing.Shared || r.Provenance.Shared {
		t.Errorf("the timing of a single job is flagged: %v", err)
	}
}
