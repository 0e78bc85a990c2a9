package report

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"dgkip/harness/experiment"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// Report tells what was written.
type Report struct {
	Results  []*Results // one for every experiment
	Files    []string   // written, or found to be right already
	Page     string     // the page among the files
	Problems []string   // what stood in the way of a complete report
	LeftOut  []error    // files that are not written, for what stands in their place is another's
}

// Write writes tables/, figures/, index.html and ro-crate-metadata.json in a folder, from the records in
// the store. Every file appears at once with all its content or stays as it was; one is left out
// where what another has made is in its place.
//
// Names are an experiment's, with the profile behind it unless that is the default one,
// and then with what the file holds: the table itself has nothing, further ones
// -reproduced, -verdicts, -pairs and -claims, the data of all runs
// -runs, that of the published numbers -comparison, and figures their names. What o.Only
// selects has -selection in between, what o.Set changes has -set, and the page is index-selection.html: the files of
// the whole stay as they were. Files of a table or figure that there is nothing to show
// of any more are removed.
func Write(dir string, specs []*experiment.Spec, st *store.Store, o Options) (*Report, error) {
	x, out := newReader(st), &Report{}
	for _, s := range specs {
		out.Results = append(out.Results, x.load(s, o))
	}
	w := &writer{dir: dir}
	var sections []section
	for _, part := range inParallel(out.Results, func(r *Results) written { return r.write(dir) }) {
		w.files, w.puts, w.removed = append(w.files, part.files...), append(w.puts, part.puts...), append(w.removed, part.removed...)
		sections = append(sections, part.section)
	}
	name := pageName(o)
	out.Page = filepath.Join(dir, name)
	w.put(name, page(sections))
	if name == wholePage {
		w.put(crateName, crate(sections, w.files, dir))
	}
	w.write()
	out.Files, out.LeftOut = w.files, w.leftOut
	if !slices.Contains(w.files, out.Page) {
		out.Page = "" // it is another's
	}
	for _, r := range out.Results {
		out.Problems = with(out.Problems, r.Problems...)
	}
	return out, w.err
}

// written is what the report has of an experiment.
type written struct {
	*writer
	section section
}

// write gathers the files of an experiment, and what the page in a folder shows of it.
func (r *Results) write(dir string) written {
	w := &writer{dir: dir, of: r.Spec.Name}
	var figures []shown
	if len(r.Cells) > 0 { // else the selection is of other experiments
		w.tables(r)
		figures = w.figures(r)
	}
	return written{w, r.section(figures, dir)}
}

// inParallel applies a function to every element of a list, on all processors, and returns the
// results in the order of the list.
func inParallel[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	var wg sync.WaitGroup
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, x := range list {
		turns <- struct{}{}
		wg.Go(func() {
			out[i] = f(x)
			<-turns
		})
	}
	wg.Wait()
	return out
}

func pageName(o Options) string {
	if !o.Only.Empty() || len(o.Set) > 0 {
		return "index-selection.html"
	}
	return wholePage
}

const wholePage = "index.html"

// writer gathers files, and writes those that it may, until the first error.
type writer struct {
	dir     string
	of      string   // the experiment that files are gathered of, or "" where none is
	files   []string // to be written, or right already
	puts    []output
	removed []output
	leftOut []error
	err     error
}

func (w *writer) tables(r *Results) {
	stem := "tables/" + r.stem()
	w.sheet(r.sheets[0], r.source())
	w.put(stem+".csv", r.tableCSV())
	w.put(stem+"-runs.csv", r.runsCSV())
	for _, f := range furtherTables {
		s := r.further(f.name)
		if s == nil {
			for _, format := range []string{"csv", "md", "tex"} {
				w.remove(stem + "-" + f.name + "." + format)
			}
			continue
		}
		w.sheet(s, r.source())
		if f.csv != nil {
			w.put(stem+"-"+f.name+".csv", f.csv(r))
		}
	}
	if len(r.Published) > 0 {
		w.put(stem+"-comparison.csv", r.comparisonCSV())
	} else {
		w.remove(stem + "-comparison.csv")
	}
}

func (w *writer) sheet(s *sheet.Sheet, source string) {
	w.put("tables/"+s.Name+".tex", s.Latex(source))
	w.put("tables/"+s.Name+".md", s.Markdown())
}

// figures writes the figures and returns those that there is something to show of.
func (w *writer) figures(r *Results) []shown {
	var out []shown
	for _, f := range r.Spec.Figures {
		v, p := r.shown(f)
		file := "figures/" + v.Name + "."
		if p == nil {
			for _, format := range append(slices.Clone(chart.Formats), "tex") {
				w.remove(file + format)
			}
			continue
		}
		w.put(file+"tex", figureLatex(v, r.source(), v.pdf()))
		for _, format := range chart.Formats {
			b, err := chart.Render(p, format)
			if err != nil {
				r.problem("figure %s: %v", f.Name, err)
				w.remove(file + format)
				continue
			}
			w.put(file+format, b)
		}
		out = append(out, v)
	}
	return out
}

// put has a file written.
func (w *writer) put(name string, content []byte) {
	w.files = append(w.files, filepath.Join(w.dir, name))
	w.puts = append(w.puts, output{name, w.of, content})
}

// remove has a file of an earlier report removed, which this one has nothing for.
func (w *writer) remove(name string) { w.removed = append(w.removed, output{name: name, of: w.of}) }

func (w *writer) fail(err error) {
	w.err = fmt.Errorf("cannot write the report: %w\nhint: the records are safe; when the cause is gone, -collect writes the report without computing anything", err)
}
