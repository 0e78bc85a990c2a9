package cli

import (
	"context"
	"errors"
	"io"

	"dgkip/harness/engine"
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

// reporter makes outputs of records. Package harness/report is to be wired in here
// and nowhere else: set reports to a value of it.
type reporter interface {
	// Write writes tables, figures and the page, and shows the tables on out.
	Write(ctx context.Context, out io.Writer, r request) error

	// Check judges claims and published numbers, shows what it finds on out, and
	// tells how many do not hold.
	Check(ctx context.Context, out io.Writer, r request) (failed int, err error)

	// Paper writes what the paper is made of, and the paper.
	Paper(ctx context.Context, out io.Writer, r request) error
}

// reports is nil in a build without harness/report.
var reports reporter

// reportMissing says so, before anything runs, when flags need what this build
// lacks.
func (f *flags) reportMissing() error {
	if reports != nil {
		return nil
	}
	for _, x := range []struct {
		given bool
		name  string
	}{{f.collect, "-collect"}, {f.check, "-check"}, {f.paper, "-paper"}} {
		if x.given {
			return usageError(errors.New(x.name + ": this build has no report part, so it writes no tables, figures or checks\nhint: without " + x.name + " the runs are made and recorded, and their accuracies listed"))
		}
	}
	return nil
}

// report makes all outputs that the flags ask for.
func (f *flags) report(ctx context.Context, out io.Writer, r request) error {
	if reports == nil {
		return printSummary(out, r.Plan, r.Store)
	}
	if err := reports.Write(ctx, out, r); err != nil {
		return err
	}
	if f.paper {
		if err := reports.Paper(ctx, out, r); err != nil {
			return err
		}
	}
	if f.check {
		failed, err := reports.Check(ctx, out, r)
		if err != nil {
			return err
		}
		if failed > 0 {
			return coded{errors.New("a check failed"), exitCheck}
		}
	}
	return nil
}
