package cli

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"text/tabwriter"
	"time"

	"dgkip/harness/data"
	"dgkip/harness/engine"
	"dgkip/harness/env"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/spec"
	"dgkip/harness/store"
	"dgkip/harness/tensor"
)

// printList prints what there is, one line each.
func (f *flags) printList(out io.Writer) error {
	names, err := experiments()
	if err != nil {
		return usageError(err)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "experiments")
	for _, name := range names {
		s, err := spec.ReadFile(filepath.Join(experimentsDir, name+".toml"), spec.Options{Profile: f.profile, Datasets: data.Names()})
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
	fmt.Fprintln(w, "  desk\treal data, shortened where a desktop needs it (default)")
	fmt.Fprintln(w, "  paper\tthe published sizes and schedules")
	return w.Flush()
}

// printPlan prints what would run.
func printPlan(out io.Writer, p *engine.Plan, s *store.Store) error {
	forecasts, err := engine.Forecasts(p, s, speed())
	if err != nil {
		return err
	}
	count := map[engine.State]int{}
	var total time.Duration
	var memory int64
	unknown := 0
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "run\tstate\ttime\tfrom")
	for i, r := range p.Runs {
		f := forecasts[i]
		count[f.State]++
		name := map[engine.State]string{engine.Missing: "to do", engine.Done: "done", engine.Failed: "failed", engine.Begun: "begun"}[f.State]
		if f.State == engine.Done || f.State == engine.Failed {
			fmt.Fprintf(w, "%s\t%s\t\t\n", r.Name(), name)
			continue
		}
		memory = max(memory, f.Bytes)
		if f.Basis == "" {
			unknown++
			fmt.Fprintf(w, "%s\t%s\tunknown\t\n", r.Name(), name)
			continue
		}
		total += f.Time
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name(), name, progress.Short(f.Time), f.Basis)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d runs: %d done, %d begun, %d to do, %d failed\n", len(p.Runs), count[engine.Done], count[engine.Begun], count[engine.Missing], count[engine.Failed])
	if left := count[engine.Begun] + count[engine.Missing]; left > 0 {
		fmt.Fprintf(out, "time for the rest, one at a time: about %s", progress.Short(total))
		if unknown > 0 {
			fmt.Fprintf(out, ", and %d runs of which nothing is known yet", unknown)
		}
		fmt.Fprintln(out)
		if memory > 0 {
			fmt.Fprintf(out, "memory: at least %.1f GB at the peak", float64(memory)/1e9)
			if have := env.Read().Memory; have > 0 {
				fmt.Fprintf(out, "; this machine has %.1f GB", float64(have)/1e9)
			}
			fmt.Fprintln(out)
		}
	}
	return nil
}

// speed measures what this machine makes of a product of matrices, and takes half
// of it for granted.
func speed() engine.Speed {
	const n = 512
	a, b, c := tensor.NewMat[float32](n, n), tensor.NewMat[float32](n, n), tensor.NewMat[float32](n, n)
	for i := range a.Data {
		a.Data[i], b.Data[i] = float32(i%7)-3, float32(i%5)-2
	}
	best := math.Inf(1)
	for from := time.Now(); time.Since(from) < 100*time.Millisecond; {
		start := time.Now()
		tensor.Mul(c, a, b, tensor.NN, false)
		best = min(best, time.Since(start).Seconds())
	}
	return engine.Speed(0.5 * 2 * n * n * n / best)
}
