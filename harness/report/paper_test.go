package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dgkip/harness/exhibit"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

func TestUsesOf(t *testing.T) {
	got := UsesOf(`\newcommand{\val}[1]{#1} % \val{comment/no}
\val{a/b} and \val{a/c_d}, 5\,\% of \val {a/b} \\% \val{no}
\gentable{a}\gentable{a-claims}\genfigure{b-c} \DeclareRobustCommand{\gentable}[1]{\x{#1}}
100\% \val{after/percent} \value{no}
\label{eq:here} \eqref{eq:here} \ref{tab:a-claims} Figure~\ref{fig:b-c}, \ref{fig:gone} % \ref{fig:comment}`)
	want := Uses{Numbers: []string{"a/b", "a/c_d", "after/percent"}, Tables: []string{"a", "a-claims"}, Figures: []string{"b-c"}, Dangling: []string{"fig:gone"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if e := got.Experiments([]string{"after", "b", "a", "a-b", "other"}); fmt.Sprint(e) != "[after b a]" {
		t.Errorf("experiments %v", e)
	}
}

func TestNumber(t *testing.T) {
	r := loadDemo(t)
	for name, want := range map[string]string{
		"profile":                                   "desk",
		"seeds":                                     "3",
		"planned":                                   "75", // one run of Whole for all IPC
		"mnist/1/slow/acc":                          `88.10\,\ensuremath{\pm}\,0.08\,\%`,
		"mnist/1/slow/mean":                         `88.10\,\%`,
		"mnist/1/slow/sd":                           `0.08\,\%`,
		"mnist/1/slow/errors":                       "1190",
		"mnist/1/slow/seeds":                        "3",
		"mnist/1/slow/updates":                      "100",
		"mnist/1/slow/time":                         "0.256 s",
		"mnist/1/chance/time":                       "none",
		"mnist/1/slow/transfer.test_acc":            `87.10\,\ensuremath{\pm}\,0.08\,\%`,
		"mnist/1/slow/method.rate":                  "0.01",
		"mnist/1/slow/eval.nets":                    "1",
		"mnist/1/slow/published":                    `88.50\,\ensuremath{\pm}\,0.40\,\%`,
		"mnist/1/slow/published.seconds_per_update": "0.237 s",
		"mnist/1/slow/difference":                   `\ensuremath{-}0.40`,
		"mnist/1/slow/allowed":                      "0.82",
		"mnist/1/slow/within":                       "yes",
		"mnist/10/slow/within":                      "no",
		"mnist/10/best-published":                   `96.00\,\ensuremath{\pm}\,1.30\,\%`,
		"glyphs/50/chance/acc":                      `\textit{[not run]}`,
		"glyphs/50/chance/seeds":                    "0",
		"glyphs/1/slow/acc":                         `\textit{[failed]}`,
		"published/count":                           "5",
		"published/within":                          "4",
		"published/beyond":                          "1",
		"published/not-run":                         "0",
		"claim/time":                                "holds",
		"claim/growth/published":                    "fails",
		"claim/bound/published":                     "not judged",
	} {
		n, err := r.Number(name)
		if err != nil || n.latex() != want {
			t.Errorf("%s: %q, %v; want %q", name, n.latex(), err, want)
		}
	}
	for name, want := range map[string]string{
		"":                            "is named demo/DATASET/IPC/METHOD/QUANTITY",
		"mnist/1/slow":                "is named demo/DATASET/IPC/METHOD/QUANTITY",
		"mnits/1/slow/acc":            `there is no dataset "mnits"; did you mean "mnist"?`,
		"mnist/5/slow/acc":            `there is no ipc "5"; did you mean "1"?`,
		"mnist/1/slwo/acc":            "did you mean",
		"glyphs/50/slow/acc":          "leaves this cell out",
		"mnist/1/slow/tset_acc":       "did you mean",
		"glyphs/50/chance/tset_acc":   "did you mean", // no run of it, but others have no such thing
		"mnist/1/slow/method.raet":    "there is no setting method.raet; did you mean",
		"mnist/1/fast-ls/published":   "nothing was published of the test accuracy",
		"glyphs/1/best-published":     "nothing was published",
		"claim/tmie":                  "there is no claim",
		"claim/time/else":             "evidence",
		"published/all":               "there are count",
		"mnist/1/slow/published.bond": "nothing was published of the bond",
	} {
		if n, err := r.Number(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want an error with %q", name, n.Text, err, want)
		}
	}
}

func TestNumberInFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"1e-06":       `\ensuremath{10^{-6}}`,
		"2.5e+07":     `\ensuremath{2.5\times10^{7}}`,
		"× 1.5":       `\ensuremath{\times} 1.5`,
		"5 $ ± 3 $":   `5 \$\,\ensuremath{\pm}\,3 \$`,
		"log-gap":     "log-gap",
		"in 3 of 4 %": `in 3 of 4\,\%`,
	} {
		if got := (Number{Text: text}).latex(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Numbers of metrics that only a run can name are pending while there is none.
func TestNumberWithoutRuns(t *testing.T) {
	r := made(t, small, nil)
	for _, name := range []string{"mnist/1/slow/acc", "mnist/1/slow/bound", "mnist/1/slow/time"} {
		if n, err := r.Number(name); err != nil || !n.Pending {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
	}
	if n, err := r.Number("runs"); err != nil || n.Text != "0" {
		t.Errorf("runs: %+v, %v", n, err)
	}
}

// The last line of a trace stands in for a metric of its own.
func TestNumberOfTrace(t *testing.T) {
	r := made(t, small, map[string][]float64{"slow": {0.9}})
	r.Cells[0].Runs[0].Record.Result.Metrics["last.bound"] = 0.25
	if n, err := r.Number("mnist/1/slow/bound"); err != nil || n.Text != "0.250" {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestWritePaper(t *testing.T) {
	dir := t.TempDir()
	s := parse(t, demo)
	s.Profile = "smoke" // names stay as they are, whatever the profile
	s.Figures = s.Figures[:1]
	other := parse(t, demo)
	uses := &Uses{
		Numbers: []string{"demo/mnist/1/slow/acc", "demo/glyphs/50/chance/acc", "demo/mnist/1/slwo/acc", "dmeo/x"},
		Tables:  []string{"demo", "demo-reproduced", "demo-pears", "other"},
		Figures: []string{"demo-process", "demo-absent"}, Dangling: []string{"fig:gone"},
	}
	p, err := WritePaper(dir, []*exhibit.Spec{s}, []*exhibit.Spec{other}, shared(t), uses, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Numbers != 2 || p.NotRun != 1 || p.Tables != 2 || p.Figures != 1 || len(p.Undefined) != 6 {
		t.Errorf("%+v", p)
	}
	for _, u := range []string{"number demo/mnist/1/slwo/acc", `number dmeo/x: there is no experiment "dmeo"; did you mean "demo"?`, `table demo-pears: did you mean "demo-pairs"?`, "table other", "figure demo-absent", "reference fig:gone"} {
		if !strings.Contains(strings.Join(p.Undefined, "\n"), u) {
			t.Errorf("undefined are %q, without %q", p.Undefined, u)
		}
	}
	files := tree(t, dir)
	if len(files) != 5 {
		t.Errorf("%d files", len(files))
	}
	want := "\\expandafter\\def\\csname dgkip/demo/mnist/1/slow/acc\\endcsname{88.10\\,\\ensuremath{\\pm}\\,0.08\\,\\%}\n\\expandafter\\def\\csname dgkip/demo/glyphs/50/chance/acc\\endcsname{\\textit{[not run]}}\n"
	if !strings.HasSuffix(files["macros.tex"], want) {
		t.Errorf("macros.tex:\n%s", files["macros.tex"])
	}
	if !strings.Contains(files["demo.tex"], "\\label{tab:demo}") {
		t.Error("the table has another label")
	}

	// Without records everything is there, and says that it is not run.
	empty := store.Open(filepath.Join(t.TempDir(), "results"))
	uses = &Uses{Numbers: uses.Numbers[:1], Tables: []string{"demo", "demo-pairs"}, Figures: uses.Figures[:1]}
	p, err = WritePaper(dir, []*exhibit.Spec{s}, nil, empty, uses, Options{})
	if err != nil || len(p.Undefined)+len(p.Problems) > 0 || p.NotRun != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "demo-process.tex")); err != nil || !strings.Contains(string(text), "[no run has been made]") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "demo-process.pdf")); err == nil {
		t.Error("the figure of earlier records is still there")
	}
}

// Tables that an experiment has nothing for are undefined, not empty.
func TestPaperOfPlainExperiment(t *testing.T) {
	uses := &Uses{Tables: []string{"demo", "demo-pairs", "demo-claims", "demo-reproduced"}}
	p, err := WritePaper(t.TempDir(), []*exhibit.Spec{parse(t, small)}, nil, store.Open(t.TempDir()), uses, Options{})
	if err != nil || p.Tables != 2 || len(p.Undefined) != 2 || !strings.Contains(p.Undefined[0], "table demo-claims: the experiment declares nothing") {
		t.Errorf("%+v, %v", p, err)
	}
}

// A name that makes sense in another profile alone awaits its run in this one.
func TestPaperOfAnotherProfile(t *testing.T) {
	s, other := parse(t, small), parse(t, strings.Replace(small, "ipc = [1]", "ipc = [1, 50]", 1))
	uses := Uses{Numbers: []string{"demo/mnist/50/slow/acc", "demo/mnist/10/slow/acc"}}
	undefined, err := CheckPaper([]*exhibit.Spec{s}, []*exhibit.Spec{other}, shared(t), uses, Options{})
	if err != nil || len(undefined) != 1 || !strings.Contains(undefined[0], "mnist/10") {
		t.Errorf("%q, %v", undefined, err)
	}
}

// What a source marks best is held against its own numbers.
func TestMisprints(t *testing.T) {
	head := small + "[[published]]\nsource = \"They\"\nwhen = { dataset = \"mnist\", ipc = 1 }\nvalues = { slow = 90, fast-lr = 92, fast-ls = 95 }\n"
	for marks, want := range map[string]string{
		"best = [\"fast-ls\"]\nsecond = [\"fast-lr\"]": "",
		"": "",
		"best = [\"fast-ls\"]\nsecond = [\"slow\"]": "Fast-LR (92) is not marked and is the second; mnist IPC 1: Slow (90) is marked second and is neither",
	} {
		got := strings.Join(made(t, head+marks+"\n", nil).misprints(), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", marks, got, want)
		}
	}
}

// A column may show another metric than its neighbours.
func TestValuesByColumn(t *testing.T) {
	text := strings.Replace(small, "columns = [\"method\"]\n", "columns = [\"method\"]\n[table.values]\nslow = \"transfer.test_acc\"\n", 1)
	r := made(t, text, map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.8, 0.8}})
	row := r.table().rows[0]
	if row.cells[0].text == "90.00" || row.cells[1].text != "80.00" || row.cells[0].place+row.cells[1].place != 0 {
		t.Errorf("%+v", row.cells)
	}
	if c := r.table().caption; !strings.Contains(c, "Slow: transfer test acc.") {
		t.Errorf("caption %q", c)
	}
	if _, err := exhibit.Parse("demo.toml", strings.Replace(text, "slow = ", "slwo = ", 1), spec.Options{}); err == nil || !strings.Contains(err.Error(), `"slwo" is not a column`) {
		t.Errorf("error %v", err)
	}
}
