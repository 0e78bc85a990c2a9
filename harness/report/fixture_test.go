package report

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fake is a method that exists only in records.
type fake struct {
	Rate       float64 `toml:"rate"`
	Steps      int     `toml:"steps"`
	Soft       bool    `toml:"soft,omitzero"`
	Updates    int     `toml:"updates,omitzero"`
	Iterations int     `toml:"iterations,omitzero"`

	name, title string
	whole       bool
}

func (f *fake) Info() method.Info {
	return method.Info{Name: f.name, Title: f.title, Version: 1, Protocol: "fake-score", IgnoresIPC: f.whole, SoftLabels: f.Soft}
}

func (f *fake) Distill(context.Context, method.Problem, func(method.Step)) (*method.Distilled, error) {
	return nil, nil
}

type fakeScore struct {
	Nets int `toml:"nets"`
}

func (*fakeScore) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "fake-score", Version: 1, Family: method.Network}
}
func (*fakeScore) Score(context.Context, method.Trial, func(method.Step)) (*method.Scores, error) {
	return nil, nil
}

// fakeKernel is a protocol of another family.
type fakeKernel struct{ fakeScore }

func (*fakeKernel) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "fake-kernel", Version: 1, Family: method.Kernel}
}

func init() {
	for _, m := range []fake{{name: "slow", title: "Slow"}, {name: "fast-lr", title: "Fast-LR"}, {name: "fast-ls", title: "Fast_LS & co"}, {name: "chance", title: "Random"}, {name: "all-of-it", title: "Whole", whole: true}} {
		method.Register(func() method.Method { c := m; c.Rate, c.Steps = 0.01, 100; return &c })
	}
	method.RegisterProtocol(func() method.Protocol { return &fakeScore{Nets: 1} })
	method.RegisterProtocol(func() method.Protocol { return &fakeKernel{fakeScore{Nets: 1}} })
}

const demo = `schema = 1
name = "demo"
title = "Distilling 100 % of it"

[grid]
dataset = ["mnist", "glyphs"]
ipc = [1, 10, 50]
method = ["slow", "fast-lr", "fast-ls", "chance", "all-of-it"]

[[exclude]]
when = { method = "slow", ipc = 50, dataset = "glyphs" }
reason = "it would take a week"

[seeds]
count = 3

[table]
rows = ["dataset", "ipc"]
columns = ["method"]
time = true
unmarked = ["chance", "all-of-it"]
against = { fast-ls = "slow" }

[[table.group]]
title = "Ours"
columns = ["fast-lr", "fast-ls"]

[[table.group]]
title = "Controls"
columns = ["chance", "all-of-it"]
below = true

[[figure]]
name = "process"
title = "The process"
kind = "curves"
only = "method:fast-lr dataset:mnist"
x = "update"
y = ["bound", "deviation"]
y2 = ["test_acc"]
panels = ["ipc"]
y_label = "Relative to the full solution"

[[figure]]
name = "convergence"
kind = "curves"
only = "dataset:mnist ipc:10"
x = "seconds"
y = ["test_acc"]
series = ["method"]
log_x = true

[[figure]]
name = "by-ipc"
kind = "curves"
only = "dataset:mnist"
x = "ipc"
y = ["test_acc"]
series = ["method"]
log_x = true

[[figure]]
name = "tradeoff"
kind = "scatter"
x = "seconds_per_iteration"
y = ["test_acc"]
series = ["method", "ipc"]
panels = ["dataset"]

[[figure]]
name = "images"
kind = "images"
only = "dataset:mnist"
series = ["method"]
panels = ["ipc"]
images = 4

[[published]]
source = "Someone (2020)"
when = { dataset = "mnist", ipc = 1 }
family = "network"
values = { slow = [88.5, 0.4], fast-lr = [94.1, 0.3] }

[[published]]
source = "Someone (2020)"
when = { dataset = "mnist", ipc = 10 }
family = "network"
values = { slow = [70.5, 0.4], fast-lr = [96.0, 1.3] }

[[published]]
source = "Someone (2020)"
when = { dataset = "mnist", ipc = [1, 10, 50] }
metric = "seconds_per_iteration"
values = { slow = 0.237, fast-lr = 0.009 }

[[published]]
source = "Someone (2020)"
when = { dataset = "mnist", ipc = 50 }
tolerance = 2
family = "network"
values = { fast-lr = 97.25 }

[[claim]]
id = "first"
text = "A fast method is best or second in each row."
place = "Table 1"
kind = "rank"
columns = ["fast-lr", "fast-ls"]
top = 2

[[claim]]
id = "time"
text = "Its time is below the other's."
place = "Section 5"
kind = "less"
metric = "seconds_per_iteration"
columns = ["fast-lr"]
against = ["slow"]
only = "dataset:mnist seed:(0 1)"

[[claim]]
id = "growth"
text = "Its time hardly grows with IPC, the other's does."
place = "Section 5"
kind = "growth"
metric = "seconds_per_iteration"
axis = "ipc"
factor = 2.5
columns = ["fast-lr"]
against = ["slow"]
only = "dataset:mnist seed:(0 1)"

[[claim]]
id = "bound"
text = "The bound is above the deviation."
place = "Theorem 3.2"
kind = "above"
metric = "bound"
other = "deviation"
columns = ["fast-lr"]
only = "dataset:mnist"

[[claim]]
id = "up"
text = "Accuracy rises as the bound falls."
place = "Figure 2"
kind = "opposed"
metric = "bound"
other = "test_acc"
only = "dataset:mnist"

[[claim]]
id = "transfer"
text = "Transfer keeps accuracy."
place = "Table 3"
kind = "keeps"
other = "transfer.test_acc"
tolerance = 0.02
columns = ["fast-lr"]
`

func parse(t testing.TB, text string) *experiment.Spec {
	t.Helper()
	s, err := experiment.Parse("demo.toml", text, experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dataOf(name string) experiment.DatasetIdentity {
	return experiment.DatasetIdentity{Name: name, Classes: []string{"nought", "one"}, Preprocess: "standard", Digest: "sha256:" + name}
}

// keyed finds the records of fill.
var keyed = Options{Key: func(c *experiment.Cell, seed uint64) (string, bool) {
	return c.Identity(dataOf(c.Dataset), seed).Key(), true
}}

// emptyStore returns a store without records in a folder.
func emptyStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	st := store.Open(filepath.Join(dir, "results"))
	if err := st.Prepare(); err != nil {
		t.Fatal(err)
	}
	return st
}

// stored returns a store with one record for each cell, after change has edited it.
func stored(t testing.TB, s *experiment.Spec, change func(i int, d *store.Draft)) *store.Store {
	t.Helper()
	st := emptyStore(t, t.TempDir())
	for i, c := range s.Cells {
		d := recordOf(c, c.Identity(dataOf(c.Dataset), 0), 0)
		change(i, &d)
		if _, err := st.Put(d, false); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

// fill returns a store of invented records for a spec, whose numbers depend on the cell and the
// seed alone. Some runs are missing, and some have failed.
func fill(t testing.TB, dir string, s *experiment.Spec) *store.Store {
	t.Helper()
	st := emptyStore(t, dir)
	for _, c := range s.Cells {
		for seed := range uint64(s.Seeds) {
			id := c.Identity(dataOf(c.Dataset), seed)
			if st.Has(id.Key()) {
				continue
			}
			switch {
			case c.Dataset == "glyphs" && c.Column == "slow":
				if err := st.Fail(store.Failure{Identity: id, Kind: "panic", Message: "index <out> of range & more", Stack: "goroutine 1", Update: 7}); err != nil {
					t.Fatal(err)
				}
				continue
			case c.Dataset == "glyphs" && c.IPC == 50 && c.Column != "all-of-it", c.Column == "slow" && c.IPC == 50 && seed > 1:
				continue
			case c.Dataset == "mnist" && c.IPC == 10 && c.Column == "fast-ls" && seed == 2:
				if err := st.Fail(store.Failure{Identity: id, Kind: "not-finite", Message: "loss is NaN"}); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if _, err := st.Put(recordOf(c, id, seed), false); err != nil {
				t.Fatal(err)
			}
		}
	}
	return st
}

// recordOf returns an invented record.
func recordOf(c *experiment.Cell, id experiment.Identity, seed uint64) store.Draft {
	skill := cmp.Or(map[string]float64{"slow": 0.88, "fast-lr": 0.94, "fast-ls": 0.95, "chance": 0.7, "all-of-it": 0.99}[c.Column], 0.8)
	if c.Column != "all-of-it" {
		skill += math.Round(1e4*0.03*math.Log10(float64(c.IPC))*(1-skill)*10) / 1e4
	}
	skill += float64(seed) * 0.001
	skill = math.Round(1e4*math.Min(skill, 0.9975)) / 1e4
	seconds := map[string]float64{"slow": 0.25, "fast-lr": 0.008, "fast-ls": 0.02}[c.Column] * (1 + float64(c.IPC)/40)
	start := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	d := store.Draft{
		Result: store.Result{
			Identity: id,
			Metrics:  map[string]float64{"test_acc": skill, "transfer.test_acc": math.Round(1e4*(skill-0.01)) / 1e4},
			Counts:   map[string][]int64{"test_errors": {int64(math.Round((1 - skill) * 10000))}, "test_images": {10000}},
			Updates:  100,
			Notes:    []string{"made up for a test"},
		},
		Provenance: store.Provenance{
			Started: start, Finished: start.Add(90 * time.Second), Wall: 90, CPU: 170, Memory: 3 << 28, Scoring: 4,
			Timing: store.Timing{Median: seconds, Counted: 95, Excluded: 5, Shared: c.Column == "fast-ls", Hosts: 1},
			Sessions: []store.Session{{Host: env.Host{Name: "host", CPU: "Some CPU", OS: "linux", Arch: "amd64", Cores: 2, Go: "go1.25", Git: env.Git{Commit: "0123456789abcdef", State: "clean"}},
				Kernels: "avx2", Started: start, Seconds: 90, Args: []string{"dgkip", "-exp", c.Exp}, Jobs: 1, Threads: 2}},
			Dataset:    store.Dataset{Title: map[string]string{"mnist": "MNIST", "glyphs": "Glyphs"}[c.Dataset], BuiltIn: c.Dataset == "glyphs"},
			Experiment: c.Exp, Profile: "short", Cell: c.Point,
		},
		Trace: store.Trace{Columns: []string{"update", "bound", "deviation", "loss", "test_acc"}},
		Set:   &method.Distilled{Whole: true, Classes: id.Dataset.Classes},
	}
	if c.Column == "chance" || c.Column == "all-of-it" {
		d.Result.Updates, d.Provenance.Timing = 0, store.Timing{}
		d.Trace = store.Trace{Columns: []string{"update", "test_acc"}, Rows: [][]float64{{0, skill}}}
	} else {
		for u := 0; u <= 100; u += 5 {
			x := float64(u) / 100
			fall := math.Round(1e4*math.Exp(-3*x)) / 1e4
			wave := math.Round(300*math.Sin(9*x+2*float64(seed))) / 1e4
			d.Trace.Rows = append(d.Trace.Rows, []float64{float64(u), 0.1 + 0.9*fall + wave, 0.1 + 0.7*fall + wave, 10 * fall, 0.6 + (skill-0.6)*(1-fall) + wave/2})
		}
	}
	if c.Column != "all-of-it" {
		d.Set = fakeSet(c, id, seed)
	}
	return d
}

// fakeSet returns pictures of noughts and ones.
func fakeSet(c *experiment.Cell, id experiment.Identity, seed uint64) *method.Distilled {
	const side = 16
	set := &method.Distilled{H: side, W: side, C: 1, Kind: method.Hard, Classes: id.Dataset.Classes, Prep: method.Preprocessing{Name: "none"}}
	r := rng.Stream(seed, "pictures", c.Column)
	for class := range 2 {
		for range c.IPC {
			set.Of = append(set.Of, class)
			cx, cy := 7+2*r.Float64(), 7+2*r.Float64()
			for y := range side {
				for x := range side {
					dx, dy := float64(x)-cx, (float64(y)-cy)*0.8
					v := math.Abs(math.Sqrt(dx*dx+dy*dy) - 4.5)
					if class == 1 {
						v = math.Abs(dx - 0.2*dy)
					}
					set.Images = append(set.Images, float32(math.Max(0, 1-v/2))*0.8+0.2*float32(r.Float64()))
				}
			}
		}
	}
	set.Labels = method.OneHot(set.Of, 2)
	return set
}

// demoStore holds the records of the demo, which no test may change.
var demoStore *store.Store

func shared(t testing.TB) *store.Store {
	t.Helper()
	if demoStore == nil {
		demoStore = fill(t, demoDir, parse(t, demo))
	}
	return demoStore
}

var demoDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	demoDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func loadDemo(t testing.TB) *Results {
	t.Helper()
	return Load(parse(t, demo), shared(t), keyed)
}

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs; go test -update rewrites it\n%s", file, firstDifference(string(want), string(got)))
	}
}

func firstDifference(want, got string) string {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			from := max(0, i-60)
			return fmt.Sprintf("want ...%q\ngot  ...%q", want[from:min(len(want), i+60)], got[from:min(len(got), i+60)])
		}
	}
	return fmt.Sprintf("%d bytes, not %d", len(got), len(want))
}
