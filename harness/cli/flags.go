package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dgkip/harness/experiment"
	"dgkip/harness/store"
	"dgkip/harness/suggest"
)

const usage = `Dataset distillation by the duality gap, compared with other methods.

  go run . -exp NAME          compute the missing runs, then show the results
  go run . -exp NAME,NAME     several experiments; -exp all for every one
  go run . -exp PATH.toml     your own experiment, from any folder
  go run . -list              experiments, methods, protocols, datasets, profiles, the commit
  go run . -list NAME         settings of a method or protocol, of "model", or keys of
                              "table", "figure" and the like: defaults and choices

What to run
  -profile NAME   smoke, short (default) or full: the size of everything
  -seeds N        number of seeds, replacing the number in the experiment
  -only FILTER    such as 'method:random dataset:mnist ipc:(1 10) -model:fc'
  -set KEY=VALUE  change a setting, such as method.dgkip-ls.rate=0.02; any number of
                  times. Tables and figures then have names that end in -set
  -retry          also retry failed runs (-retry=TIME: if they failed before TIME)
  -force          compute all runs again and replace their records
Instead of running
  -show           print all settings of the selected cells, and where each is set
  -plan           print what would run, what is done, and how long the rest may
                  take; with -force, as if nothing were done
  -collect        write tables and figures from the records; compute nothing
  -verify N       compute N recorded runs again and compare them with their records
  -eval FILE      score a distilled set from a file by the experiment's protocols
  -export FORMAT DIR  write the sets of records to DIR, one file each, with a
                  README.md; FORMAT is pt (PyTorch), npz, half (npz with
                  float16 images) or png (pictures, without README.md)
Checks and outputs
  -check          exit with 3 if, without a stated reason, a claim fails or an
                  accuracy is lower than published, or if nothing can be judged
  -paper          write the tables, figures and numbers that paper/paper.tex uses
                  to paper/generated, and paper/paper.pdf if LaTeX is installed;
                  works without -exp
  -out DIR        folder of records, tables and figures (default results)
  -also DIR,DIR   also use the records in other folders, without writing there
  -quiet          show no progress, and fewer notes
Machine and data
  -jobs N         compute N sets at a time; tables then flag their times (default: one
                  per processor if all runs are small and no times are shown, else 1;
                  1 with -verify and -eval)
  -threads M      threads of all sets together (default: all processors)
  -data DIR       folder of the datasets, searched before $DGKIP_DATA
  -offline        download nothing
One of several machines
  -worker         compute runs that no other process has claimed, then exit
                  without writing tables
  -for 55m        stop after this time, save, and exit with 75; the same command
                  continues
  -workers N      number of workers for -submit; with -worker, the number of workers
                  that start together, each after a random wait
  -submit slurm   print a Slurm job of -workers N, without submitting it
  -merge DIR...   copy the records of other folders, such as parts computed on
                  other machines with -only; must be the last flag

Exit codes: 0 done, 1 some runs failed, 2 usage, 3 a check failed,
75 stopped by -for or the signal USR1 (the same command continues), 130 interrupted.
`

type flags struct {
	library                                          library
	args                                             []string
	exp, profile, only, data, out, eval              string
	export, exportDir, also                          string
	about                                            string   // the argument of -list; "" for all
	set                                              []string // KEY=VALUE
	seeds, verify, jobs, threads                     int
	retry                                            time.Time // retry runs that failed before this time
	list, show, plan, collect, check, offline, force bool
	paper, quiet                                     bool

	// For work on several machines.
	worker  bool
	limit   time.Duration // of -for
	merge   string
	folders []string // of -merge
	submit  string
	workers int
}

func parseFlags(l library, args []string) (*flags, error) {
	f := &flags{library: l, args: args}
	set := flag.NewFlagSet("dgkip", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.exp, "exp", "", "")
	set.StringVar(&f.profile, "profile", experiment.DefaultProfile, "")
	set.StringVar(&f.only, "only", "", "")
	set.StringVar(&f.data, "data", "", "")
	set.StringVar(&f.out, "out", "results", "")
	set.StringVar(&f.also, "also", "", "")
	set.StringVar(&f.eval, "eval", "", "")
	set.StringVar(&f.export, "export", "", "")
	set.IntVar(&f.seeds, "seeds", 0, "")
	set.IntVar(&f.verify, "verify", 0, "")
	set.IntVar(&f.jobs, "jobs", 0, "")
	set.IntVar(&f.threads, "threads", 0, "")
	set.BoolVar(&f.list, "list", false, "")
	set.BoolVar(&f.plan, "plan", false, "")
	set.BoolVar(&f.show, "show", false, "")
	set.BoolVar(&f.collect, "collect", false, "")
	set.BoolVar(&f.check, "check", false, "")
	set.BoolVar(&f.offline, "offline", false, "")
	set.BoolFunc("retry", "", f.setRetry)
	set.BoolVar(&f.force, "force", false, "")
	set.BoolVar(&f.paper, "paper", false, "")
	set.BoolVar(&f.quiet, "quiet", false, "")
	set.Func("set", "", func(one string) error { f.set = append(f.set, one); return nil })
	set.BoolVar(&f.worker, "worker", false, "")
	set.DurationVar(&f.limit, "for", 0, "")
	set.StringVar(&f.merge, "merge", "", "")
	set.StringVar(&f.submit, "submit", "", "")
	set.IntVar(&f.workers, "workers", 0, "")
	if name := twice(set, args); name != "" {
		return nil, usageError(fmt.Errorf("-%s is given twice\nhint: join lists by commas, as in -exp table1,table2", name))
	}
	err := set.Parse(args)
	if rest := set.Args(); err == nil && len(rest) > 0 && (f.export != "" || f.list) { // the argument of -export or -list
		f.exportDir, f.about = rest[0], rest[0]
		err = set.Parse(rest[1:])
	}
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		message := err.Error()
		if name, unknown := strings.CutPrefix(message, "flag provided but not defined: -"); unknown {
			var names []string
			set.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
			hint := "-h lists the flags"
			if n := suggest.Name(name, names); n != "" {
				hint = fmt.Sprintf("did you mean -%s?", n)
			}
			message = fmt.Sprintf("unknown flag -%s\nhint: %s", name, hint)
		} else if strings.Contains(message, "for flag -for:") {
			message += "\nhint: " + limitForm
		} else {
			message += "\nhint: -h lists the flags"
		}
		return nil, usageError(errors.New(message))
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return f, f.validate(set.Args(), given)
}

// twice returns the name of a flag that is given twice, or "". The second value would silently replace
// the first. Only -set may be repeated.
func twice(set *flag.FlagSet, args []string) string {
	given := map[string]bool{}
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if !strings.HasPrefix(arg, "-") || set.Lookup(name) == nil {
			continue // a value
		}
		if given[name] && name != "set" {
			return name
		}
		given[name] = true
	}
	return ""
}

func (f *flags) validate(rest []string, given map[string]bool) error {
	rest, err := f.validateMerge(rest, given)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		hint := "write the value of a flag after a space or =, and join lists by commas"
		if given["retry"] {
			hint = "write a time after =, as in -retry=2026-01-31T15:00:00Z"
		}
		if _, err := fs.Stat(f.library, experimentsDir+"/"+rest[0]+".toml"); err == nil {
			hint = "did you mean -exp " + rest[0] + "?"
		}
		if given["only"] {
			hint = "put the filter in quotes: -only 'method:random ipc:1'"
		}
		return usageError(fmt.Errorf("unexpected argument %q\nhint: %s", rest[0], hint))
	}
	if known := experiment.Profiles(); !slices.Contains(known, f.profile) {
		return usageError(fmt.Errorf("unknown profile %q\nhint: %s", f.profile, suggest.Hint(f.profile, known)))
	}
	if f.paper && f.profile == "smoke" {
		return usageError(errors.New("-paper: the report needs real data, which profile smoke does not have\nhint: omit -profile smoke; -paper also works without records"))
	}
	for _, one := range []struct {
		name string
		n    int
		most int
	}{{"seeds", f.seeds, 1000}, {"verify", f.verify, math.MaxInt}, {"jobs", f.jobs, 1000}, {"threads", f.threads, 1000}, {"workers", f.workers, 1000}} {
		if given[one.name] && one.n < 1 {
			return usageError(fmt.Errorf("-%s %d: must be at least 1", one.name, one.n))
		}
		if one.n > one.most {
			return usageError(fmt.Errorf("-%s %d: at most %d", one.name, one.n, one.most))
		}
	}
	if err := f.validateWorkers(given); err != nil {
		return err
	}
	if err := oneMode(given); err != nil {
		return err
	}
	if f.paperAlone() {
		given["paper alone"] = true
	}
	if given["only"] && strings.TrimSpace(f.only) == "" {
		return usageError(errors.New("-only is empty\nhint: write it like 'method:random dataset:mnist ipc:(1 10)'; without -only all runs are selected"))
	}
	if given["export"] && !slices.Contains(exportFormats, f.export) {
		return usageError(fmt.Errorf("-export: unknown format %q\nhint: %s", f.export, suggest.Hint(f.export, exportFormats)))
	}
	if given["export"] && f.exportDir == "" {
		return usageError(fmt.Errorf("-export takes a format and a folder\nhint: such as -export pt sets; formats are %s", strings.Join(exportFormats, ", ")))
	}
	if err := useless(given); err != nil {
		return err
	}
	return f.validatePaths(given)
}

// validatePaths checks that files and folders in flags exist.
func (f *flags) validatePaths(given map[string]bool) error {
	if f.data != "" {
		if info, err := os.Stat(f.data); err != nil || !info.IsDir() {
			return usageError(fmt.Errorf("-data %s: there is no such folder\nhint: name the folder that holds the files of the datasets, or a subfolder for each", f.data))
		}
	}
	for _, one := range [][2]string{{"exp", f.exp}, {"data", f.data}, {"out", f.out}, {"also", f.also}, {"eval", f.eval}} {
		if given[one[0]] && one[1] == "" {
			return usageError(fmt.Errorf("-%s is empty\nhint: is a shell variable unset? omit the flag to use its default", one[0]))
		}
	}
	for _, dir := range f.others() {
		if _, err := os.ReadDir(filepath.Join(dir, "runs")); err != nil {
			return usageError(fmt.Errorf("-also: %w\nhint: give folders of records, as -out creates them", err))
		}
	}
	if f.eval != "" {
		if _, err := os.Stat(f.eval); err != nil {
			return usageError(fmt.Errorf("-eval: %w", err))
		}
	}
	return nil
}

// others returns the folders of -also.
func (f *flags) others() []string {
	if f.also == "" {
		return nil
	}
	return strings.Split(f.also, ",")
}

// store returns the folder of records.
func (f *flags) store() *store.Store { return store.Open(f.out, f.others()...) }

// setRetry sets the time before which failures are retried, by default now.
func (f *flags) setRetry(text string) error {
	if text == "true" { // -retry without a value
		f.retry = time.Now()
		return nil
	}
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errors.New("use -retry alone, or with a time like -retry=2026-01-31T15:00:00Z")
	}
	f.retry = when
	return nil
}

// oneMode refuses two modes at once.
func oneMode(given map[string]bool) error {
	var modes []string
	for _, name := range []string{"list", "show", "plan", "collect", "verify", "eval", "export", "merge", "submit"} {
		if given[name] {
			modes = append(modes, "-"+name)
		}
	}
	if len(modes) > 1 {
		return usageError(fmt.Errorf("%s cannot be combined\nhint: give one of them", strings.Join(modes, " and ")))
	}
	return nil
}

// noUse lists the flags that have no effect in a mode, contrary to what a user may expect. The
// flags -data, -out, -threads and -offline are not listed, so that scripts can always give them.
var noUse = []struct {
	mode, flags, hint string
}{
	{"list", "also set exp seeds only retry force check paper jobs worker for", "-list only lists, and runs nothing"},
	{"show", "retry force check paper jobs worker for", "-show prints settings, and runs nothing"},
	{"plan", "check paper worker for", "-plan only lists runs; without it they are computed"},
	{"collect", "retry force jobs worker for", "-collect computes no runs; without it they are computed"},
	{"verify", "retry force check paper worker for", "-verify compares records with repeated runs; -collect -check judges claims"},
	{"paper", "set seeds", "the paper shows the experiments as their files have them; leave out -set and -seeds"},
	{"paper alone", "retry force only jobs worker for", "-paper alone only uses existing records; with -exp NAME runs are computed first"},
	{"export", "retry force check paper jobs worker for", "-export only writes sets of existing records; without it runs are computed"},
	{"eval", "retry check paper jobs worker for", "-eval scores one file, and adds its scores to the records"},
	{"submit", "force check paper jobs worker", "-submit prints a job of workers, which compute the runs; -collect shows the results"},
	{"merge", "also set exp seeds only retry force check paper jobs worker for", "-merge copies all records of other folders; -collect shows them"},
	{"worker", "force", "every worker would compute all runs again; -force without -worker computes them once"},
	{"force", "for", "each start with -force computes all runs again but the one in progress, so with -for it might never finish"},
	{"worker", "check paper", "-worker only computes runs; -collect judges and shows them when all workers are done"},
}

func useless(given map[string]bool) error {
	for _, one := range noUse {
		if !given[one.mode] {
			continue
		}
		var names []string
		for name := range strings.FieldsSeq(one.flags) {
			if given[name] {
				names = append(names, "-"+name)
			}
		}
		if len(names) > 0 {
			return usageError(fmt.Errorf("-%s cannot be combined with %s\nhint: %s", one.mode, strings.Join(names, " and "), one.hint))
		}
	}
	return nil
}

// paperAlone reports whether -paper is the only task.
func (f *flags) paperAlone() bool {
	return f.paper && f.exp == "" && !f.plan && f.verify == 0 && f.eval == "" && f.export == ""
}

// load reads the requested experiments. It reports the mistakes of all of them.
func (f *flags) load() ([]*experiment.Spec, error) {
	names, problems := f.library.choose(f.exp)
	specs, err := f.readAll(names)
	problems = append(problems, err)
	for i, s := range specs {
		if slices.ContainsFunc(specs[:i], func(o *experiment.Spec) bool { return o.Name == s.Name }) {
			problems = append(problems, fmt.Errorf("-exp: two experiments have the name %s, and their tables would overwrite each other", s.Name))
		}
	}
	return specs, errors.Join(problems...)
}

// readAll reads experiments with the profile and the seeds of the command.
func (f *flags) readAll(names []string) ([]*experiment.Spec, error) {
	var specs []*experiment.Spec
	var problems []error
	for _, name := range names {
		s, err := f.library.read(name, f.profile, f.seeds, f.set)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		specs = append(specs, s)
	}
	return specs, errors.Join(problems...)
}

func (f *flags) filter(specs []*experiment.Spec) (experiment.Filter, error) {
	known := []string{"exp", "seed", "model"}
	for _, s := range specs {
		for _, a := range s.Axes {
			known = experiment.With(known, a.Name)
		}
	}
	filter, err := experiment.ParseFilter(f.only, known)
	if err != nil {
		return filter, fmt.Errorf("-only: %w\nhint: write it like 'method:random dataset:mnist ipc:(1 10)'", err)
	}
	if wrong := filter.Unmatched(axisValues(specs)); len(wrong) > 0 {
		return filter, fmt.Errorf("-only %q: %s", f.only, strings.Join(wrong, "; "))
	}
	if !selects(filter, specs) {
		return filter, fmt.Errorf("-only %q selects nothing\nhint: -plan without -only lists the runs", f.only)
	}
	return filter, nil
}

// selects reports whether a filter selects any run of the experiments. It returns true if they have none.
func selects(filter experiment.Filter, specs []*experiment.Spec) bool {
	none := true
	for _, s := range specs {
		for _, c := range s.Cells {
			none = false
			for seed := range uint64(c.Seeds) {
				if filter.Matches(c.Of(seed)) {
					return true
				}
			}
		}
	}
	return none
}

// axisValues returns the values of the experiments' cells on an axis.
func axisValues(specs []*experiment.Spec) func(axis string) []string {
	return func(axis string) []string {
		var values []string
		for _, s := range specs {
			if axis == "seed" {
				for seed := range s.Seeds {
					values = experiment.With(values, strconv.Itoa(seed))
				}
			}
			for _, c := range s.Cells {
				if v, ok := c.At(axis); ok {
					values = experiment.With(values, v)
				}
			}
		}
		return values
	}
}
