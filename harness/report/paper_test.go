package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

func TestUsesOf(t *testing.T) {
	got := UsesOf(`\newcommand{\val}[1]{#1} % \val{comment/no}
\val{a/b} and \val{a/c_d}, 5\,\% of \val {a/b} \\% \val{no}
\gentable{a}\gentable{a-claims}\genfigure{b-c} \DeclareRobustCommand{\gentable}[1]{\x{#1}}
100\% \val{after/percent} \value{no} \vals{a/(b c)/x-(1 10)} & \vals{a/b} & \vals{b/( )}`)
	want := Uses{Numbers: []string{"a/b", "a/c_d", "after/percent", "a/b/x-1", "a/b/x-10", "a/c/x-1", "a/c/x-10", "b/( )"}, Rows: []string{"a/(b c)/x-(1 10)"}, Tables: []string{"a", "a-claims"}, Figures: []string{"b-c"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if e := got.Experiments([]string{"after", "b", "a", "a-b", "other"}); fmt.Sprint(e) != "[after b a]" {
		t.Errorf("experiments %v", e)
	}
}

func TestNumbersOfReport(t *testing.T) {
	r := loadDemo(t)
	have := map[string]Number{}
	for _, n := range r.Numbers() {
		if _, twice := have[n.Name]; twice {
			t.Errorf("%s occurs twice", n.Name)
		}
		have[n.Name] = n
	}
	for name, want := range map[string]string{
		"profile":                        "short",
		"seeds":                          "3",
		"planned":                        "75", // one run of Whole for all IPC
		"mnist/1/slow/acc":               `88.10\,\ensuremath{\pm}\,0.08\,\%`,
		"mnist/1/slow/mean":              `88.10\,\%`,
		"mnist/1/slow/seeds":             "3",
		"mnist/1/slow/updates":           "100",
		"mnist/1/slow/time":              "0.256 s",
		"mnist/1/chance/time":            "none",
		"mnist/1/slow/transfer.test_acc": `87.10\,\ensuremath{\pm}\,0.08\,\%`,
		"mnist/1/slow/method.rate":       "0.01",
		"mnist/1/slow/published":         `88.50\,\ensuremath{\pm}\,0.40\,\%`,
		"mnist/1/slow/published.seconds_per_iteration": "0.237 s",
		"mnist/1/slow/difference":                      `\ensuremath{-}0.40`,
		"mnist/1/fast-lr/to-85/updates":                "40 to 55",
		"mnist/10/fast-ls/to-85/seconds":               "1.1",
		"mnist/10/slow/to-90/updates":                  "85 to never",
		"mnist/1/slow/to-90/seconds":                   "never",
		"mnist/10/best-published":                      `96.00\,\ensuremath{\pm}\,1.30\,\%`,
		"glyphs/50/chance/acc":                         `\dgkipnotrun{}`,
		"glyphs/50/chance/seeds":                       "0",
		"glyphs/1/slow/acc":                            `\textit{[failed]}`,
		"published/count":                              "5",
		"published/within":                             "4",
		"published/not-run":                            "0",
		"published/slow/higher":                        "1",
	} {
		if n, ok := numberNamed(have, name); !ok || n.latex() != want {
			t.Errorf("%s: %q; want %q", name, n.latex(), want)
		}
	}
	for _, name := range []string{"glyphs/50/slow/acc", "mnist/1/fast-ls/published", "glyphs/1/best-published"} {
		if n, ok := numberNamed(have, name); ok {
			t.Errorf("%s: %q", name, n.latex())
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

// Numbers of a cell without runs are not run, whatever the number. Other names stay unknown.
func TestNumbersWithoutRuns(t *testing.T) {
	have := map[string]Number{}
	for _, n := range made(t, demo, nil).Numbers() {
		have[n.Name] = n
	}
	for _, name := range []string{"mnist/1/slow/acc", "mnist/1/slow/bound", "mnist/1/slow/time", "mnist/1/slow/transfer.hinge.test_acc", "pair/mnist/1/slow/fast-ls", "pair/mnist/1/fast-ls/slow/to", "largest/1/where", "largest/5/difference"} {
		if n, ok := numberNamed(have, name); !ok || n.None != sheet.NotRun {
			t.Errorf("%s: %+v", name, n)
		}
	}
	for _, name := range []string{"mnist/1/slwo/acc", "mnist/1/slow", "mnist/2/slow/acc", "best-published", "pair/mnist/1/slwo/fast-ls", "pair/mnist/1/slow/fast-lr"} {
		if n, ok := numberNamed(have, name); ok {
			t.Errorf("the misspelt name %s is %+v", name, n)
		}
	}
}

// The last line of a trace serves as a metric.
func TestNumberOfTrace(t *testing.T) {
	r := made(t, small, map[string][]float64{"slow": {0.9}})
	r.Cells[0].Runs[0].Record.Result.Metrics["last.bound"] = 0.25
	if !slices.Contains(r.Numbers(), Number{Name: "mnist/1/slow/bound", Text: "0.250"}) {
		t.Errorf("%+v", r.Numbers())
	}
}

func TestWritePaper(t *testing.T) {
	dir := t.TempDir()
	s := parse(t, demo)
	s.Profile = "smoke" // names stay as they are, whatever the profile
	s.Figures = s.Figures[:1]
	uses := Uses{
		Numbers: []string{"demo/mnist/1/slow/acc", "demo/glyphs/50/chance/acc", "demo/mnist/1/slwo/acc", "dmeo/x"},
		Tables:  []string{"demo", "demo-reproduced", "demo-pears", "other"},
		Figures: []string{"demo-process", "demo-absent"},
	}
	p, err := WritePaper(dir, []*experiment.Spec{s}, shared(t), uses, keyed)
	if err != nil {
		t.Fatal(err)
	}
	if p.NotRun != 1 || p.Tables != 2 || p.Figures != 1 {
		t.Errorf("%+v", p)
	}
	want := []string{"number demo/mnist/1/slwo/acc; did you mean demo/mnist/1/slow/acc?", "number dmeo/x", "table demo-pears", "table other", "figure demo-absent"}
	if !slices.Equal(p.Undefined, want) {
		t.Errorf("undefined are %q, not %q", p.Undefined, want)
	}
	files := tree(t, dir)
	if len(files) != 5 {
		t.Errorf("%d files", len(files))
	}
	for _, line := range []string{`{demo/mnist/1/slow/acc}{88.10\,\ensuremath{\pm}\,0.08\,\%}`, `{demo/glyphs/50/chance/acc}{\dgkipnotrun{}}`} {
		if !strings.Contains(files["macros.tex"], "\n\\dgkipset"+line+"\n") {
			t.Errorf("macros.tex lacks %s", line)
		}
	}
	if !strings.Contains(files["demo.tex"], "\\label{tab:demo}") {
		t.Error("the table has another label")
	}

	// Without records all files exist, and show that nothing has run.
	empty := store.Open(filepath.Join(t.TempDir(), "results"))
	uses = Uses{Numbers: uses.Numbers[:1], Tables: []string{"demo", "demo-pairs"}, Figures: uses.Figures[:1]}
	p, err = WritePaper(dir, []*experiment.Spec{s}, empty, uses, keyed)
	if err != nil || len(p.Undefined)+len(p.Problems) > 0 || p.NotRun != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "demo-process.tex")); err != nil || !strings.Contains(string(text), "[no run has a readable record]") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "demo-process.pdf")); err == nil {
		t.Error("the figure of earlier records remains")
	}
}

// Tables for which an experiment has no content are undefined instead of empty.
func TestPaperOfPlainExperiment(t *testing.T) {
	uses := Uses{Tables: []string{"demo", "demo-pairs", "demo-claims", "demo-reproduced", "claims"}}
	p, err := WritePaper(t.TempDir(), []*experiment.Spec{parse(t, small)}, store.Open(t.TempDir()), uses, keyed)
	if err != nil || p.Tables != 1 || !slices.Equal(p.Undefined, []string{"table demo-pairs", "table demo-claims", "table demo-reproduced", "table claims"}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// A column may show a metric of its own. The page shows the same number for the cell.
func TestValuesByColumn(t *testing.T) {
	text := strings.Replace(small, "columns = [\"method\"]\n", "columns = [\"method\"]\n[table.values]\nslow = \"transfer.test_acc\"\n", 1)
	r := made(t, text, map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.8, 0.8}})
	row := r.sheets[0].Rows[0]
	if row.Cells[0].Text == "90.00" || row.Cells[1].Text != "80.00" || row.Cells[0].Place+row.Cells[1].Place != 0 {
		t.Errorf("%+v", row.Cells)
	}
	if c := r.sheets[0].Caption; !strings.Contains(c, "Slow: test accuracy after training with another loss.") {
		t.Errorf("caption %q", c)
	}
	if got := r.cellView(r.Cells[0], "").Value; !strings.HasPrefix(got, row.Cells[0].Text+" ± ") {
		t.Errorf("the page shows %q, the table %s", got, row.Cells[0].Text)
	}
}
