package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

const goodShown = `schema = 1
name = "demo"
title = "A demonstration"

[grid]
dataset = ["symbols", "mnist"]
ipc = [1, 10]
method = ["toy", "slow", "other-toy"]

[table]
rows = ["dataset", "ipc"]
columns = ["method"]
spread = "sd"
mark = ["best", "second"]
values = { toy = "seconds" }
against = { toy = "slow" }
[[table.group]]
title = "Toys"
columns = ["toy", "slow"]

[[figure]]
name = "curve"
kind = "curves"
x = "update"
y = ["loss"]
series = ["method"]
only = "ipc:10 method:(toy slow)"

[[published]]
source = "Table 9"
when = { ipc = 1 }
family = { toy = "kernel", slow = "network" }
values = { toy = [81.5, 0.25], slow = 70 }

[[claim]]
id = "less"
text = "slow is slower"
place = "Section 1"
kind = "less"
metric = "seconds_per_iteration"
columns = ["toy"]
against = ["slow"]

[profile.smoke]
table.caption = "small"

[method.slow]
use = "toy"
`

var options = Options{Datasets: []string{"symbols", "mnist"}}

func TestShown(t *testing.T) {
	s, err := Parse("demo.toml", goodShown, options)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Published[0].Values["toy"]; n != (Number{81.5, 0.25, true}) {
		t.Errorf("published %v", n)
	}
	if len(s.Cells) != 12 || s.Table.Digits != 2 || s.Table.Caption != "" || len(s.Figures) != 1 || s.Figures[0].Only.String() != "ipc:10 method:(toy slow)" || len(s.Claims) != 1 {
		t.Errorf("got %+v", s)
	}
	o := options
	o.Profile = "smoke"
	if s, err = Parse("demo.toml", goodShown, o); err != nil || s.Table.Caption != "small" {
		t.Errorf("smoke: %+v, %v", s.Table, err)
	}
	if runs := Runs([]*Spec{s}); len(runs) != 1 || runs[0] != s {
		t.Errorf("runs %v", runs)
	}
}

// A file may have published numbers of methods that the experiment does not run.
func TestPublishedOfAnotherMethod(t *testing.T) {
	text := strings.Replace(goodShown, `method = ["toy", "slow", "other-toy"]`, `method = ["toy", "slow"]`, 1)
	text = strings.NewReplacer("slow = 70", "other-toy = 70", `slow = "network"`, `other-toy = "network"`).Replace(text)
	if s, err := Parse("demo.toml", text, options); err != nil || s.Published[0].Values["other-toy"].Mean != 70 {
		t.Errorf("got %+v, %v", s, err)
	}
}

// A control outside the grid may stay in unmarked.
func TestUnmarkedOutOfTheGrid(t *testing.T) {
	text := strings.NewReplacer(`method = ["toy", "slow", "other-toy"]`, `method = ["toy", "slow"]`, `spread = "sd"`, `unmarked = ["other-toy"]`).Replace(goodShown)
	if _, err := Parse("demo.toml", text, options); err != nil {
		t.Error(err)
	}
}

// Display sections are not inherited from a base.
func TestOwn(t *testing.T) {
	fsys := fstest.MapFS{
		"demo.toml":  {Data: []byte(goodShown)},
		"child.toml": {Data: []byte("schema = 1\nname = \"child\"\ntitle = \"C\"\nbase = \"demo\"\n")},
	}
	s, err := ReadFS(fsys, "child.toml", options)
	if err != nil || len(s.Cells) != 12 || s.Table != nil || s.Figures != nil || s.Published != nil || s.Claims != nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

// Mistakes in display sections and in other sections are reported together, in the order of the file.
func TestMistakesInWhatIsShown(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"table", `rows = ["dataset", "ipc"]`, `rows = ["datasets", "ipc"]`, `"datasets" is not an axis`},
		{"group", `columns = ["toy", "slow"]`, `columns = ["toy", "slo"]`, `"slo" is not a column`},
		{"unmarked method without a column", `columns = ["method"]`, "columns = [\"ipc\"]\nunmarked = [\"toy\"]", "\"toy\" is not a column\n\tunmarked"},
		{"unmarked unknown method", `spread = "sd"`, `unmarked = ["averages"]`, "hint: known are toy, slow, other-toy, needy"},
		{"control", `toy = "slow" }`, `toy = "slo" }`, `"slo" is not a column`},
		{"figure kind", `kind = "curves"`, `kind = "curve"`, `did you mean "curves"?`},
		{"figure of two metrics", "[[published]]", "[[figure]]\nname = \"two\"\nkind = \"scatter\"\ny = [\"gap\", \"bound\"]\n[[published]]", "y has several metrics, and a figure of points shows one"},
		{"figure filter", `only = "ipc:10 method:(toy slow)"`, `only = "ipc:10 metod:toy"`, `unknown key "metod"; did you mean "method"?`},
		{"figure filter's value", `only = "ipc:10 method:(toy slow)"`, `only = "ipc:7"`, "no ipc matches 7; known are 1, 10"},
		{"published", `slow = 70`, `slwo = 70`, `"slwo" is not a method of this experiment`},
		{"usual with an unknown column", `spread = "sd"`, `usual = { tyo = 10 }`, "\"tyo\" is not a column\n\tusual = { tyo = 10 }"},
		{"also with an unknown column", `source = "Table 9"`, "source = \"Table 9\"\nalso = { toy = \"slwo\" }", `"slwo" is not a column`},
		{"also without from", `source = "Table 9"`, "source = \"Table 9\"\nalso = { toy = \"slow\" }", "also needs from"},
		{"family unknown", `slow = "network" }`, `slow = "netwrok" }`, "demo.toml:32:35: family must be one of kernel, fresh, infinite, unrolled, network, network-aug, network-soft, network-soft-aug, wide, or a table of them by column\n\tfamily = { toy = \"kernel\", slow = \"netwrok\" }\n\t                                  ^^^^^^^^^\n\thint: did you mean \"network\"?"},
		{"family of one column missing", `family = { toy = "kernel", slow = "network" }`, `family = { toy = "kernel" }`, `family is missing for slow of "Table 9"`},
		{"family missing", `family = { toy = "kernel", slow = "network" }`, ``, `[published]: family is missing for slow of "Table 9": name the family of protocols by which it was scored`},
		{"family without a value", `family = { toy = "kernel", slow = "network" }`, `family = { toy = "kernel", slow = "network", dc = "network" }`, `family names "dc", which has no value`},
		{"family together with from", `source = "Table 9"`, `from = "published.toml"`, `it cannot be combined with source, metric, values or family`},
		{"claim", `against = ["slow"]`, ``, "against is missing in a claim of kind less"},
		{"another claim's key", `kind = "less"`, "kind = \"less\"\ntop = 2", "top only applies to claims of kind rank"},
		{"claim's axis", `kind = "less"`, "kind = \"growth\"\nfactor = 2\naxis = \"icp\"", "there is no axis \"icp\"\n\taxis = \"icp\"\n\t       ^^^^^\n\thint: did you mean \"ipc\"?"},
		{"invalid filter", `only = "ipc:10 method:(toy slow)"`, `only = "method"`, "demo.toml:27:8: only: filter: \"method\" is not of the form key:value"},
		{"values with an unknown column", "values = { toy", "values = { tyo", "\"tyo\" is not a column\n\tvalues = { tyo = \"seconds\" }\n\t           ^^^\n\thint: did you mean \"toy\"?"},
		{"name of a figure", `name = "curve"`, `name = "../../curve"`, "demo.toml:22:8: \"../../curve\" cannot be the name of a figure"},
		{"figure twice", "[[published]]", "[[figure]]\nname = \"curve\"\nkind = \"scatter\"\ny = [\"loss\"]\n[[published]]", `a second [[figure]] has the name "curve"`},
		{"both", `spread = "sd"`, "spraed = \"sd\"\n[seed]\ncount = 1\n[table.more]", "demo.toml:13:1: unknown key \"spraed\" in [table]\n\tspraed = \"sd\"\n\t^^^^^^\n\thint: did you mean \"spread\"?\ndemo.toml:14:2: unknown key \"seed\" in the file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(goodShown, c.old) {
				t.Fatalf("the good file has no %q", c.old)
			}
			_, err := Parse("demo.toml", strings.Replace(goodShown, c.old, c.new, 1), options)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got\n%v\nwant it to contain\n%s", err, c.want)
			}
		})
	}
}

func TestPublishedFrom(t *testing.T) {
	fsys := fstest.MapFS{}
	write := func(name, text string) { fsys["exp/"+name] = &fstest.MapFile{Data: []byte(text)} }
	write("published.toml", "schema = 1\n[[published]]\nsource = \"A\"\nfamily = \"wide\"\nvalues = { toy = 1, elsewhere = 2 }\n[[published]]\nsource = \"B\"\nfamily = \"wide\"\nvalues = { toy = 3 }\n")
	write("demo.toml", goodShown+"\n[[published]]\nfrom = \"published.toml\"\nof = \"B\"\nwhen = { ipc = 10 }\nalso = { slow = \"toy\", other-toy = \"slow\" }\n")
	s, err := ReadFS(fsys, "exp/demo.toml", options)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Published) != 2 || s.Published[1].Values["toy"].Mean != 3 || s.Published[1].Values["slow"].Mean != 3 || s.Published[1].When["ipc"][0].Text != "10" {
		t.Errorf("got %+v", s.Published)
	}
	if _, chained := s.Published[1].Values["other-toy"]; chained {
		t.Error("also takes numbers of other columns of also")
	}
	for text, want := range map[string]string{
		"schema = 1\n[[published]]\nsource = \"B\"\nwhen = { icp = 1 }\nfamily = \"wide\"\nvalues = { toy = 3 }\n": "exp/published.toml:4:10: there is no axis \"icp\" in demo",
		"schema = 1\n[[published]]\nsource = \"A\"\nfamily = \"wide\"\nvalues = { toy = 3 }\n":                     "published.toml has no published numbers from \"B\"",
		"schema = 2\n[[published]]\nsource = \"B\"\nfamily = \"wide\"\nvalues = { toy = 3 }\n":                     "published.toml:1:10: schema is 2; this program reads schema 1",
		"schema = = 1": "from \"published.toml\": exp/published.toml has mistakes",
	} {
		write("published.toml", text)
		if _, err := ReadFS(fsys, "exp/demo.toml", options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	delete(fsys, "exp/published.toml")
	if _, err := ReadFS(fsys, "exp/demo.toml", options); err == nil || !strings.Contains(err.Error(), "there is no file exp/published.toml") {
		t.Errorf("without the file: %v", err)
	}
	write("demo.toml", goodShown+"\n[[published]]\nfrom = \"../published.toml\"\n")
	if _, err := ReadFS(fsys, "exp/demo.toml", options); err == nil || !strings.Contains(err.Error(), "hint: name a file in the folder of the experiment") {
		t.Errorf("a file in another folder: %v", err)
	}
	write("demo.toml", goodShown+"\n[[published]]\nfrom = \"published.toml\"\n[profile.full.grid]\n\"method.rate\" = [0.1, 0.2]\n")
	write("published.toml", "schema = 1\n[[published]]\nsource = \"A\"\nwhen = { \"method.rate\" = 0.1 }\nfamily = \"wide\"\nvalues = { toy = 1 }\n")
	if _, err := ReadFS(fsys, "exp/demo.toml", options); err != nil {
		t.Errorf("numbers for an axis of one profile: %v", err)
	}
	names, err := ListFS(fsys, "exp")
	if err != nil || len(names) != 1 || names[0] != "demo" {
		t.Errorf("ListFS: %v, %v", names, err)
	}
}

// A table may take its times from an experiment in the same folder, or in the library.
func TestTimesOfAnotherExperiment(t *testing.T) {
	timed := strings.Replace(goodShown, "[table]\n", "[table]\ntime = true\ntimes = \"clock\"\n", 1)
	clock := strings.Replace(strings.Replace(goodShown, `name = "demo"`, `name = "clock"`, 1), "ipc = [1, 10]", "ipc = [50, 10, 1]", 1)
	fsys := fstest.MapFS{"demo.toml": {Data: []byte(timed)}, "clock.toml": {Data: []byte(clock)}}
	o := options
	o.Seeds = 7
	s, err := ReadFS(fsys, "demo.toml", o)
	if err != nil || s.Times == nil || s.Times.Name != "clock" || s.Seeds != 7 || s.Times.Seeds == 7 {
		t.Fatalf("got %+v, %v", s, err)
	}
	if runs := Runs([]*Spec{s}); len(runs) != 2 || runs[1] != s.Times {
		t.Errorf("runs %v", runs)
	}
	if len(s.Times.Cells) != len(s.Cells) {
		t.Errorf("%d cells are timed for the %d of the table", len(s.Times.Cells), len(s.Cells))
	}
	for _, c := range s.Cells {
		if x := s.TimesAt(c); x == nil || x.IPC != c.IPC || x.Column != c.Column || x.Dataset != c.Dataset {
			t.Errorf("%v is timed by %+v", c.Point, x)
		}
	}
	for text, want := range map[string]bool{"exp:demo ipc:10": true, "exp:demo ipc:1": false, "exp:clock ipc:10": false} {
		f, err := ParseFilter(text, nil)
		if got := f.Selects(s.Times.Cells[3], 0); err != nil || got != want || s.Times.Cells[3].IPC != 10 {
			t.Errorf("%s selects the time of %v: %v, %v", text, s.Times.Cells[3].Point, got, err)
		}
	}
	// Changed runs are timed by themselves.
	o.Set = []string{"method.slow.steps=9"}
	if s, err = ReadFS(fsys, "demo.toml", o); err != nil || s.Times != nil || !s.Timed() {
		t.Errorf("with -set: %+v, %v", s, err)
	}
	o.Set = nil
	file := filepath.Join(t.TempDir(), "demo.toml")
	if err := os.WriteFile(file, []byte(timed), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Library = fsys
	if s, err = ReadFile(file, o); err != nil || s.Times == nil || s.Times.Name != "clock" {
		t.Errorf("from the library: %+v, %v", s, err)
	}
	for _, c := range []struct{ name, text, clock, want string }{
		{"no such file", strings.Replace(timed, `"clock"`, `"clokc"`, 1), clock, `times is "clokc": there is no file clokc.toml`},
		{"no name", strings.Replace(timed, `"clock"`, `"../clock"`, 1), clock, `times is "../clock", which is not the name of another experiment`},
		{"itself", strings.Replace(timed, `"clock"`, `"demo"`, 1), clock, `times is "demo", which is not the name of another experiment`},
		{"times without time", strings.Replace(timed, "time = true\n", "", 1), clock, "times needs time = true"},
		{"times that come from times", timed, strings.Replace(timed, `name = "demo"`, `name = "clock"`, 1), "which takes its own times from another experiment"},
		{"with a mistake", timed, strings.Replace(clock, "ipc", "icp", 1), "clock.toml"},
	} {
		fsys["demo.toml"], fsys["clock.toml"] = &fstest.MapFile{Data: []byte(c.text)}, &fstest.MapFile{Data: []byte(c.clock)}
		if _, err := ReadFS(fsys, "demo.toml", options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
