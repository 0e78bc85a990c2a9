// Package cli is the command line: flags, hints and exit codes. It connects all other packages.
//
// Exit codes:
//
//	0    done
//	1    some runs failed, results could not be written, or data could not be downloaded
//	2    there is a mistake in the command line, an experiment or its data
//	3    a check failed
//	75   stopped by -for or the signal USR1; the same command continues
//	130  interrupted, or stopped for any reason with -force or -verify, which repeat finished runs
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/progress"
	"dgkip/harness/report"
	"dgkip/harness/store"
	"dgkip/harness/tensor"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitCheck       = 3
	exitComeAgain   = 75 // EX_TEMPFAIL of sysexits.h
	exitInterrupted = 130
)

// Causes of an early stop: a person or the system asks for it, or the time of -for is up.
var (
	errInterrupted = errors.New("interrupted")
	errComeAgain   = errors.New("stopped early")
)

// checkpointEvery is the time between checkpoints of runs in progress. Tests shorten it.
var checkpointEvery = 30 * time.Second

// reportEvery is the least time between two reports while runs are under way. Tests shorten it.
var reportEvery = time.Minute

// Main runs the program and ends the process. builtIn holds the program's own experiments in a folder
// named experiments.
func Main(builtIn fs.FS) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, append(comeAgain, os.Interrupt, syscall.SIGTERM)...)
	go stopOn(signals, os.Stderr, cancel, func() { os.Exit(exitInterrupted) })
	os.Exit(run(ctx, newLibrary(builtIn), os.Args[1:], os.Stdout, os.Stderr))
}

// stopOn stops the program at the first signal, with checkpoints. Only pressing Ctrl-C twice leaves
// at once, without a checkpoint. Several termination signals mean one stop, because batch systems
// and their scripts may each send one.
func stopOn(signals <-chan os.Signal, errOut io.Writer, stop func(cause error), leave func()) {
	first, interrupts := true, 0
	for s := range signals {
		if first {
			fmt.Fprintln(errOut, "stopping (Ctrl-C twice leaves at once, without saving the runs in progress)")
			if slices.Contains(comeAgain, s) {
				stop(errComeAgain)
			} else {
				stop(errInterrupted)
			}
			first = false
		}
		if s == os.Interrupt {
			if interrupts++; interrupts == 2 {
				leave()
			}
		}
	}
}

// coded is an error with an exit code.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

func usageError(err error) error { return coded{err, exitUsage} }

// run is Main without ending the process. It prints errors and returns the exit code.
func run(ctx context.Context, l library, args []string, out, errOut io.Writer) int {
	errOut = progress.Plain(errOut)
	f, err := parseFlags(l, args)
	if err == nil {
		if f.limit > 0 && f.submit == "" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, f.limit, errComeAgain)
			defer cancel()
		}
		err = f.run(ctx, progress.Plain(out), errOut)
	}
	var c coded
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return exitDone
	case errors.Is(err, store.ErrStorage): // the state was not saved, so no other exit code is right
		fmt.Fprintln(errOut, message(err))
		return exitFailed
	case ctx.Err() != nil && f != nil && f.verify > 0:
		fmt.Fprintln(errOut, "interrupted; -verify saves nothing, so the same command starts over")
		return exitInterrupted
	case ctx.Err() != nil && f != nil && f.force:
		fmt.Fprintln(errOut, "interrupted; the same command continues the run in progress and computes all others again")
		return exitInterrupted
	case errors.Is(context.Cause(ctx), errComeAgain):
		fmt.Fprintln(errOut, "stopped early; the same command continues from here")
		return exitComeAgain
	case ctx.Err() != nil:
		fmt.Fprintln(errOut, "interrupted; the same command continues from here")
		return exitInterrupted
	case errors.As(err, &c):
		if c.error != nil && c.Error() != "" {
			// The output of a failed check has already been printed.
			fmt.Fprintln(errOut, message(c))
		}
		return c.code
	}
	fmt.Fprintln(errOut, message(err))
	return exitFailed
}

// run does what the flags request.
func (f *flags) run(ctx context.Context, out, errOut io.Writer) error {
	if err := tensor.EnvError(); err != nil {
		return usageError(err)
	}
	if f.threads > 0 {
		runtime.GOMAXPROCS(f.threads)
	}
	if f.paper {
		if _, err := paperUses(); err != nil {
			return err
		}
	}
	switch {
	case f.list && f.about != "":
		return printAbout(out, f.about)
	case f.list:
		return f.printList(out)
	case len(f.folders) > 0:
		return f.mergeRecords(ctx, out)
	case f.paperAlone():
		return f.onlyPaper(ctx, out)
	case f.exp == "":
		return usageError(errors.New("no experiment was named\nhint: -exp NAME runs one, -list shows them, -h all flags"))
	}
	specs, err := f.load()
	if err != nil {
		return usageError(err)
	}
	if !f.quiet {
		for _, s := range specs {
			for _, note := range report.Mistyped(s, f.store()) {
				fmt.Fprintln(errOut, "note: "+note)
			}
		}
	}
	filter, err := f.filter(specs)
	if err != nil {
		return usageError(err)
	}
	if err := f.spread(ctx); err != nil {
		return err
	}
	if f.show {
		return printSettings(out, specs, filter)
	}
	wanted := request{Specs: specs, Only: filter, Store: f.store()}
	if f.export != "" {
		return f.exportSets(ctx, out, errOut, wanted)
	}
	if f.collect {
		return f.collectRecords(ctx, out, errOut, wanted)
	}
	if tensor.Slow() && !f.quiet {
		fmt.Fprintln(errOut, "note: no vector instructions are in use on this machine, so computing is about a hundred times slower")
	}
	return f.runPlan(ctx, out, errOut, wanted)
}

// runPlan runs the modes that need a plan, and therefore the data.
func (f *flags) runPlan(ctx context.Context, out, errOut io.Writer, wanted request) (err error) {
	board := progress.New(errOut, f.quiet)
	defer board.Close()
	// Workers start at the same time, and leave cleaning up to other commands.
	if !f.plan && f.submit == "" && f.verify == 0 && !f.worker {
		wanted.Store.Tidy()
	}
	wanted.There = wanted.Store.Snapshot()
	if wanted.Plan, err = f.makePlan(ctx, wanted, board); err != nil {
		return err
	}
	switch {
	case f.plan:
		return f.printPlan(out, wanted)
	case f.submit != "":
		return f.printJob(out, wanted.Plan, wanted.Store)
	}
	if os.Getenv("GOGC") == "" {
		// Nearly all memory of runs is in a few large arrays. More frequent garbage
		// collection costs nothing and halves the peak.
		debug.SetGCPercent(25)
	}
	if have := env.Read().Memory; have > 0 && os.Getenv("GOMEMLIMIT") == "" {
		// Garbage collection at 125 % of the memory in use could exceed the machine's.
		debug.SetMemoryLimit(have / 8 * 7)
	}
	switch {
	case f.eval != "":
		return f.evalFile(ctx, out, wanted, board)
	case f.verify > 0:
		return f.verifyRecords(ctx, out, wanted.Plan, wanted.Store, board)
	}
	return f.computeRuns(ctx, out, errOut, wanted, board)
}

// collectRecords reports on the existing records.
func (f *flags) collectRecords(ctx context.Context, out, errOut io.Writer, wanted request) error {
	plan, err := onRecord(ctx, wanted.Store, experiment.Runs(wanted.Specs), wanted.Only)
	if err != nil {
		return err
	}
	wanted.Plan = plan
	return f.report(ctx, out, errOut, wanted)
}

// onRecord plans the selected runs with the known datasets of the store. It opens no data.
func onRecord(ctx context.Context, s *store.Store, specs []*experiment.Spec, only experiment.Filter) (*engine.Plan, error) {
	known, err := s.Datasets()
	if err != nil {
		return nil, usageError(err)
	}
	return engine.Lookup{Known: known}.Make(ctx, specs, only)
}

// makePlan plans the selected runs, and opens the data that they need.
func (f *flags) makePlan(ctx context.Context, wanted request, board *progress.Board) (*engine.Plan, error) {
	s := wanted.Store
	known, _ := s.Datasets() // unreadable entries are computed again
	source := newSource(f, board)
	lookup := engine.Lookup{Source: source, Known: known}
	if !f.plan && f.submit == "" {
		there := wanted.There
		lookup.Need = func(r *engine.Run) bool {
			if f.verify > 0 {
				return there.Has(r.Key)
			}
			return r.State(there, f.retry, f.force || f.eval != "") == engine.Missing
		}
	}
	specs := wanted.Specs
	if f.eval == "" { // a file is not scored by the protocol of the experiment that supplies times
		specs = experiment.Runs(specs)
	}
	plan, err := lookup.Make(ctx, specs, wanted.Only)
	if err != nil {
		return nil, dataError(err)
	}
	for _, now := range plan.Opened {
		if then, ok := known.Find(now.Data); ok && then.Digest != now.Digest {
			board.Printf("note: the data of %s has changed: its earlier records stay, but do not count", now.Data.Name)
		}
	}
	return plan, nil
}

// computeRuns computes the missing runs, and reports on all.
func (f *flags) computeRuns(ctx context.Context, out, errOut io.Writer, wanted request, board *progress.Board) error {
	plan, s := wanted.Plan, wanted.Store
	if !f.worker { // workers write no report
		if err := report.InTheWay(f.out, f.reportOptions(wanted)); err != nil {
			return err
		}
	}
	options := f.options(board)
	options.Jobs = f.atOnce(wanted)
	options.There, options.Disk = wanted.There, f.openCache(wanted, board)
	var early *reports
	if !f.worker {
		early = &reports{flags: f, request: wanted, next: time.Now().Add(reportEvery)}
		options.After = early.write
	}
	outcome, err := engine.Execute(ctx, plan, s, options)
	board.Close()
	if err != nil {
		early.end()
		return err
	}
	if f.worker {
		if !f.quiet {
			text := "no unclaimed runs are left: " + report.Count(outcome.Computed, "run", "runs") + " computed here"
			if outcome.Left > 0 {
				text += fmt.Sprintf(", %d in progress elsewhere", outcome.Left)
			}
			fmt.Fprintln(errOut, text)
		}
		if outcome.Broke > 0 {
			return coded{f.failures(plan, s, outcome), exitFailed}
		}
		return nil
	}
	if n := len(plan.Runs); n > 0 && outcome.Before == n {
		fmt.Fprintln(errOut, "nothing to compute: all runs have records (-force computes them again, -verify N compares)")
	}
	reported := f.report(ctx, out, errOut, wanted)
	if outcome.Failed > 0 {
		return coded{errors.Join(reported, f.failures(plan, s, outcome)), exitFailed}
	}
	return reported
}

// atOnce returns how many sets to compute at a time: the number of -jobs, if it is given. Without
// it, workers and plans with a large run compute one, and so do experiments that show times, because
// runs that share a machine have no valid times.
func (f *flags) atOnce(wanted request) int {
	timed := slices.ContainsFunc(experiment.Runs(wanted.Specs), (*experiment.Spec).Timed)
	switch {
	case f.jobs > 0:
		return f.jobs
	case timed || f.worker || !wanted.Plan.Light():
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

func (f *flags) options(board *progress.Board) engine.Options {
	return engine.Options{
		Jobs: f.jobs, Threads: runtime.GOMAXPROCS(0), Retry: f.retry, Force: f.force, CheckpointEvery: checkpointEvery,
		Busy: func() bool { return env.Load() > 2*float64(runtime.NumCPU()) },
		Args: withoutFolders(f.args), Kernels: tensor.Path(), Board: board, Worker: f.worker,
	}
}

// openCache returns the disk cache for values that several runs need, or nil. It first removes old
// values beyond the budget, unless workers share the cache.
func (f *flags) openCache(wanted request, board *progress.Board) *store.Cache {
	var budget int64
	for _, s := range wanted.Specs {
		budget = max(budget, int64(1e9*s.Cache.Disk))
	}
	if f.worker {
		budget = max(budget, workersCache)
	}
	if budget == 0 {
		return nil
	}
	cache := wanted.Store.Cache(budget, func(text string) { board.Printf("note: %s", text) })
	if !f.worker { // each worker would read the whole cache
		cache.Trim()
	}
	return cache
}

// workersCache is the smallest cache of workers, so that they find each other's values.
const workersCache = 8e9

// failures returns an error that lists failed runs and their folders. With -force, a failed run may
// have a record.
func (f *flags) failures(p *engine.Plan, s *store.Store, o engine.Outcome) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s failed:", o.Failed, report.Count(len(p.Runs), "run", "runs"))
	for _, r := range p.Runs {
		if failure := s.Failed(r.Key); failure != nil && (f.force || !s.Has(r.Key)) {
			message, _, _ := strings.Cut(failure.Message, "\n")
			fmt.Fprintf(&b, "\n  %s: %s: %s\n    %s", r.Name(), failure.Kind, message, s.FailureFile(r.Key))
		}
	}
	if !f.force {
		b.WriteString("\nhint: -retry tries them again")
	}
	return errors.New(b.String())
}

// absolute matches absolute paths, also in lists, in -flag=value and in the quotes of -set.
var absolute = regexp.MustCompile(`(^|[=,"'])\s*(?:/|[A-Za-z]:[/\\])(?:[^,"']*[/\\])?([^,"'/\\]+)[/\\]?`)

// withoutFolders shortens absolute paths in arguments to their last part. Arguments go into
// records, which should not reveal the folders of this machine.
func withoutFolders(args []string) (out []string) {
	for _, arg := range args {
		flag, path, _ := strings.Cut(arg, "=")
		switch {
		case filepath.IsAbs(arg) && !strings.Contains(arg, ","):
			arg = filepath.Base(arg)
		case filepath.IsAbs(path) && !strings.Contains(path, ","):
			arg = flag + "=" + filepath.Base(path)
		}
		out = append(out, absolute.ReplaceAllString(arg, "$1$2"))
	}
	return out
}

// shownSet lists the values of -set as files show them.
func (f *flags) shownSet() []string { return withoutFolders(f.set) }
