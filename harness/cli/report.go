package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/progress"
	"dgkip/harness/report"
	"dgkip/harness/store"
)

// request is what the flags select.
type request struct {
	Specs []*experiment.Spec
	Only  experiment.Filter
	Store *store.Store
	There *store.Store // the records at the start, if runs are planned

	Plan *engine.Plan // has the keys of all runs whose data is known
}

// report writes all outputs that the flags request, and shows the tables.
func (f *flags) report(ctx context.Context, out, errOut io.Writer, r request) error {
	r.Store = r.Store.Snapshot() // which reads each record once
	made, unwritten := report.Write(f.out, r.Specs, r.Store, f.reportOptions(r))
	if !f.collect { // comparing code reads the sources
		if other := r.Plan.OtherCode(r.Store); len(other) > 0 {
			fmt.Fprintln(errOut, otherCode(other))
		}
	}
	width := progress.Columns(out)
	tables := progress.Screen(out) // allows bold text
	for _, results := range made.Results {
		if len(results.Cells) == 0 {
			continue
		}
		if err := results.Terminal(tables, width); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	for _, p := range made.Problems {
		fmt.Fprintln(errOut, "note: "+p)
	}
	printGone(errOut, r.Plan)
	if unwritten != nil { // the tables were shown anyway
		return unwritten
	}
	if n := r.Plan.Coarse(r.Store); n > 0 {
		fmt.Fprintln(errOut, coarse(n))
	}
	fmt.Fprintf(out, "records: %s   tables: %s   figures: %s   page: %s\n", f.out, f.folder("tables", made), f.folder("figures", made), made.Page)
	var undefined []string
	var noPaper error // reported after the checks
	if f.paper {
		undefined, noPaper = f.writePaper(ctx, out, r.Store)
	}
	var failed error
	if f.check {
		failed = runChecks(out, made, width, undefined)
	}
	if c := new(coded); noPaper != nil && errors.As(failed, c) {
		return coded{noPaper, c.code}
	}
	return cmp.Or(failed, noPaper)
}

func (f *flags) reportOptions(r request) report.Options {
	return report.Options{Only: r.Only, Set: f.shownSet(), Key: r.Plan.Key}
}

// printGone prints notes about runs that a plan leaves out.
func printGone(errOut io.Writer, p *engine.Plan) {
	missing := false
	for _, err := range p.Gone {
		first, _, _ := strings.Cut(err.Error(), "\n") // drops the hint, which is about computing the run
		fmt.Fprintf(errOut, "note: a run is left out: %s\n", first)
		missing = missing || errors.Is(err, fs.ErrNotExist)
	}
	if missing {
		fmt.Fprintln(errOut, "hint: to keep using a set whose file is gone, copy digest = \"sha256:...\" from its record next to its path")
	}
}

// folder returns a folder of the report, or "none" if no file was written there.
func (f *flags) folder(name string, made *report.Report) string {
	dir := filepath.Join(f.out, name)
	if slices.ContainsFunc(made.Files, func(file string) bool { return filepath.Dir(file) == dir }) {
		return dir
	}
	return "none"
}

// reports are the reports that a command writes while its runs are under way: at least reportEvery
// apart, and taking at most a twentieth of the time. Errors are left to the report at the end.
type reports struct {
	*flags
	request request
	next    time.Time
	written bool
}

func (r *reports) write() {
	start := time.Now()
	if start.Before(r.next) {
		return
	}
	r.put(true)
	r.written, r.next = true, time.Now().Add(max(reportEvery, 19*time.Since(start)))
}

// end is called if runs were interrupted: it writes a page that does not load itself again.
func (r *reports) end() {
	if r != nil && r.written {
		r.put(false)
	}
}

func (r *reports) put(underWay bool) {
	o := r.reportOptions(r.request)
	o.UnderWay = underWay
	report.Write(r.out, r.request.Specs, r.request.Store.Snapshot(), o)
}

// coarse returns the note about records whose trace lacks requested lines.
func coarse(n int) string {
	return fmt.Sprintf("note: %s fewer trace lines than these experiments ask for; their results are not affected (-force computes them again with all lines)", report.Count(n, "record has", "records have"))
}

// otherCode returns the note about records computed by another version of the code.
func otherCode(runs []*engine.Run) string {
	return fmt.Sprintf("note: %s computed by different code of the method or its protocol, for example %s (-force computes them again, -verify compares)",
		report.Count(len(runs), "record was", "records were"), runs[0].Name())
}

// runChecks shows which claims hold and which published numbers are reproduced. It fails if there
// is nothing to judge, if a claim fails or a number is worse than published without a stated
// reason, or if the paper uses an undefined name.
func runChecks(out io.Writer, made *report.Report, width int, undefined []string) error {
	judged, open := 0, 0
	var failed []string
	for _, r := range made.Results {
		if err := r.TerminalChecks(progress.Screen(out), width); err != nil {
			return err
		}
		j, o := r.Checks()
		judged, open = judged+j, open+o
		failed = append(failed, r.Failures()...)
	}
	if err := report.TerminalVerdicts(progress.Screen(out), made.Results, width); err != nil {
		return err
	}
	for _, line := range failed {
		fmt.Fprintln(out, "check failed: "+line)
	}
	for _, name := range undefined {
		fmt.Fprintln(out, "check failed: undefined in the paper: "+name)
	}
	fmt.Fprintf(out, "%s judged, %d failed, %d not judged, because runs are missing or numbers do not compare\n", report.Count(judged, "claim or published number", "claims and published numbers"), len(failed), open)
	// A check without anything to judge must not pass.
	if judged == 0 && open == 0 {
		fmt.Fprintln(out, "check failed: there is no claim or published number to check")
	} else if judged == 0 {
		fmt.Fprintln(out, "check failed: nothing could be judged, because the runs have no records")
	}
	if len(failed)+len(undefined) > 0 || judged == 0 {
		return coded{errors.New(""), exitCheck}
	}
	return nil
}
