package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// The main table in every format and the data of the others match approved files.
func TestTableGoldens(t *testing.T) {
	r := loadDemo(t)
	main := r.sheets[0]
	golden(t, "demo.tex", main.Latex(r.source()))
	golden(t, "demo.md", main.Markdown())
	golden(t, "demo.html", []byte(main.HTML()))
	golden(t, "demo.csv", r.tableCSV())
	golden(t, "demo-runs.csv", r.runsCSV())
	golden(t, "demo-comparison.csv", r.comparisonCSV())
	golden(t, "demo-reproduced.md", r.further("reproduced").Markdown())
	golden(t, "demo-pairs.csv", r.pairsCSV())
	golden(t, "demo-claims.csv", r.claimsCSV())
	golden(t, "demo-claims.md", r.further("claims").Markdown())
	var b bytes.Buffer
	if err := r.Terminal(&b, 80); err != nil {
		t.Fatal(err)
	}
	golden(t, "demo-narrow.txt", b.Bytes())
}

const small = `schema = 1
name = "demo"
title = "Small"
[grid]
dataset = ["mnist"]
ipc = [1]
method = ["slow", "fast-lr", "fast-ls"]
[seeds]
count = 2
[table]
rows = ["dataset", "ipc"]
columns = ["method"]
`

// made returns the results of a spec whose runs have the given accuracies, by column and seed.
func made(t *testing.T, text string, acc map[string][]float64) *Results {
	t.Helper()
	s := parse(t, text)
	st := emptyStore(t, t.TempDir())
	for _, c := range s.Cells {
		for i, v := range acc[c.Column] {
			id := c.Identity(dataOf(c.Dataset), uint64(i))
			d := recordOf(c, id, uint64(i))
			d.Result.Metrics["test_acc"] = v
			d.Result.Counts = nil
			if _, err := st.Put(d, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	return Load(s, st, keyed)
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name string
		acc  map[string][]float64
		want []int
	}{
		{"plain", map[string][]float64{"slow": {0.9}, "fast-lr": {0.95}, "fast-ls": {0.8}}, []int{2, 1, 0}},
		{"two best leave no second", map[string][]float64{"slow": {0.95}, "fast-lr": {0.95}, "fast-ls": {0.8}}, []int{1, 1, 0}},
		{"two second", map[string][]float64{"slow": {0.9}, "fast-lr": {0.95}, "fast-ls": {0.9}}, []int{2, 1, 2}},
		{"the same text, not the same value", map[string][]float64{"slow": {0.950001}, "fast-lr": {0.950002}, "fast-ls": {0.8}}, []int{2, 1, 0}},
		{"the same seeds in another order", map[string][]float64{"slow": {0.1, 0.7}, "fast-lr": {0.7, 0.1}, "fast-ls": {0.2, 0.2}}, []int{1, 1, 0}},
		{"alone", map[string][]float64{"slow": {0.95}}, []int{0, 0, 0}},
		{"none", nil, []int{0, 0, 0}},
	} {
		var got []int
		for _, e := range made(t, small, c.acc).sheets[0].Rows[0].Cells {
			got = append(got, e.Place)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: places %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSpreadInWords(t *testing.T) {
	caption := func(text string, acc map[string][]float64) string { return made(t, text, acc).sheets[0].Caption }
	one := map[string][]float64{"slow": {0.9}, "fast-lr": {0.8}}
	two := map[string][]float64{"slow": {0.9, 0.91}, "fast-lr": {0.8, 0.82}, "fast-ls": {0.7, 0.7}}
	for want, got := range map[string]string{
		", one seed (2 planned)":                                                     caption(small, one),
		": mean ± population standard deviation over 2 seeds.":                       caption(small, two),
		": mean over 2 seeds.":                                                       caption(small+"spread = \"none\"\n", two),
		": no run has a readable record.":                                            caption(small, nil),
		" Fast-LR; Fast_LS & co: training accuracy.":                                 caption(small+"values = { fast-lr = \"train_acc\", fast-ls = \"train_acc\" }\n", two),
		"Test accuracy in percent: mean ± population standard deviation over 2 seed": caption(small+"mark = []\n", two),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("caption %q lacks %q", got, want)
		}
	}
	if n := made(t, small, one).sheets[0].Notes; !slices.Contains(n, "Some rows are incomplete: best and second are among the methods that have run.") {
		t.Errorf("notes %q do not name the ranked columns", n)
	}
	r := made(t, small, one)
	if e := r.sheets[0].Rows[0].Cells[0]; e.Spread != "" || e.Plain() != "90.00" {
		t.Errorf("one seed has a spread: %+v", e)
	}
	if e := r.sheets[0].Rows[0].Cells[2]; e.State != sheet.NotRun || e.Plain() != "–" {
		t.Errorf("not run: %+v", e)
	}
}

// Cells that no axis of the table distinguishes are not merged.
func TestForgottenAxis(t *testing.T) {
	text := strings.Replace(small, `method = ["slow", "fast-lr", "fast-ls"]`, "method = [\"slow\"]\nmodel = [\"conv\", \"fc\"]", 1)
	s := made(t, text, map[string][]float64{"slow": {0.9}}).sheets[0]
	if len(s.Rows) != 2 || s.Rows[0].Heads[2] != "ConvNet" || s.Rows[1].Heads[2] != "FCNet" {
		t.Errorf("rows %+v", s.Rows)
	}
	// As columns, the outer axis becomes a heading.
	text = strings.Replace(text, `columns = ["method"]`, `columns = ["model", "method"]`, 1)
	s = made(t, text, map[string][]float64{"slow": {0.9}}).sheets[0]
	if len(s.Groups) != 2 || s.Groups[1].Title != "FCNet" || !strings.Contains(string(s.Markdown()), "| FCNet: Slow |") {
		t.Errorf("groups %+v", s.Groups)
	}
}

// Published numbers with only_claims serve claims, but are not compared with ours.
func TestOnlyClaims(t *testing.T) {
	for only, want := range map[string]int{"false": 1, "true": 0} {
		text := small + "[[published]]\nsource = \"A\"\nwhen = { dataset = \"mnist\" }\nfamily = \"network\"\nvalues = { slow = 90 }\nonly_claims = " + only + "\n"
		r := made(t, text, map[string][]float64{"slow": {0.9}})
		if _, _, ok := r.publishedOf(r.Cells[0].Cell, "test_acc"); !ok || len(r.Published) != want {
			t.Errorf("only_claims = %s: found %v, %d compared", only, ok, len(r.Published))
		}
	}
}

// Columns with a control are compared with it, seed by seed. Controls may be on any axis.
func TestAgainstControls(t *testing.T) {
	text := strings.Replace(small, "[table]", "[table]\nagainst = { fast-lr = \"slow\", fast-ls = \"slow\" }", 1)
	text = strings.Replace(text, "count = 2", "count = 3", 1)
	s := made(t, text, map[string][]float64{"slow": {0.6, 0.5, 0.7}, "fast-lr": {0.7, 0.62, 0.82}, "fast-ls": {0.9, 0.9, 0.9}}).further("pairs")
	if s == nil || len(s.Rows) != 2 {
		t.Fatalf("%+v", s)
	}
	for i, want := range [][]string{{"Fast-LR", "Slow", "3", "+11.33", "+8.46", "+14.20"}, {"Fast_LS & co", "Slow", "3", "+30.00", "+5.16", "+54.84"}} {
		for j, w := range want {
			if got := s.Rows[i].Cells[j].Text; got != w {
				t.Errorf("row %d has %q, want %q", i, got, w)
			}
		}
	}
	text = strings.NewReplacer("ipc = [1]", "ipc = [1, 10]", `rows = ["dataset", "ipc"]`, `rows = ["method"]`, `columns = ["method"]`, `columns = ["ipc"]`).Replace(small)
	acc := map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.8}}
	if s := made(t, text+"against = { 10 = \"1\" }\n", acc).further("pairs"); s == nil || len(s.Rows) != 1 {
		t.Errorf("along IPC: %+v", s)
	}
	if s := made(t, text, acc).further("pairs"); s != nil {
		t.Errorf("without controls: %+v", s)
	}
}

// Times are marked unless they were taken on an idle machine of the main kind, and only the others
// are ranked.
func TestTimesThatDoNotCompare(t *testing.T) {
	for name, c := range map[string]struct {
		change func(i int, p *store.Provenance)
		marks  []string
		places []int
	}{
		"one machine": {func(int, *store.Provenance) {}, []string{"", "", ""}, []int{1, 2, 0}},
		"another processor": {func(i int, p *store.Provenance) {
			if i == 1 {
				p.Sessions[0].Host.CPU = "Another CPU"
			}
		}, []string{"", "*", ""}, []int{1, 0, 2}},
		"none idle": {func(i int, p *store.Provenance) {
			switch i {
			case 0:
				p.CPU = 60
			case 1:
				p.Timing.Shared = true
			case 2:
				p.Timing.Hosts = 2
			}
		}, []string{"*", "*", "*"}, []int{0, 0, 0}},
	} {
		s := parse(t, strings.Replace(small, "[table]", "[table]\ntime = true", 1))
		table := Load(s, stored(t, s, func(i int, d *store.Draft) {
			d.Provenance.Timing.Median, d.Provenance.Timing.Shared = []float64{0.01, 0.05, 0.2}[i], false
			c.change(i, &d.Provenance)
		}), keyed).sheets[0]
		var marks []string
		var places []int
		for _, e := range table.Rows[1].Cells {
			marks, places = append(marks, e.Marks), append(places, e.Place)
		}
		if !slices.Equal(marks, c.marks) || !slices.Equal(places, c.places) || !slices.Contains(table.Notes, "Timed on: Some CPU, avx2, 2 threads.") {
			t.Errorf("%s: marks %q, places %v, notes %q", name, marks, places, table.Notes)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{fixed(-0.001, 2), "0.00"}, {fixed(99.994, 2), "99.99"}, {fixed(-1.5, 1), "-1.5"}, {signed(0.001, 2), "0.00"}, {signed(1, 2), "+1.00"}, {signed(-1, 2), "-1.00"},
		{seconds(0.2374), "0.237"}, {seconds(0.00741), "0.0074"}, {seconds(0.000012345), "0.000012"}, {seconds(12.345), "12.35"}, {seconds(1234.56), "1234.6"}, {seconds(0), "0"},
		{significant(1234.5, 3), "1234"}, {significant(0.00012345, 2), "0.00012"}, {significant(9.996, 3), "10.0"}, {significant(1e-9, 2), "1.0e-09"}, {significant(0, 3), "0"},
		{amount(999), "999"}, {amount(1000), "1,000"}, {amount(2500000), "2,500,000"}, {amount(4000.0 / 3), "1,333.3"}, {amount(-100), "-100"}, {amount(-1000), "-1,000"}, {amount(0), "0"},
		{show("interval_perp.decided", 2114/2115.), "99.95 %"}, {show("test_acc", 1), "100.00 %"},
		{times(40.13), "× 40"}, {times(0.8617), "× 0.86"}, {times(1.004), "× 1.00"}, {times(5.7), "× 5.70"}, {times(123.4), "× 123"},
		{setting(1000), "1,000"}, {setting(0.000001), "1e-06"}, {setting("noise"), "noise"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// The LaTeX files compile with the installed packages and without any.
func TestLatexCompiles(t *testing.T) {
	tex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("SKIPPED: pdflatex is not installed")
	}
	dir := t.TempDir()
	s := parse(t, demo)
	s.Figures = s.Figures[:1]
	if _, err := Write(dir, []*experiment.Spec{s}, shared(t), keyed); err != nil {
		t.Fatal(err)
	}
	packages := ""
	for _, p := range []string{"booktabs", "graphicx", "multirow"} {
		packages += `\IfFileExists{` + p + `.sty}{\usepackage{` + p + `}}{}`
	}
	body := `\input{tables/demo}\input{tables/demo-reproduced}\input{tables/demo-pairs}\input{tables/demo-claims}`
	for name, doc := range map[string]string{"all": packages + `\begin{document}` + body + `\input{figures/demo-process}`, "bare": `\begin{document}` + body} {
		if err := os.WriteFile(filepath.Join(dir, name+".tex"), []byte(`\documentclass{article}`+doc+`\end{document}`), 0o666); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		cmd := exec.Command(tex, "-interaction=nonstopmode", "-halt-on-error", name+".tex")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v after %v\n%s", name, err, time.Since(start), out)
		}
	}
}

// Rows without runs are counted instead of shown. A note explains values of one seed among values
// with a spread.
func TestRowsAndSeedsThatLack(t *testing.T) {
	text := strings.Replace(small, "ipc = [1]", "ipc = [1, 10]", 1)
	text = strings.Replace(text, `rows = ["dataset", "ipc"]`, `rows = ["dataset", "method"]`, 1)
	text = strings.Replace(text, `columns = ["method"]`, `columns = ["ipc"]`, 1)
	r := made(t, text, map[string][]float64{"slow": {0.5, 0.6}, "fast-lr": {0.7}})
	got := string(r.table().Markdown())
	for _, want := range []string{"| Slow | 55.00 ± 5.00 |", "| 70.00 |", "1 of 3 rows are left out, because none of their runs has been computed.", "Values without ± come from one seed."} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "(1)") || strings.Contains(got, "Fast\\_LS") {
		t.Errorf("the table has a number of seeds, or an empty row:\n%s", got)
	}
}

// A median of times is over seeds of one machine, and only over runs on an idle machine if there are
// any.
func TestTimesAreOfOneMachine(t *testing.T) {
	run := func(seconds float64, cpu string, shared bool) Run {
		p := store.Provenance{CPU: 100, Sessions: []store.Session{{Seconds: 10, Threads: 2, Host: env.Host{CPU: cpu}}}}
		p.Timing = store.Timing{Median: seconds, Hosts: 1, Shared: shared}
		return Run{Record: &store.Record{Provenance: p}}
	}
	for _, c := range []struct {
		runs []Run
		want float64
	}{
		{[]Run{run(1, "a", false), run(9, "a", false), run(3, "a", false)}, 3},
		{[]Run{run(1, "a", false), run(3, "b", false)}, 1},
		{[]Run{run(9, "a", true), run(3, "b", false), run(5, "b", false)}, 4},
		{[]Run{run(9, "a", true), run(7, "a", true), run(5, "b", true)}, 8},
	} {
		got := new(Results).cell(&CellRuns{Runs: c.runs}, secondsPerUpdate)
		if got.value() != c.want {
			t.Errorf("got %v, want %v", got.value(), c.want)
		}
	}
	if x, _ := (&CellRuns{Runs: []Run{run(0, "a", false)}}).values(secondsPerUpdate); x != nil {
		t.Error("a run without updates has a time")
	}
}

// Times come from another experiment at the same point, or from the table's own runs if there are
// none. All other metrics come from the table's own runs.
func TestTimesOfShortRuns(t *testing.T) {
	text := strings.Replace(small, "[table]", "[table]\ntime = true", 1)
	s := parse(t, text)
	clock, err := experiment.Parse("clock.toml", strings.NewReplacer(`"demo"`, `"clock"`, "count = 2", "count = 1").Replace(text)+"[method.slow]\nsteps = 2\n[method.fast-lr]\nsteps = 2\n[method.fast-ls]\nsteps = 2\n", experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Times = clock
	st := stored(t, s, func(_ int, d *store.Draft) {
		d.Provenance.Timing.Median, d.Provenance.Timing.Shared = 7, true
	})
	for _, c := range clock.Cells {
		d := recordOf(c, c.Identity(dataOf(c.Dataset), 0), 0)
		d.Provenance.Wall = 7200
		d.Provenance.Sessions[0].Host.Git.State = "modified"
		d.Provenance.Timing.Median, d.Result.Metrics["test_acc"], d.Result.Counts["test_errors"] = 0.5, 0.5, []int64{5000}
		if c.Column == "fast-ls" {
			continue
		}
		if _, err := st.Put(d, false); err != nil {
			t.Fatal(err)
		}
	}
	r := Load(s, st, keyed)
	of := map[string]string{}
	for _, n := range (&Paper{names: []string{"demo"}, results: map[string]*Results{"demo": r}}).records() {
		of[n.Name] = n.Text
	}
	if of["records/count"] != "5" || of["records/hours"] != "4" || of["records/modified"] != "2" {
		t.Errorf("the records are %v, want the table's three and two of the clock, of two hours each, which are modified", of)
	}
	table := r.sheets[0]
	var got []string
	for _, row := range table.Rows[:2] {
		for _, e := range row.Cells[:3] {
			got = append(got, e.Text+e.Marks)
		}
	}
	if want := []string{"88.00", "94.00", "95.00", "0.500", "0.500", "7.000*"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, "Times come from separate short runs (experiment clock), or else from the experiment's own runs.") {
		t.Errorf("notes:\n%s", notes)
	}
	csv := string(r.tableCSV())
	for _, want := range []string{"slow,conv,seconds_per_iteration,done,1,0,0.5,,,0.5,0.5,0.5,0,1,false,false,", "fast-ls,conv,seconds_per_iteration,partial,1,0,7,,,7,7,7,0,2,false,true,", "slow,conv,test_acc,partial,1,0,0.88,,,,,,0,2,false,,"} {
		if !strings.Contains(csv, want) {
			t.Errorf("the CSV lacks %q:\n%s", want, csv)
		}
	}
}

// Brackets show a number of seeds that differs from most values with a spread.
func TestUsualSeeds(t *testing.T) {
	for _, c := range []struct {
		slow, lr, ls []float64
		want, note   string
	}{
		{[]float64{0.9, 0.8, 0.85}, []float64{0.7, 0.6}, []float64{0.5, 0.4}, "85.00 ± 4.08 (3)|65.00 ± 5.00|45.00 ± 5.00", "not 2"},
		{[]float64{0.9, 0.8, 0.85}, []float64{0.7, 0.6}, []float64{0.5}, "85.00 ± 4.08|65.00 ± 5.00 (2)|50.00", "not 3"},
		{[]float64{0.9}, []float64{0.7}, []float64{0.5}, "90.00|70.00|50.00", ""},
	} {
		s := made(t, strings.Replace(small, "count = 2", "count = 3", 1), map[string][]float64{"slow": c.slow, "fast-lr": c.lr, "fast-ls": c.ls}).sheets[0]
		var got []string
		for _, e := range s.Rows[0].Cells[:3] {
			got = append(got, e.Plain())
		}
		notes := strings.Join(s.Notes, " ")
		if strings.Join(got, "|") != c.want || !strings.Contains(notes, c.note) || strings.Contains(notes, "brackets") != (c.note != "") {
			t.Errorf("%q with %q, want %q", got, notes, c.want)
		}
	}
}

// A cell with fewer iterations, or updates, than the method's authors use is marked.
func TestCutSchedules(t *testing.T) {
	text := small + "usual = { slow = 1000, fast-lr = 1000, fast-ls = 1000 }\n[method.slow]\niterations = 999\n[method.fast-lr]\nupdates = 3\n[method.fast-ls]\nupdates = 1000\n"
	s := made(t, text, map[string][]float64{"slow": {0.9}, "fast-lr": {0.8}, "fast-ls": {0.7}}).sheets[0]
	for i, want := range []string{cutMark.Sign, cutMark.Sign, ""} {
		if got := s.Rows[0].Cells[i].Marks; got != want {
			t.Errorf("cell %d has the marks %q, want %q", i, got, want)
		}
	}
	if !slices.Equal(s.Footnotes, []sheet.Mark{cutMark}) {
		t.Errorf("footnotes %q", s.Footnotes)
	}
}

// The command that repeats a cell has the changes of -set.
func TestRepeatWithSet(t *testing.T) {
	r := loadDemo(t)
	r.options.Set = []string{"method.slow.steps=3"}
	if got, want := r.repeat(r.Cells[0]), "go run . -exp demo.toml -set 'method.slow.steps=3' -seeds"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Times within their noise are equal, and a tie for the best leaves no second.
func TestPlacesOfTimes(t *testing.T) {
	means := []float64{1, 1.05, 1.09, 1.3}
	leagues := make([]string, len(means))
	for name, want := range map[string][]int{secondsPerIteration: {1, 1, 0, 0}, "bound": {1, 2, 0, 0}} {
		if got := places(means, leagues, about(name)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
