package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/progress"
	"dgkip/harness/report"
	"dgkip/harness/store"
	"dgkip/harness/submit"
)

// workerThreads is the default number of processors of a worker. Most records were computed with two.
const workerThreads = 2

// workerLimit is the default time of a job, and workerMemory its memory if there are no records.
const (
	workerLimit  = 12 * time.Hour
	workerMemory = 8 << 30
)

const limitForm = "write it like 55m or 3h30m"

// validateWorkers checks the flags of workers.
func (f *flags) validateWorkers(given map[string]bool) error {
	if given["submit"] && f.submit != "slurm" {
		return usageError(fmt.Errorf("-submit %q: the only batch system is slurm", f.submit))
	}
	if given["submit"] && !given["workers"] {
		return usageError(errors.New("-submit needs -workers N\nhint: such as -workers 10"))
	}
	if given["workers"] && !given["submit"] && !given["worker"] {
		return usageError(errors.New("-workers has no effect without -submit or -worker\nhint: -worker makes this process one of several"))
	}
	if given["for"] && f.limit <= 0 {
		return usageError(fmt.Errorf("-for %v: must be positive\nhint: %s", f.limit, limitForm))
	}
	return nil
}

// spread waits for a random time if several workers start together, so that they do not all read
// the folder at once.
func (f *flags) spread(ctx context.Context) error {
	if !f.worker || f.workers < 2 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(rand.N(min(time.Duration(f.workers)*2*time.Second, 2*time.Minute))):
		return nil
	}
}

// printJob prints a job of workers for the remaining runs of a plan.
func (f *flags) printJob(out io.Writer, p *engine.Plan, s *store.Store) error {
	threads := cmp.Or(f.threads, workerThreads)
	forecasts, err := engine.Forecasts(p, s, f.retry, false)
	if err != nil {
		return err
	}
	var left []engine.Forecast
	for _, one := range forecasts {
		if one.State != engine.Done && one.State != engine.Failed {
			left = append(left, one)
		}
	}
	if len(left) == 0 {
		return usageError(errors.New("-submit: there are no runs left to compute\nhint: -plan lists them, and -collect shows the results"))
	}
	args := f.passedOn()
	collect := append(args[:len(args):len(args)], "-collect")
	if !f.retry.IsZero() { // workers must not retry each other's failures
		args = append(args, "-retry="+f.retry.UTC().Format(time.RFC3339))
	}
	var names []string
	for one := range strings.SplitSeq(f.exp, ",") {
		names = append(names, strings.TrimSuffix(filepath.Base(strings.TrimSpace(one)), ".toml"))
	}
	job := submit.Job{
		Name:  submit.Name(strings.Join(names, "-")),
		About: fmt.Sprintf("%s the remaining %s of %s.", report.Count(f.workers, "worker computes", "workers compute"), report.Count(len(left), "run", "runs"), f.exp),
		Work:  append(args, "-worker", "-workers", strconv.Itoa(f.workers), "-threads", strconv.Itoa(threads)), Collect: collect,
		Program: program(), Workers: f.workers, CPUs: threads,
		Memory: cmp.Or(int64(math.Ceil(1.5*memoryOf(left, 1)/(1<<28)))<<28, workerMemory),
		Limit:  cmp.Or(f.limit, workerLimit),
	}
	job.Work = append(job.Work, "-for", shortTime(job.Limit))
	return submit.Print(progress.Screen(out), job) // the shell needs the exact bytes
}

// passedOn returns the flags for the workers and the tables job.
func (f *flags) passedOn() []string {
	args := []string{"-exp", f.exp}
	if f.profile != experiment.DefaultProfile {
		args = append(args, "-profile", f.profile)
	}
	if f.seeds > 0 {
		args = append(args, "-seeds", strconv.Itoa(f.seeds))
	}
	for _, one := range f.set {
		args = append(args, "-set", one)
	}
	if f.only != "" {
		args = append(args, "-only", f.only)
	}
	if f.data != "" {
		args = append(args, "-data", f.data)
	}
	if f.out != "results" {
		args = append(args, "-out", f.out)
	}
	if f.also != "" {
		args = append(args, "-also", f.also)
	}
	if f.offline {
		args = append(args, "-offline")
	}
	return args
}

// program returns the command that started this program. "go run" builds a program in a temporary
// folder or in the cache of Go, where it is soon deleted and not visible to other machines.
func program() string {
	places := []string{filepath.Join(os.TempDir(), "go-build"), os.Getenv("GOCACHE")}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(cache, "go-build"))
	}
	if slices.ContainsFunc(places, func(p string) bool { return p != "" && strings.HasPrefix(os.Args[0], p) }) {
		return "./dgkip"
	}
	return os.Args[0]
}

// shortTime omits units that are zero.
func shortTime(d time.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}
