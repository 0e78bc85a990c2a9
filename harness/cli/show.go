package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"dgkip/harness/data"
	"dgkip/harness/engine"
	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/report"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// printList prints everything that -list knows, one line each.
func (f *flags) printList(out io.Writer) error {
	names, err := f.library.names()
	if err != nil {
		return usageError(err)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	e := env.Read()
	fmt.Fprintf(w, "program\n  commit %s, %s; %s\n", e.Git.Commit, e.Git.State, e.Go)
	fmt.Fprintln(w, "experiments")
	for _, name := range names {
		s, err := f.library.read(name, f.profile, f.seeds, nil)
		about := ""
		if err != nil {
			about = "(has mistakes: -exp " + name + " shows them)"
		} else {
			about = s.Title
		}
		fmt.Fprintf(w, "  %s\t%s\n", name, about)
	}
	fmt.Fprintln(w, "methods")
	for _, name := range method.Names() {
		fmt.Fprintf(w, "  %s\t%s\n", name, method.New(name).Info().About)
	}
	fmt.Fprintln(w, "protocols")
	for _, name := range method.ProtocolNames() {
		fmt.Fprintf(w, "  %s\t%s\n", name, method.NewProtocol(name).Info().About)
	}
	fmt.Fprintln(w, "datasets")
	for _, name := range data.Names() {
		if info, err := data.Describe(name); err == nil {
			fmt.Fprintf(w, "  %s\t%s\n", name, info.Text)
		}
	}
	fmt.Fprintln(w, "profiles")
	fmt.Fprintln(w, "  smoke\tbuilt-in data, minutes: does everything work?")
	fmt.Fprintln(w, "  short\treal data, shortened for a desktop (default)")
	fmt.Fprintln(w, "  full\tthe schedules of the baselines' authors, five seeds: months")
	return w.Flush()
}

// printAbout prints the settings of a method, a protocol or networks, or the keys of a section:
// defaults, allowed values, and descriptions from the source.
func printAbout(out io.Writer, name string) error {
	var of any
	heading := "keys of [[" + name + "]]"
	switch m, p := method.New(name), method.NewProtocol(name); {
	case m != nil:
		of, heading = m, name+": "+m.Info().About+"\nsettings of [method."+name+"]"
	case p != nil:
		of, heading = p, name+": "+p.Info().About+"\nsettings of [eval."+name+"]"
	case name == "model":
		conv, _ := method.DefaultModel("conv")
		of, heading = &conv, "settings of [model.NAME], here of conv"
	case name == "table":
		of, heading = experiment.Section(name), "keys of [table]"
	default:
		of = experiment.Section(name)
	}
	if of == nil {
		known := slices.Concat(method.Names(), method.ProtocolNames(), []string{"model"}, experiment.SectionNames())
		return usageError(fmt.Errorf("-list: %q is not a method, a protocol or a section\nhint: %s", name, cmp.Or(suggest.Hint(name, known), "-list alone shows all names; -exp NAME -show shows the settings of an experiment")))
	}
	fmt.Fprintln(out, heading)
	for _, s := range toml.Declarations(of) {
		fmt.Fprintf(out, "  %s = %s   (%s)\n", s.Name, experiment.Canonical(s.Value), s.Allowed)
		if about := env.FieldComments(s.Of)[s.Field]; about != "" {
			fmt.Fprintf(out, "      %s\n", about)
		}
	}
	return nil
}

// printSettings prints all settings of the selected cells, and where each is set.
func printSettings(out io.Writer, specs []*experiment.Spec, only experiment.Filter) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range specs {
		for _, c := range s.Cells {
			seeds := 0
			for seed := range c.Seeds {
				if only.Matches(c.Of(uint64(seed))) {
					seeds++
				}
			}
			if seeds == 0 {
				continue
			}
			fmt.Fprintf(w, "%s", s.Name)
			for _, axis := range s.Axes {
				fmt.Fprintf(w, " %s:%s", axis.Name, c.Point[axis.Name])
			}
			fmt.Fprintf(w, " (%s)\n", report.Count(seeds, "seed", "seeds"))
			for _, part := range c.Parts() {
				fmt.Fprintf(w, "  %s %s\n", part.Kind, part.Name)
				for _, one := range part.Settings {
					fmt.Fprintf(w, "    %s\t%s\t%s\n", one.Name, experiment.Canonical(one.Value), cmp.Or(one.From, "default"))
				}
			}
		}
	}
	return w.Flush()
}

// printPlan prints what would run.
func (f *flags) printPlan(out io.Writer, wanted request) error {
	p, s := wanted.Plan, wanted.There
	forecasts, err := engine.Forecasts(p, s, f.retry, f.force)
	if err != nil {
		return err
	}
	state := map[engine.State]int{}
	total, unknown := 0.0, 0
	var left []engine.Forecast
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "run\tstate\ttime\tfrom")
	names, other := planNames(p.Runs), p.OtherCode(s)
	for i := range p.Runs {
		one := forecasts[i]
		state[one.State]++
		name := map[engine.State]string{engine.Missing: "to do", engine.Done: "done", engine.Failed: "failed", engine.Begun: "begun"}[one.State]
		if one.State == engine.Done && slices.Contains(other, p.Runs[i]) {
			name = "done, by different code"
		}
		if one.State == engine.Done || one.State == engine.Failed {
			fmt.Fprintf(w, "%s\t%s\t\t\n", names[i], name)
			continue
		}
		if one.Again {
			name += " again"
		}
		left = append(left, one)
		if one.Basis == "" {
			unknown++
			fmt.Fprintf(w, "%s\t%s\tunknown\t\n", names[i], name)
			continue
		}
		total += one.Seconds
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", names[i], name, progress.Seconds(one.Seconds), one.Basis)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d done, %d begun, %d to do, %d failed\n", report.Count(len(p.Runs), "run", "runs"), state[engine.Done], state[engine.Begun], state[engine.Missing], state[engine.Failed])
	if n := p.Coarse(s); n > 0 && !f.force {
		fmt.Fprintln(out, coarse(n))
	}
	if len(other) > 0 && !f.force {
		fmt.Fprintln(out, otherCode(other))
	}
	if state[engine.Failed] > 0 {
		fmt.Fprintln(out, "hint: -retry computes failed runs again; -plan -retry counts them here")
	}
	if len(left) == 0 {
		return nil
	}
	if unknown == len(left) {
		fmt.Fprintln(out, "time left: unknown, because no folder given by -out or -also has records of similar runs")
		return nil
	}
	fmt.Fprintf(out, "time left, one run at a time: %s", progress.Seconds(total))
	if unknown > 0 {
		fmt.Fprintf(out, " and %d unknown", unknown)
	}
	fmt.Fprintln(out, "; forecasts are medians of records from any machine")
	printMemory(out, left, f.atOnce(wanted))
	return nil
}

// planNames returns the names of runs. It adds the experiment if several runs have the same name.
func planNames(runs []*engine.Run) []string {
	out, count := make([]string, len(runs)), map[string]int{}
	for _, r := range runs {
		count[r.Name()]++
	}
	for i, r := range runs {
		if out[i] = r.Name(); count[out[i]] > 1 {
			out[i] += " (" + r.Cell.Exp + ")"
		}
	}
	return out
}

// printMemory prints how much memory the remaining runs may need, jobs of them at a time.
func printMemory(out io.Writer, left []engine.Forecast, jobs int) {
	need := memoryOf(left, jobs)
	if need == 0 {
		return // no record has a peak
	}
	at := ""
	if jobs > 1 {
		at = fmt.Sprintf(" with %d runs at a time", jobs)
	}
	fmt.Fprintf(out, "memory%s: about %s at the peak", at, bytesText(need))
	if have := env.Read().Memory; have > 0 {
		fmt.Fprintf(out, "; this machine has %s", bytesText(float64(have)))
	}
	fmt.Fprintln(out)
}

// memoryOf returns the memory that the remaining runs need according to records, jobs of them at a
// time, or 0 without records.
func memoryOf(left []engine.Forecast, jobs int) (need float64) {
	var peaks []float64
	for _, one := range left {
		peaks = append(peaks, float64(one.Bytes))
	}
	slices.Sort(peaks)
	for _, n := range peaks[max(0, len(peaks)-jobs):] {
		need += n
	}
	return need
}

// bytesText formats a size for readers.
func bytesText(n float64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.3g MB", n/1e6)
	}
	return fmt.Sprintf("%.1f GB", n/1e9)
}
