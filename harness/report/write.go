package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/store"
)

// Outcome says what a report consists of.
type Outcome struct {
	Results  []*Results // one for every experiment
	Files    []string   // written, or found to be right already
	Page     string     // the page among the files
	Problems []string   // what stood in the way of a complete report
}

// Write writes tables/, figures/ and index.html in a folder, from the records in
// the store. Every file appears at once with all its content or stays as it was.
//
// Names are those of Stem, with what the file holds behind them: the table itself
// has nothing, further ones -reproduced, -comparison, -pairs, -claims and -runs, and figures
// their names. What o.Only selects has -selection behind Stem, and the page
// index-selection.html: the files of the whole stay as they were. Files of a table
// or figure that there is nothing to show of any more are removed.
func Write(dir string, specs []*exhibit.Spec, st *store.Store, o Options) (*Outcome, error) {
	x, err := newIndex(st)
	if err != nil {
		return nil, err
	}
	out := &Outcome{}
	w := &writer{dir: dir, out: out}
	var sections []section
	for _, s := range specs {
		r := x.load(s, o)
		out.Results = append(out.Results, r)
		sections = append(sections, w.experiment(r))
	}
	name := "index.html"
	if !o.Only.Empty() {
		name = "index" + selectionSuffix + ".html"
	}
	out.Page = filepath.Join(dir, name)
	w.put(name, page(sections))
	seen := map[string]bool{}
	for _, r := range out.Results {
		for _, p := range r.Problems {
			if !seen[p] {
				seen[p] = true
				out.Problems = append(out.Problems, p)
			}
		}
	}
	return out, w.err
}

// section is what the page shows of an experiment.
type section struct {
	r       *Results
	sheets  []*sheet
	figures []shown
}

// shown is a figure on the page.
type shown struct {
	name, caption string
	svg           []byte
}

// writer writes files until the first error.
type writer struct {
	dir string
	out *Outcome
	err error
}

func (w *writer) experiment(r *Results) section {
	sec := section{r: r}
	stem := r.stem()
	source := fmt.Sprintf("the experiment %s (profile %s)", r.Spec.Name, r.Spec.Profile)
	if stem != Stem(r.Spec) {
		if len(r.Cells) == 0 {
			return sec // the selection is of other experiments
		}
		source += ", selected by -only '" + r.options.Only.String() + "'"
	}
	metrics := []string{"test_acc", secondsPerUpdate}
	if t := r.Spec.Table; t != nil && t.Value != "" && t.Value != metrics[0] && t.Value != metrics[1] {
		metrics = append([]string{t.Value}, metrics...)
	}
	if t := r.Spec.Table; t != nil {
		for _, column := range slices.Sorted(maps.Keys(t.Values)) {
			if m := t.Values[column]; !slices.Contains(metrics, m) {
				metrics = append(metrics, m)
			}
		}
	}
	if len(r.Spec.Cells) > 0 {
		main := r.table()
		w.sheet(main, source)
		w.put("tables/"+stem+".csv", r.tableCSV(metrics))
		w.put("tables/"+stem+"-runs.csv", r.runsCSV())
		sec.sheets = append(sec.sheets, main)
		for _, further := range r.furtherSheets() {
			s := further.sheet
			if s == nil {
				for _, format := range []string{"tex", "md", "html", "csv"} {
					w.remove("tables/" + stem + "-" + further.name + "." + format)
				}
				continue
			}
			w.sheet(s, source)
			w.put("tables/"+s.name+".csv", s.csv())
			sec.sheets = append(sec.sheets, s)
		}
	}
	for _, f := range r.Spec.Figures {
		v, p := r.shown(f)
		if p == nil {
			for _, format := range append([]string{"tex"}, figureFormats...) {
				w.remove("figures/" + v.name + "." + format)
			}
			continue
		}
		for _, format := range figureFormats {
			b, err := render(p, format)
			if err != nil {
				r.problem("figure %s: %v", f.Name, err)
				w.remove("figures/" + v.name + "." + format)
				continue
			}
			w.put("figures/"+v.name+"."+format, b)
			if format == "svg" {
				v.svg = b
			}
		}
		w.put("figures/"+v.name+".tex", figureLatex(v, source))
		sec.figures = append(sec.figures, v)
	}
	return sec
}

// furtherSheet is a table beside the main one; nil where there is nothing in it.
type furtherSheet struct {
	name  string
	sheet *sheet
}

func (r *Results) furtherSheets() []furtherSheet {
	return []furtherSheet{{"reproduced", r.reproduced()}, {"comparison", r.comparison()}, {"pairs", r.pairs()}, {"claims", r.claimSheet()}}
}

// shown makes a figure, nil if there is nothing to show, and its name and caption.
func (r *Results) shown(f exhibit.Figure) (shown, picture) {
	v := shown{name: r.stem() + "-" + f.Name, caption: strings.TrimSpace(sentence(f.Title) + " " + sentence(f.Caption))}
	p := r.figure(f)
	if c, ok := p.(*chart); ok {
		v.caption = c.caption
	}
	v.caption = r.selected(v.caption)
	return v, p
}

func (w *writer) sheet(s *sheet, source string) {
	w.put("tables/"+s.name+".tex", s.latex(source))
	w.put("tables/"+s.name+".md", s.markdown())
	w.put("tables/"+s.name+".html", s.document())
}

// figureLatex is a figure's float: as large as it was drawn, or as wide as the text
// if that is less. The folder of its PDF is \dgkipfigures, which a document may define
// otherwise.
func figureLatex(v shown, source string) []byte {
	return fmt.Appendf(nil, `%% Written from the records of %[1]s; changes will be lost.
\providecommand{\dgkipfigures}{figures/}%%
\begin{figure*}[tp]
\centering
\sbox0{\includegraphics{\dgkipfigures %[2]s.pdf}}%%
\ifdim\wd0>\linewidth\wd0=\linewidth\fi\ifdim\wd0>\textwidth\wd0=\textwidth\fi
\includegraphics[width=\wd0,height=0.8\textheight,keepaspectratio]{\dgkipfigures %[2]s.pdf}
\caption{%[3]s}
\label{fig:%[4]s}
\end{figure*}
`, latexComment(source), v.name, latexText(v.caption), latexLabel(v.name))
}

// put writes a file unless it has the content already.
func (w *writer) put(name string, content []byte) {
	if w.err != nil {
		return
	}
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	w.out.Files = append(w.out.Files, file)
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, content) {
		return
	}
	if err := writeAtomic(file, content); err != nil {
		w.fail(err)
	}
}

// remove removes a file of an earlier report, which this one has nothing for.
func (w *writer) remove(name string) {
	if w.err != nil {
		return
	}
	if err := os.Remove(filepath.Join(w.dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.fail(err)
	}
}

func (w *writer) fail(err error) {
	w.err = fmt.Errorf("cannot write the report: %w\nhint: the records are safe; when the cause is gone, -collect writes the report without computing anything", err)
}

// writeAtomic writes a file under another name and renames it into place.
func writeAtomic(file string, content []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if e := f.Sync(); err == nil {
		err = e
	}
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// Failures lists, in words, the claims that our records contradict and the
// published numbers that they are too far from.
func (o *Outcome) Failures() []string {
	var out []string
	for _, r := range o.Results {
		out = append(out, r.Failures()...)
	}
	return out
}

// Failures is Outcome.Failures for one experiment.
func (r *Results) Failures() []string {
	var out []string
	for _, j := range r.Claims() {
		if j.Ours == Fails {
			out = append(out, fmt.Sprintf("%s: claim %s (%s): %s", r.Spec.Name, j.Claim.ID, j.Claim.Place, j.OursEvidence))
		}
	}
	for _, b := range r.Compare() {
		if b.Verdict == Fails {
			out = append(out, fmt.Sprintf("%s: %s: %s is %s, published %s; %s apart where %s is allowed", r.Spec.Name, r.placeName(b.Cell),
				metricTitle(b.Metric), significant(b.Ours, 5), shortest(b.Published.Mean), significant(b.Difference(), 3), significant(b.Allowed, 3)))
		}
	}
	return out
}

// Checks counts the claims and published numbers that could be judged, and those
// that could not for want of runs.
func (r *Results) Checks() (judged, open int) {
	for _, j := range r.Claims() {
		if j.Ours == Open {
			open++
		} else {
			judged++
		}
	}
	for _, b := range r.Compare() {
		switch {
		case b.Verdict != Open:
			judged++
		case b.Seeds == 0:
			open++
		}
	}
	return judged, open
}
