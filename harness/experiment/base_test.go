package experiment

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

const child = `schema = 1
name = "child"
title = "Builds on demo"
base = "demo"

[grid]
method = ["slow", "toy"]

[method.toy]
rate = 0.125

[[set]]
when = { method = "slow", ipc = 10 }
with = { method = { steps = 60 } }

[profile.smoke]
seeds.count = 2
`

// ownSettings sets keys that the base sets in [[set]] or in the profile.
const ownSettings = `schema = 1
name = "own"
title = "Has its own way"
base = "child"

[grid]
dataset = ["symbols", "mine"]

[method.toy]
steps = 7

[eval.judge]
nets = 3

[seeds]
count = 4

[[set]]
when = { method = "slow" }
with = { method = { steps = 8 } }
`

func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out["exp/"+name+".toml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// A file inherits the runs of its base, but not its display sections.
func TestBase(t *testing.T) {
	fsys := folder(map[string]string{"demo": good, "child": child, "own": ownSettings, "grandchild": "schema = 1\nname = \"grandchild\"\ntitle = \"G\"\nbase = \"child\"\n[grid]\nipc = [10]\n"})
	read := func(name, profile string) *Spec {
		s, err := ReadFS(fsys, "exp/"+name+".toml", Options{Datasets: known, Profile: profile})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	settings := func(s *Spec) string {
		var out []string
		for _, c := range s.Cells {
			if c.Dataset == "symbols" && c.Model == "thin" {
				m := c.Method().(*toy)
				out = append(out, fmt.Sprintf("%s %d: %d %v %d", c.Column, c.IPC, m.Steps, m.Rate, c.Protocol.(*judge).Nets))
			}
		}
		return strings.Join(out, ", ")
	}
	s := read("child", "short")
	if got, want := settings(s), "toy 1: 20 0.125 2, slow 10: 60 0.25 7, toy 10: 40 0.125 2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s.Title != "Builds on demo" || s.Seeds != 3 {
		t.Errorf("title %q, %d seeds", s.Title, s.Seeds)
	}
	smoke := read("child", "smoke")
	if got, want := settings(smoke), "toy 1: 2 0.125 2, slow 10: 60 0.25 7, toy 10: 40 0.125 2"; got != want || smoke.Seeds != 2 {
		t.Errorf("smoke: got %s and %d seeds, want %s", got, smoke.Seeds, want)
	}
	if got, want := settings(read("grandchild", "short")), "slow 10: 60 0.25 7, toy 10: 40 0.125 2"; got != want {
		t.Errorf("grandchild: got %s, want %s", got, want)
	}
	own := read("own", "smoke")
	if got, want := settings(own), "toy 1: 7 0.125 3, slow 10: 8 0.25 3, toy 10: 7 0.125 3"; got != want || own.Seeds != 4 {
		t.Errorf("settings of the file itself: got %s and %d seeds, want %s", got, own.Seeds, want)
	}
	var axes []string
	for _, a := range s.Axes {
		axes = append(axes, a.Name)
	}
	if got := strings.Join(axes, " "); got != "dataset ipc method model" {
		t.Errorf("axes %s: not in the order of the base", got)
	}
	if names, err := ListFS(fsys, "exp"); err != nil || strings.Join(names, " ") != "child demo grandchild own" {
		t.Errorf("ListFS: %v, %v", names, err)
	}
}

// A file may change a column of its base that its own grid leaves out.
func TestUnusedSection(t *testing.T) {
	text := strings.NewReplacer(`["slow", "toy"]`, `["toy"]`, `{ method = "slow", ipc = 10 }`, "{ ipc = 10 }", "[method.toy]", "[method.slow]\nrate = 0.5\n\n[method.toy]").Replace(child)
	if _, err := ReadFS(folder(map[string]string{"demo": good, "child": text}), "exp/child.toml", Options{Datasets: known}); err != nil {
		t.Error(err)
	}
}

// An experiment has the name of its file. For an invalid name the error describes valid ones.
func TestNamesOfExperiments(t *testing.T) {
	for name, want := range map[string]string{
		"my_exp": "",
		"m2":     "",
		"M2":     `"M2" cannot be the name of an experiment`,
		"My Exp": `cannot be the name of an experiment`,
		"a__b":   `with single - or _ between them, and begins with a letter`,
		"ünï":    `cannot be the name of an experiment`,
		"2nd":    `cannot be the name of an experiment`,
	} {
		text := strings.Replace(good, `name = "demo"`, fmt.Sprintf("name = %q", name), 1)
		_, err := ReadFS(folder(map[string]string{name: text}), "exp/"+name+".toml", Options{Datasets: known})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// An axis of settings does not apply to columns that lack the setting, such as controls. If all columns
// lack it, that is an error. The section of a method outside the grid may stay.
func TestColumnsWithoutASetting(t *testing.T) {
	grid := func(axis string) string {
		return strings.NewReplacer(`method = ["toy", "slow", "other-toy"]`, `method = ["toy", "slow", "needy"]`+"\n"+axis,
			"when = { ipc = 10 }", `when = { ipc = 10, method = "toy" }`, "[eval]\n", "[method.needy]\nmust = 1\n[method.other-toy]\nsteps = 3\n[eval]\n").Replace(good)
	}
	s, err := Parse("demo.toml", grid(`"method.steps" = [1, 100]`), Options{Datasets: known})
	if err != nil {
		t.Fatal(err)
	}
	keys, cells := map[string]map[string]bool{}, map[string]int{}
	for _, c := range s.Cells {
		if c.IPC == 10 && c.Dataset == "symbols" && c.Model == "thin" {
			if keys[c.Column] == nil {
				keys[c.Column] = map[string]bool{}
			}
			keys[c.Column][c.Identity(DatasetIdentity{}, 0).Key()] = true
			cells[c.Column]++
		}
	}
	if len(keys["toy"]) != 2 || len(keys["needy"]) != 1 || cells["needy"] != 2 {
		t.Errorf("runs %v of %v cells", keys, cells)
	}
	if _, err := Parse("demo.toml", grid(`"method.setps" = [1, 100]`), Options{Datasets: known}); err == nil || !strings.Contains(err.Error(), `unknown key "setps"`) {
		t.Errorf("an unknown setting: got %v", err)
	}
}

// A mistake in a base names both files.
func TestBaseMistakes(t *testing.T) {
	for name, c := range map[string]struct{ base, child, want string }{
		"none":      {good, strings.Replace(child, `base = "demo"`, `base = "dmeo"`, 1), "exp/child.toml:4:8: base of child is \"dmeo\": there is no file exp/dmeo.toml\n\tbase = \"dmeo\"\n\t       ^^^^^^\n\thint: did you mean \"demo\"?"},
		"path":      {good, strings.Replace(child, `base = "demo"`, `base = "../demo"`, 1), "which is not a name"},
		"type":      {good, strings.Replace(child, `base = "demo"`, `base = 1`, 1), "base must be the name of an experiment, not an integer"},
		"itself":    {good, strings.Replace(child, `base = "demo"`, `base = "child"`, 1), "child -> child"},
		"cycle":     {"base = \"child\"\n" + good, child, "exp/demo.toml:1:8: base of demo is \"child\", which makes a circle: child -> demo -> child"},
		"schema":    {strings.Replace(good, "schema = 1", "schema = 2", 1), child, "exp/demo.toml:1:10: schema is 2"},
		"syntax":    {"schema = = 1", child, "exp/child.toml:4:8: base of child is \"demo\": exp/demo.toml has mistakes"},
		"syntax at": {"schema = = 1", child, "exp/demo.toml:1:10: "},
		"setting":   {strings.Replace(good, "rate = 0.25", "raet = 0.25", 1), child, "exp/demo.toml:22:1: unknown key \"raet\""},
		"setting's": {strings.Replace(good, "rate = 0.25", "raet = 0.25", 1), child, "exp/child.toml:4:8: exp/child.toml inherits the mistakes of exp/demo.toml"},
		"no title":  {good, strings.Replace(child, "title =", "about =", 1), "exp/child.toml:1:1: the key \"title\" is missing"},
		"own axis":  {good, strings.Replace(child, "ipc = 10 }", "icp = 10 }", 1), "exp/child.toml:13:27: there is no axis \"icp\""},
	} {
		_, err := ReadFS(folder(map[string]string{"demo": c.base, "child": c.child}), "exp/child.toml", Options{Datasets: known})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant it to contain\n%s", name, err, c.want)
		}
	}
}

// One mistake in the grid gives one error, with a hint.
func TestGridMistakes(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"axis in the plural":             {`method = ["toy"`, `methods = ["toy"`, "demo.toml:8:1: [grid] has no axis \"methods\"\n\tmethods = [\"toy\", \"slow\", \"other-toy\"]\n\t^^^^^^^\n\thint: did you mean \"method\"?"},
		"misspelt name of your own data": {`"mine"]`, `"mien"]`, `did you mean "mine"?`},
		"misspelt beside the right one":  {`"other-toy"]`, `"other-toy", "other-tyo"]`, "did you mean \"other-toy\"?"},
		"key without its protocol":       {"[grid]\n", "[grid]\n\"eval.nets\" = [1, 100]\n", "demo.toml:6:1: unknown key \"nets\" in [eval]\n\t\"eval.nets\" = [1, 100]\n\t^^^^^^^^^^^\n\thint: known are protocol, trace, score, judge"},
		"unknown key in [eval]":          {"[grid]\n", "[grid]\n\"eval.vigour\" = [1]\n", "unknown key \"vigour\" in [eval]"},
		"unknown setting":                {"[grid]\n", "[grid]\n\"method.raet\" = [0.1, 0.5]\n", "demo.toml:6:1: unknown key \"raet\" in the settings of the grid's methods\n\t\"method.raet\" = [0.1, 0.5]\n\t^^^^^^^^^^^^^\n\thint: did you mean \"rate\"?"},
		"unknown setting of networks":    {"[grid]\n", "[grid]\n\"model.wdith\" = [1, 2]\n", "unknown key \"wdith\" in [model]"},
		"empty name":                     {`["symbols", "mine"]`, `["", "mine"]`, `"" cannot be on the axis dataset`},
		"blank in a name":                {`["symbols", "mine"]`, `["a b", "mine"]`, "a name may only have letters, digits"},
		"name of data":                   {"[data.mine]", "[data.\"\"]\nuse = \"mnist\"\n[data.mine]", `"" cannot be the name of data`},
		"classes twice":                  {"[grid]", "classes = [1, 1]\n[grid]", "names class 1 twice"},
		"class names twice":              {`train = "mine.npz"`, "train = \"mine.npz\"\nnames = [\"a\", \"b\", \"a\"]", `names has "a", which is empty, has a line break, or appears twice`},
		"many values":                    {"ipc = [1, 10]", "ipc = [1, 10]\n\"method.steps\" = [" + numbers(10_001) + "]", "the grid has more than 10000 cells"},
		"many cells":                     {"ipc = [1, 10]", "ipc = [1, 10]\n\"method.steps\" = [" + numbers(1000) + "]", "the grid has more than 10000 cells"},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%s: the good file has no %q", name, c.old)
		}
		_, err := Parse("demo.toml", strings.Replace(good, c.old, c.new, 1), Options{Datasets: known})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant it to contain\n%s", name, err, c.want)
		} else if n := strings.Count(err.Error(), "demo.toml:"); n != 1 {
			t.Errorf("%s: %d mistakes, want 1:\n%v", name, n, err)
		}
	}
}

func numbers(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i))
	}
	return strings.Join(out, ", ")
}

// A file may give some of its cells their own number of seeds. A number from the command line
// overrides both.
func TestMoreSeeds(t *testing.T) {
	more := good + "\n[[seeds.more]]\nwhen = { method = \"toy\", ipc = 1 }\ncount = 5\n[[seeds.more]]\nwhen = { method = \"slow\" }\ncount = 1\n"
	fsys := folder(map[string]string{"demo": more, "child": child})
	seeds := func(name string, asked int) string {
		s, err := ReadFS(fsys, "exp/"+name+".toml", Options{Datasets: known, Seeds: asked})
		if err != nil {
			t.Fatal(err)
		}
		out := fmt.Sprint(s.Seeds, ":")
		for _, c := range s.Cells {
			if c.Dataset == "symbols" && c.Model == "thin" {
				out += fmt.Sprintf(" %s %d %v", c.Column, c.IPC, c.Seeds)
			}
		}
		return out
	}
	for _, c := range []struct {
		name  string
		asked int
		want  string
	}{
		{"demo", 0, "5: toy 1 5 other-toy 1 3 toy 10 3 slow 10 3 other-toy 10 3"},
		{"demo", 2, "2: toy 1 2 other-toy 1 2 toy 10 2 slow 10 2 other-toy 10 2"},
		{"child", 0, "3: toy 1 3 slow 10 3 toy 10 3"},
	} {
		if got := seeds(c.name, c.asked); got != c.want {
			t.Errorf("%s, %d asked for: got %s, want %s", c.name, c.asked, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"when = { methd = \"toy\" }\ncount = 4":  "methd",
		"when = { method = \"toi\" }\ncount = 4": "toi",
		"when = { method = \"toy\" }\ncount = 0": "count must be at least 1",
		"when = { method = \"toy\" }":            "the key \"count\" is missing",
	} {
		_, err := Parse("demo.toml", good+"\n[[seeds.more]]\n"+text+"\n", Options{Datasets: known})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// An experiment with nothing to run is an error.
func TestNoGrid(t *testing.T) {
	const head = "schema = 1\nname = \"demo\"\ntitle = \"D\"\n"
	for text, want := range map[string]string{
		head + "[grid]\n": "[grid] lacks the axis \"dataset\"",
		head + "[grid]\ndataset = []\nipc = []\nmethod = []\n":                                 "must be a value or a list of values",
		head + "[profile.full.grid]\ndataset = [\"symbols\"]\nipc = [1]\nmethod = [\"toy\"]\n": "profile short has no [grid]",
	} {
		if _, err := Parse("demo.toml", text, Options{Datasets: known}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// -set overrides files and profiles, and is as strict.
func TestSet(t *testing.T) {
	fsys := folder(map[string]string{"demo": good, "child": child})
	read := func(set ...string) (*Spec, error) {
		return ReadFS(fsys, "exp/child.toml", Options{Datasets: known, Profile: "smoke", Set: set})
	}
	s, err := read("method.slow.steps=8", "method.toy.start=noise", "eval.judge.nets = 5", "seeds.count=7")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cells {
		m := c.Method().(*toy)
		if nets := c.Protocol.(*judge).Nets; nets != 5 || s.Seeds != 7 || c.Column == "slow" && m.Steps != 8 || c.Column == "toy" && m.Start != "noise" {
			t.Errorf("%v: %+v, %d nets, %d seeds", c.Point, m, nets, s.Seeds)
		}
	}
	for set, want := range map[string]string{
		"method.toy.rat=1":       `-set:1:12: unknown key "rat"`,
		"method.toyy.rate=1":     `unknown method "toyy"`,
		"method.toy.start=nois":  `did you mean "noise"?`,
		"method.toy.rate=0.0.2":  "rate must be a number, not a string",
		"method.toy.rate=":       "expected value",
		"method.toy.rate":        `"method.toy.rate" is not KEY=VALUE`,
		"model.thick.width=8":    `the key "kind" is missing in the settings of model thick`,
		"title=x":                `-set cannot change "title"`,
		"seeds.count=0":          "count",
		"method.toy.rate=1\n":    "is not KEY=VALUE",
		"method.toy.rate=[0, 1]": "rate must be a number",
	} {
		if _, err := read(set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", set, err, want)
		} else if strings.Contains(err.Error(), "inherits") {
			t.Errorf("%q: the base is blamed: %v", set, err)
		}
	}
}

// -set refuses keys that an axis would override.
func TestSetOnAnAxis(t *testing.T) {
	text := strings.Replace(good, "[grid]\n", "[grid]\n\"method.rate\" = [0.1, 0.2]\n", 1)
	_, err := ReadFS(folder(map[string]string{"demo": text}), "exp/demo.toml", Options{Datasets: known, Set: []string{"method.toy.rate=0.5"}})
	if err == nil || !strings.Contains(err.Error(), "no cell takes this value of method.toy.rate") {
		t.Errorf("got %v", err)
	}
}

// -set refuses values that reach no cell, and changes only the chosen profile.
func TestSetWithoutEffect(t *testing.T) {
	text := strings.Replace(good, `["toy", "slow", "other-toy"]`, `["slow", "other-toy"]`, 1) + "[profile.smoke.data.tiny]\nuse = \"symbols\"\n[profile.full.grid]\ndataset = [\"mine\"]\n"
	text = strings.Replace(text, `grid.dataset = ["symbols"]`, `grid.dataset = ["tiny"]`, 1)
	for _, c := range []struct{ profile, set, want string }{
		{"short", "method.toy.start=noise", ""},
		{"short", "method.toy.rate=0.5", "-set:1:12: no cell takes this value of method.toy.rate\n"},
		{"short", "method.toy.rate=0.5", "hint: -show without -set prints the settings of every cell"},
		{"short", "model.fc.width=8", "no cell takes this value of model.fc.width\n"},
		{"short", "method.toy={}", "no cell takes this value of method.toy\n"},
		{"short", "eval.judge.nets=9", ""},
		{"short", "eval.trace=9", ""},
		{"short", "eval.jury.nets=9", "no cell takes this value of eval.jury.nets\n"},
		{"short", "data.symbols.images=3", ""},
		{"short", "data.mnist.images=3", `the grid has no dataset "mnist"`},
		{"full", "data.symbols.images=3", `the grid has no dataset "symbols"`},
		{"smoke", "data.tiny.images=3", ""},
	} {
		_, err := ReadFS(folder(map[string]string{"demo": text}), "exp/demo.toml", Options{Datasets: known, Profile: c.profile, Set: []string{c.set}})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error()+"\n", c.want)) {
			t.Errorf("%s %s: got %v, want %q", c.profile, c.set, err, c.want)
		}
	}
}
