package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/toml"
)

// toy is a method with settings of every type.
type toy struct {
	Steps int       `toml:"steps" min:"0"`
	Rate  float64   `toml:"rate" min:"0" max:"1"`
	Start string    `toml:"start" enum:"real,noise"`
	Fixed bool      `toml:"fixed"`
	Sizes []int     `toml:"sizes"`
	Later string    `toml:"later,omitzero"`
	Deep  toyExtras `toml:"deep"`
	toyBase
}

type toyBase struct {
	Inner int `toml:"inner"`
}

type toyExtras struct {
	Width float64 `toml:"width"`
}

func (t *toy) Info() method.Info {
	return method.Info{Name: "toy", Title: "Toy", Version: 3, Protocol: "judge"}
}

func (t *toy) Distill(context.Context, method.Problem, func(method.Step)) (*method.Distilled, error) {
	return nil, nil
}

func (t *toy) Check() error {
	if t.Fixed && t.Steps > 100 {
		return &method.BadSetting{Key: "steps", Why: "must be at most 100 where fixed = true"}
	}
	return nil
}

type other struct{ toy }

func (o *other) Info() method.Info {
	return method.Info{Name: "other-toy", Title: "Other", Version: 1, Protocol: "judge", IgnoresIPC: true}
}

type needy struct {
	Must int `toml:"must" required:"true"`
}

func (*needy) Info() method.Info {
	return method.Info{Name: "needy", Title: "Needy", Version: 1, Protocol: "judge"}
}
func (*needy) Distill(context.Context, method.Problem, func(method.Step)) (*method.Distilled, error) {
	return nil, nil
}

type judge struct {
	Nets int `toml:"nets" min:"1"`
}

func (j *judge) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "judge", Version: 1, Family: method.Network}
}
func (j *judge) Score(context.Context, method.Trial, func(method.Step)) (*method.Scores, error) {
	return nil, nil
}

type jury struct{ judge }

func (j *jury) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "jury", Version: 1, Family: method.Network}
}

func init() {
	method.Register(func() method.Method { return &toy{Steps: 10, Rate: 0.5, Start: "real"} })
	method.Register(func() method.Method { return new(other) })
	method.Register(func() method.Method { return new(needy) })
	method.RegisterProtocol(func() method.Protocol { return &judge{Nets: 3} })
	method.RegisterProtocol(func() method.Protocol { return new(jury) })
}

const good = `schema = 1
name = "demo"
title = "A demonstration"

[grid]
dataset = ["symbols", "mine"]
ipc = [1, 10]
method = ["toy", "slow", "other-toy"]
model = ["conv", "thin"]

[[exclude]]
when = { method = "slow", ipc = 1 }
reason = "it takes weeks"

[method.toy]
steps = 20
deep.width = 2

[method.slow]
use = "toy"
title = "Toy, slow"
rate = 0.25

[model.thin]
kind = "fc"
width = 64

[[set]]
when = { ipc = 10 }
with = { method = { steps = 40 } }

[[set]]
when = { ipc = 10, method = "slow" }
with.method.steps = 50
with.eval.judge.nets = 7

[eval]
trace = 5

[eval.judge]
nets = 2

[seeds]
count = 3


[data.mine]
format = "npz"
train = "mine.npz"

[profile.smoke]
grid.dataset = ["symbols"]
seeds.count = 1
[profile.smoke.method.toy]
steps = 2
`

var known = []string{"symbols", "mnist"}

func TestGood(t *testing.T) {
	s, err := Parse("demo.toml", good, Options{Datasets: known})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(s.Cells), 2*2*3*2-2*2; got != want {
		t.Fatalf("%d cells, want %d", got, want)
	}
	steps := map[string]int{}
	for _, c := range s.Cells {
		switch m := c.Method().(type) {
		case *toy:
			steps[fmt.Sprint(c.Column, " ", c.IPC)] = m.Steps
			if m.Deep.Width != 2 {
				t.Errorf("%v: deep.width = %v", c.Point, m.Deep.Width)
			}
			nets := c.Protocol.(*judge).Nets
			if want := map[bool]int{true: 7, false: 2}[c.Column == "slow"]; nets != want {
				t.Errorf("%v: %d nets, want %d", c.Point, nets, want)
			}
		case *other:
			if c.Identity(DatasetIdentity{}, 1).IPC != 0 {
				t.Error("the number of images must not be part of the identity of a method that ignores it")
			}
		}
		if want := map[string]int{"conv": 256, "thin": 64}[c.Model]; c.Net.Width != want {
			t.Errorf("%v: width %d, want %d", c.Point, c.Net.Width, want)
		}
	}
	for at, want := range map[string]int{"toy 1": 20, "toy 10": 40, "slow 10": 50} {
		if steps[at] != want {
			t.Errorf("%s: %d steps, want %d", at, steps[at], want)
		}
	}
	if s.Titles["slow"] != "Toy, slow" || s.Titles["toy"] != "Toy" {
		t.Errorf("titles %v", s.Titles)
	}
	if s.Seeds != 3 {
		t.Errorf("seeds %v", s.Seeds)
	}
	smoke, err := Parse("demo.toml", good, Options{Datasets: known, Profile: "smoke", Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	if m := smoke.Cells[0].Method().(*toy); m.Steps != 2 || len(smoke.Cells) != 2*3*2-2 || smoke.Seeds != 2 {
		t.Errorf("smoke: %d steps, %d cells, %d seeds", m.Steps, len(smoke.Cells), smoke.Seeds)
	}
}

// Every case contains one mistake. The error must name its place and give a hint.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"syntax", `ipc = [1, 10]`, `ipc = [1, 10`, "demo.toml:8:1: expected a comma (',') or array terminator (']'), but got 'm'"},
		{"key", `[seeds]`, `[seed]`, "demo.toml:43:2: unknown key \"seed\" in the file\n\t[seed]\n\t ^^^^\n\thint: did you mean \"seeds\"?"},
		{"setting", "rate = 0.25", "raet = 0.25", "demo.toml:22:1: unknown key \"raet\" in the settings of toy\n\traet = 0.25\n\t^^^^\n\thint: did you mean \"rate\"?"},
		{"type", "steps = 20", `steps = "20"`, "steps must be an integer, not a string\n\tsteps = \"20\"\n\t        ^^^^"},
		{"bound", "rate = 0.25", "rate = 1.5", "rate must be at most 1\n\trate = 1.5\n\t       ^^^\n\thint: the default is 0.5"},
		{"table for a list", "[[exclude]]", "[exclude]", "exclude must be a list, not a table\n\t[exclude]\n\t ^^^^^^^\n\thint: write [[exclude]]"},
		{"enum", "rate = 0.25", `start = "reel"`, `did you mean "real"?`},
		{"own check", "steps = 20", "steps = 200\nfixed = true", "steps must be at most 100 where fixed = true\n\tsteps = 200\n\t        ^^^"},
		{"method", `use = "toy"`, `use = "toi"`, `unknown method "toi"`},
		{"title used twice", `title = "Toy, slow"`, `title = "Toy"`, "demo.toml:21:1: toy and slow on the axis method have the same title, \"Toy\""},
		{"title of datasets used twice", "[data.mine]\n", "[data.symbols]\ntitle = \"Mine\"\n\n[data.mine]\ntitle = \"Mine\"\n", "symbols and mine on the axis dataset have the same title"},
		{"title of known data", "[data.mine]\n", "[data.mine]\ntitle = \"Symbols (built-in)\"\n", "symbols and mine on the axis dataset have the same title"},
		{"large number", "steps = 20", "steps = 9007199254740993", "steps must be at most 9007199254740992\n\tsteps = 9007199254740993\n\t        ^^^"},
		{"axis that changes nothing", "[grid]\n", "[grid]\n\"eval.trace\" = [1, 2]\n", "the axis \"eval.trace\" changes nothing"},
		{"axis without quotes", "[grid]\n", "[grid]\neval.protocol = [\"judge\"]\n", "hint: write the name of an axis with a dot in quotes"},
		{"method's name", "[eval]\n", "[method.other-toy]\nuse = \"toy\"\n\n[eval]\n", "a column cannot have the name of the method other-toy and use toy\n\tuse = \"toy\"\n\t^^^\n\thint: give the column a name of its own"},
		{"column", `method = ["toy", "slow", "other-toy"]`, `method = ["toy", "slow", "other-tyo"]`, "demo.toml:8:26: unknown method \"other-tyo\""},
		{"dataset", `"mine"]`, `"mnits"]`, "unknown dataset \"mnits\"\n\tdataset = [\"symbols\", \"mnits\"]\n\t                      ^^^^^^^\n\thint: did you mean \"mnist\"?"},
		{"model", `"thin"]`, `"thinn"]`, `unknown model "thinn"`},
		{"model kind", `kind = "fc"`, `kind = "cf"`, `kind is "cf", which is not one of conv, fc`},
		{"deviation of a random network", "width = 64", "weight = 1.5", "demo.toml:26:10: weight only applies to exact kernels\n\tweight = 1.5\n\t         ^^^\n\thint: leave it out; random networks have the published standard deviations"},
		{"size of a deviation", "width = 64", "bias = 0", "bias must be at least 0.01"},
		{"condition", `when = { ipc = 10 }`, `when = { icp = 10 }`, `there is no axis "icp"`},
		{"condition value", `when = { ipc = 10 }`, `when = { ipc = 50 }`, "50 is not on the axis ipc"},
		{"with", `with = { method = { steps = 40 } }`, `with = { methods = { steps = 40 } }`, `a [[set]] cannot change "methods"`},
		{"with setting", `with.method.steps = 50`, `with.method.setps = 50`, "unknown key \"setps\" in the settings of toy\n\twith.method.setps = 50\n\t            ^^^^^"},
		{"protocol", "[eval]\n", "[eval]\nprotocol = \"jugde\"\n", `did you mean "judge"?`},
		{"protocol setting", "nets = 2", "nets = 0", "nets must be at least 1"},
		{"profile", "[profile.smoke]", "[profile.smok]", `unknown profile "smok"`},
		{"in a profile", "steps = 2\n", "stepps = 2\n", `did you mean "steps"?`},
		{"unknown method in the grid", `method = ["toy", "slow", "other-toy"]`, `method = ["toy", "slow", "averages"]`, "a method of your own must call method.Register and be imported in baselines/all/all.go"},
		{"section of an unknown method", "[eval]\n", "[method.tyo]\nsteps = 3\n\n[eval]\n", "unknown method \"tyo\""},
		{"unused section", "[eval]\n", "[method.quick]\nuse = \"toy\"\n\n[eval]\n", "no column uses the method \"quick\""},
		{"schema", "schema = 1", "schema = 2", "schema is 2; this program reads schema 1"},
		{"profiles misspelt", "[profile.smoke]", "[profil.smoke]", "did you mean \"profile\"?"},
		{"profile of a profile", "[profile.smoke]", "[profile.smoke.profile.full]\n[profile.smoke]", "a profile cannot have profiles of its own"},
		{"no schema", "schema = 1\n", "", "the key \"schema\" is missing in the file\n\tname = \"demo\"\n\t^\n\thint: write schema = 1"},
		{"axis like another", "[grid]\n", "[grid]\nmodels = [\"conv\"]\n", "the axis \"models\" changes nothing: all its values are the same runs\n\tmodels = [\"conv\"]\n\t^^^^^^\n\thint: did you mean \"model\"?"},
		{"schema", `schema = 1`, `schema = [1, "a"]`, "schema is a list; this program reads schema 1"},
		{"set without a section", "with = { method = { steps = 40 } }", "with = { steps = 40 }", "a [[set]] cannot change \"steps\"\n\twith = { steps = 40 }\n\t         ^^^^^\n\thint: settings are in their section, as in with = { method = { steps = ... } }"},
		{"name", `name = "demo"`, `name = "other"`, `name must be "demo"`},

		{"format", `format = "npz"`, `format = "npy"`, "demo.toml:48:10: format is \"npy\", which is not one of npz, folder\n\tformat = \"npy\"\n\t         ^^^^^\n\thint: did you mean \"npz\"?"},
		{"test fraction", `train = "mine.npz"`, "train = \"mine.npz\"\ntest_fraction = 1.5", "demo.toml:50:17: test_fraction must be positive and below 1, not 1.5\n\ttest_fraction = 1.5\n\t                ^^^\n\thint: write the part of each class to set aside for testing, such as 0.2"},
		{"data together", `train = "mine.npz"`, "train = \"mine.npz\"\ntest = \"m.npz\"\ntest_fraction = 0.1", "demo.toml:51:17: test_fraction only applies without a test set"},
		{"data incomplete", `train = "mine.npz"`, ``, "demo.toml:47:7: [data.mine]: train is missing\n\t[data.mine]\n\t      ^^^^\n\thint: write train = \"PATH\""},
		{"data key", `train = "mine.npz"`, `tran = "mine.npz"`, `unknown key "tran" in [data.mine]`},
		{"known data", `[data.mine]`, "[data.mnist]\ntest_fraction = 0.5\n[data.mine]", "demo.toml:48:17: test_fraction only applies to your own files"},
		{"data name", `[data.mine]`, "[data.mnist]\nformat = \"npz\"\ntrain = \"x\"\n[data.mine]", "mnist is a dataset of this program"},
		{"ipc", "ipc = [1, 10]", "ipc = [1, -10]", "ipc must be an integer from 1 to 1,000,000"},
		{"twice", "ipc = [1, 10]", "ipc = [1, 1, 10]", "1 is listed twice on the axis ipc"},
		{"required", `"other-toy"]`, `"other-toy", "needy"]`, "demo.toml:8:39: the key \"must\" is missing in the settings of needy"},
		{"key twice", "steps = 20", "steps = 20\nsteps = 30", "demo.toml:17:1: key steps is already defined"},
		{"grid", "[grid]\n", "grid = []\n[grad]\n", "grid must be a table of axes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(good, c.old) {
				t.Fatalf("the good file has no %q", c.old)
			}
			_, err := Parse("demo.toml", strings.Replace(good, c.old, c.new, 1), Options{Datasets: known})
			if err == nil {
				t.Fatal("no mistake found")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got\n%v\nwant it to contain\n%s", err, c.want)
			}
			for _, f := range err.(toml.Faults) {
				if f.File != "demo.toml" || f.Line == 0 {
					t.Errorf("a mistake without a place: %+v", f)
				}
			}
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	bad := strings.NewReplacer("rate = 0.25", "raet = 0.25", "nets = 2", "nest = 2", `"thin"]`, `"thick"]`, "steps = 2\n", "steps = -2\n").Replace(good)
	_, err := Parse("demo.toml", bad, Options{Datasets: known})
	faults, ok := err.(toml.Faults)
	if !ok || len(faults) != 4 {
		t.Fatalf("want four mistakes, got\n%v", err)
	}
	for i := 1; i < len(faults); i++ {
		if faults[i].Line < faults[i-1].Line {
			t.Error("mistakes are not in the file's order")
		}
	}
}

// ListFS also lists empty and broken files.
func TestEmptyFiles(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"empty":  {"", "empty.toml: the file is empty\n\thint: "},
		"remark": {"# nothing yet\n", "the file is empty"},
		"broken": {"schema = \n", "broken.toml:1:"},
		"head":   {"schema = 1\nname = \"head\"\ntitle = \"H\"\n", "the file has no [grid]"},
		"typo":   {"schema = 1\nname = \"typo\"\ntitle = \"H\"\n[gird]\n", "did you mean \"grid\"?"},
	} {
		file := filepath.Join(dir, name+".toml")
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(file, Options{Datasets: known}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	names, err := ListFS(os.DirFS(dir), ".")
	if want := "broken empty head remark typo"; err != nil || strings.Join(names, " ") != want {
		t.Errorf("List: %v, %v, want %s", names, err, want)
	}
}

func TestUnmatched(t *testing.T) {
	axes := map[string][]string{"dataset": {"symbols", "mnist"}, "ipc": {"1", "10"}, "method": {"toy", "dgkip-lr"}}
	for text, want := range map[string]string{
		"dataset:symbol":         `no dataset matches symbol; did you mean "symbols"?`,
		"dataset:symbols":        "",
		"ipc:(1 50)":             "no ipc matches 50; known are 1, 10",
		"ipc:50":                 "no ipc matches 50; known are 1, 10",
		"ipc:abc":                "no ipc matches abc; known are 1, 10",
		"ipc:(1 abc)":            "no ipc matches abc; known are 1, 10",
		"ipc:1*":                 "",
		"-method:tyo":            `no method matches tyo; did you mean "toy"?`,
		"method:dc* model:fc":    "no method matches dc*; known are toy, dgkip-lr",
		"dataset:(mnits symbol)": `no dataset matches mnits; did you mean "mnist"?` + "\n" + `no dataset matches symbol; did you mean "symbols"?`,
	} {
		f, err := ParseFilter(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.Unmatched(func(axis string) []string { return axes[axis] }), "\n"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestCheckSizes(t *testing.T) {
	s, err := Parse("demo.toml", strings.Replace(good, "kind = \"fc\"", "kind = \"conv\"\ndepth = 12", 1), Options{Datasets: known})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cells {
		err := c.CheckSizes(method.Sizes{H: 24, W: 24, C: 1, Classes: 2, Smallest: 5})
		deep, many := c.Model == "thin", c.IPC == 10 && c.Column != "other-toy"
		if (err != nil) != (deep || many) {
			t.Errorf("%v: %v", c.Point, err)
			continue
		}
		if many && !strings.Contains(err.Error(), "needs 10 training images") || deep && !many && !strings.Contains(err.Error(), "images of 24x24 pixels are too small") {
			t.Errorf("%v: %v", c.Point, err)
		}
	}
}

func TestDottedAxis(t *testing.T) {
	s, err := Parse("demo.toml", strings.Replace(good, "[grid]\n", "[grid]\n\"method.rate\" = [0.1, 0.2]\n", 1), Options{Datasets: known})
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]float64{}
	for _, c := range s.Cells {
		if m, ok := c.Method().(*toy); ok {
			rates[c.Point["method.rate"]] = m.Rate
		}
	}
	if rates["0.1"] != 0.1 || rates["0.2"] != 0.2 {
		t.Errorf("rates %v", rates)
	}
}

// An axis overrides [[set]]. If nothing else sets the kind of networks, the axis decides their settings.
func TestAxisOverSet(t *testing.T) {
	s, err := Parse("demo.toml", strings.Replace(good, "[grid]\n", "[grid]\n\"method.steps\" = [11, 12]\n", 1), Options{Datasets: known})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cells {
		if m, ok := c.Method().(*toy); ok && strconv.Itoa(m.Steps) != c.Point["method.steps"] {
			t.Errorf("%v: %d steps", c.Point, m.Steps)
		}
	}
	s, err = Parse("demo.toml", strings.NewReplacer("[grid]\n", "[grid]\n\"model.kind\" = [\"conv\", \"fc\"]\n", `"conv", "thin"]`, `"conv"]`, "[model.thin]\nkind = \"fc\"\nwidth = 64\n", "").Replace(good), Options{Datasets: known})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cells {
		if want, _ := method.DefaultModel(c.Point["model.kind"]); c.Net != want {
			t.Errorf("%v: networks %+v, want %+v", c.Point, c.Net, want)
		}
	}
}

// A column may use another column and inherits its settings.
func TestUseOfColumn(t *testing.T) {
	text := strings.NewReplacer(`"slow", "other-toy"]`, `"slow", "slower", "slowest"]`, "[model.thin]",
		"[method.slower]\nuse = \"slow\"\nsteps = 7\n[method.slowest]\nuse = \"slower\"\nrate = 0.125\n[model.thin]").Replace(good)
	s, err := Parse("demo.toml", text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cells {
		m := c.Method().(*toy)
		want := map[string]float64{"slow": 0.25, "slower": 0.25, "slowest": 0.125}[c.Column]
		if want > 0 && m.Rate != want || strings.HasPrefix(c.Column, "slowe") && c.IPC == 1 && m.Steps != 7 {
			t.Errorf("%s: %+v", c.Column, m)
		}
	}
	if s.Titles["slower"] != "slower" {
		t.Errorf("the title %q is another column's", s.Titles["slower"])
	}
	_, err = Parse("demo.toml", strings.Replace(text, `use = "toy"`, `use = "slowest"`, 1), Options{})
	if err == nil || !strings.Contains(err.Error(), `use makes a circle: slow -> slowest -> slower -> slow`) {
		t.Errorf("columns that use each other: %v", err)
	}
	_, err = Parse("demo.toml", strings.Replace(text, `use = "toy"`, `use = "slowes"`, 1), Options{})
	if err == nil || strings.Count(err.Error(), "unknown method") != 1 || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("a chain that ends in nothing: %v", err)
	}
}

// Records are stored under keys, so a changed key orphans all records.
func TestKeyIsFixed(t *testing.T) {
	s, err := Parse("demo.toml", good, Options{Datasets: known})
	if err != nil {
		t.Fatal(err)
	}
	id := s.Cells[0].Identity(DatasetIdentity{Name: "glyphs", Classes: []string{"0", "1"}, Preprocess: "standard", Digest: "sha256:00"}, 7)
	const canonical = `{"dataset":{"classes":["0","1"],"digest":"sha256:00","name":"glyphs","preprocess":"standard"},"eval":{"name":"judge","settings":{"nets":2},"version":1},"ipc":1,"method":{"name":"toy","settings":{"deep":{"width":2},"fixed":false,"inner":0,"rate":0.5,"sizes":[],"start":"real","steps":20},"version":3},"model":{"depth":3,"kind":"conv","nets":8,"width":256},"schema":2,"seed":7}`
	if got := string(Canonical(id)); got != canonical {
		t.Errorf("canonical form\n%s\nwant\n%s", got, canonical)
	}
	const key = "35d187a238a3e93b97cb7f565f82f5c38da806bd31aee98a66d2d9df65ab5b37"
	if got := id.Key(); got != key || got == s.Cells[0].Identity(id.Dataset, 8).Key() {
		t.Errorf("key %s, want %s", got, key)
	}
}

// Term selects any value of an axis.
func TestTerm(t *testing.T) {
	for _, value := range []string{"", "none", "1e-6", "a b", "a:b", "(1)", "[ab]", "it's", "*?", `a\b`, "a/b"} {
		f, err := ParseFilter(Term("key", value), nil)
		if err == nil {
			f, err = ParseFilter(f.String(), nil)
		}
		if err != nil {
			t.Errorf("%q: %v", value, err)
			continue
		}
		for text, want := range map[string]bool{value: true, "another": false, "an/other": false} {
			if got := f.Matches(func(string) (string, bool) { return text, true }); got != want {
				t.Errorf("%s of %q: %v", f, text, got)
			}
		}
	}
}

func TestFilter(t *testing.T) {
	at := map[string]string{"method": "dgkip-lr", "ipc": "10", "dataset": "mnist"}
	point := func(axis string) (string, bool) { text, ok := at[axis]; return text, ok }
	for text, want := range map[string]bool{
		"": true, "method:dgkip-lr": true, "method:dgkip-*": true, "method:(dc dgkip-lr) ipc:10": true,
		"ipc:(1 50)": false, "-ipc:1": true, "-ipc:(1 10)": false, "model:fc": false, "-model:fc": true,
		"dataset:mnist  ipc:10": true,
	} {
		f, err := ParseFilter(text, nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if f.Matches(point) != want {
			t.Errorf("%q: got %v", text, !want)
		}
	}
	for text, want := range map[string]string{
		"method": "not of the form", "method:": "not of the form", "ipc:(1": "not of the form",
		"metod:x": `did you mean "method"?`, "ipc:(1)2": "not of the form", "a:b:c": "not of the form", "ipc:[": "pattern", ":x": "not of the form",
	} {
		if _, err := ParseFilter(text, []string{"method", "ipc", "a"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func ExampleParseFilter() {
	f, err := ParseFilter("method:dgkip-*  ipc:( 1 10 ) -dataset:mnist", []string{"method", "ipc", "dataset"})
	fmt.Println(f, err)
	// Output: method:dgkip-* ipc:(1 10) -dataset:mnist <nil>
}

func FuzzFilter(f *testing.F) {
	f.Add("method:dgkip-lr dataset:mnist ipc:(1 10)")
	f.Add("-a:(b c)  d:e*")
	f.Fuzz(func(t *testing.T, text string) {
		one, err := ParseFilter(text, nil)
		if err != nil {
			return
		}
		two, err := ParseFilter(one.String(), nil)
		if err != nil || two.String() != one.String() {
			t.Errorf("%q: %q is read as %q, %v", text, one, two, err)
		}
	})
}

// Parse returns for any text, and every mistake has a place.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("a.b.\"c d\" = [1, {x = '''y''', z = \"\\\"\"}] # c\n[[t]]\nk = 1979-05-27 07:32:00Z\n[t.u]\n[[t]]\n\"\" = \"\"\"a\"\"\"\"\"\n")
	f.Add("[a]\nb = { c = { d = [ [1], [2] ] } }\n[a.e]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		_, err := Parse("f.toml", text, Options{Datasets: known})
		if faults, ok := err.(toml.Faults); ok {
			_ = faults.Error()
		} else if err != nil {
			t.Errorf("an error without a place: %v", err)
		}
	})
}
