package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dgkip/harness/engine"
	"dgkip/harness/env"
	"dgkip/harness/progress"
	"dgkip/harness/report"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// request is what a report is to be about.
type request struct {
	Specs []*spec.Spec
	Only  spec.Filter
	Store *store.Store

	// Plan has the keys of all runs. It is nil with -collect, which must work
	// without the datasets that keys depend on.
	Plan *engine.Plan
}

// report makes all outputs that the flags ask for, and shows the tables.
func (f *flags) report(out, errOut io.Writer, r request) error {
	o := report.Options{Only: r.Only}
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
	if f.paper {
		if err := writePaper(out, made); err != nil {
			return err
		}
	}
	if f.check {
		return runChecks(out, made, screen)
	}
	return nil
}

// runChecks shows which claims hold and which published numbers are reproduced.
func runChecks(out io.Writer, made *report.Outcome, screen report.Screen) error {
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
	fmt.Fprintf(out, "%d claims and published numbers judged, %d failed, %d not judged for want of runs\n", judged, len(failed), open)
	if len(failed) > 0 {
		return coded{errors.New(""), exitCheck}
	}
	return nil
}

// paperDir is where the paper takes its tables and figures from.
var paperDir = filepath.Join("paper", "generated")

// writePaper copies what a LaTeX document can include to the paper's folder.
func writePaper(out io.Writer, made *report.Outcome) error {
	if err := os.MkdirAll(paperDir, 0o777); err != nil {
		return err
	}
	n := 0
	for _, file := range made.Files {
		if ext := filepath.Ext(file); ext != ".tex" && ext != ".pdf" {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		n++
		to := filepath.Join(paperDir, filepath.Base(file))
		if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, content) {
			continue
		}
		if err := os.WriteFile(to, content, 0o666); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "paper: %d tables and figures in %s", n, paperDir)
	if _, err := os.Stat(filepath.Join("paper", "paper.tex")); err != nil {
		fmt.Fprint(out, "; there is no paper/paper.tex to typeset them in")
	}
	fmt.Fprintln(out)
	return nil
}
