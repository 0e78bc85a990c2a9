package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"dgkip/harness/data"
	"dgkip/harness/engine"
	"dgkip/harness/env"
	"dgkip/harness/exhibit"
	"dgkip/harness/progress"
	"dgkip/harness/report"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// request is what a report is to be about.
type request struct {
	Specs []*exhibit.Spec
	Only  spec.Filter
	Store *store.Store

	// Plan has the keys of all runs. It is nil with -collect, which must work
	// without the datasets that keys depend on.
	Plan *engine.Plan
}

// report makes all outputs that the flags ask for, and shows the tables.
func (f *flags) report(ctx context.Context, out, errOut io.Writer, r request) error {
	o := f.reportOptions()
	o.Only = r.Only
	if r.Plan != nil {
		o.Key = r.Plan.Key
	}
	made, err := report.Write(f.out, r.Specs, r.Store, o)
	if err != nil {
		return err
	}
	width := progress.Columns(out)
	screen := report.Screen{Width: width, Style: width > 0, Host: env.Read().Name}
	for _, results := range made.Results {
		if len(results.Cells) == 0 {
			continue
		}
		if err := results.Terminal(out, screen); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	for _, p := range made.Problems {
		fmt.Fprintln(errOut, "note: "+p)
	}
	fmt.Fprintf(out, "records: %s   tables: %s   figures: %s   page: %s\n", f.out,
		filepath.Join(f.out, "tables"), filepath.Join(f.out, "figures"), made.Page)
	var undefined []string
	switch {
	case f.paper:
		undefined, err = f.writePaper(ctx, out, r.Store, r.Specs)
	case f.check:
		undefined, err = f.checkPaper(r.Store, r.Specs)
	}
	if err == nil && f.check {
		err = runChecks(out, made, screen, undefined)
	}
	return err
}

// reportOptions are those of every report: what is known of datasets without
// opening them.
func (f *flags) reportOptions() report.Options {
	o := report.Options{Datasets: map[string]store.Dataset{}, Classes: map[string][]string{}}
	for _, name := range data.Names() {
		if info, err := data.Describe(name); err == nil {
			o.Datasets[name] = store.Dataset{Title: titles[name], BuiltIn: info.BuiltIn}
			o.Classes[name] = info.Classes
		}
	}
	return o
}

// runChecks shows which claims hold and which published numbers are reproduced. It
// succeeds only if there is something that does, and nothing that does not.
func runChecks(out io.Writer, made *report.Outcome, screen report.Screen, undefined []string) error {
	judged, open := 0, 0
	for _, r := range made.Results {
		if err := r.TerminalChecks(out, screen); err != nil {
			return err
		}
		j, o := r.Checks()
		judged, open = judged+j, open+o
	}
	failed := made.Failures()
	for _, f := range failed {
		fmt.Fprintln(out, "check failed: "+f)
	}
	for _, u := range undefined {
		fmt.Fprintln(out, "check failed: undefined in the paper: "+u)
	}
	fmt.Fprintf(out, "%d claims and published numbers judged, %d failed, %d not judged for want of runs\n", judged, len(failed), open)
	// A check that looked at nothing would pass wherever the records are missing.
	if judged == 0 && open == 0 {
		fmt.Fprintln(out, "check failed: there is nothing to check, neither a claim nor a published number that could fail")
	} else if judged == 0 {
		fmt.Fprintln(out, "check failed: nothing could be judged, for the runs it takes have no records")
	}
	if len(failed)+len(undefined) > 0 || judged == 0 {
		return coded{errors.New(""), exitCheck}
	}
	return nil
}
