package engine_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "dgkip/baselines/all"
	"dgkip/harness/data"
	"dgkip/harness/engine"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// Workers on all of tables 1 and 2 at the published sizes, by the forecasts from the
// records that come with the program.
func TestOutlookOfPaper(t *testing.T) {
	kept := store.Open(filepath.Join("..", "..", "results"))
	known, err := kept.Datasets()
	if err != nil {
		t.Fatal(err)
	}
	var specs []*spec.Spec
	for _, name := range []string{"table1", "table2"} {
		s, err := spec.ReadFile(filepath.Join("..", "..", "experiments", name+".toml"), spec.Options{Profile: "paper", Datasets: data.Names()})
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	p, err := engine.Lookup{Known: known}.Make(context.Background(), specs, spec.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	forecasts, err := engine.Forecasts(p, kept, engine.Machine{Threads: 2, Speed: func() float64 { return 50e9 }}, time.Now(), false)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range p.Runs { // those that are done count as well
		if record, err := kept.Get(r.Key); err == nil {
			forecasts[i] = engine.Forecast{Seconds: record.Provenance.Wall, Basis: "the record"}
		}
	}
	readme, err := os.ReadFile(filepath.Join("..", "submit", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`are (\d+) days of work for one worker\nof two cores. 10 workers take (\d+) days, 30 take (\d+), and 50 or more take (\d+): one run \((\w+)\nwith ConvNets and 50 images a class\)`).FindStringSubmatch(string(readme))
	if said == nil {
		t.Fatal("harness/submit/README.md does not say how long workers take")
	}
	for i, workers := range []int{1, 10, 30, 50} {
		o := engine.NewOutlook(p, forecasts, workers)
		if want, _ := strconv.ParseFloat(said[i+1], 64); math.Abs(o.Seconds/86400-want) > 0.1*want || o.Last.Cell.Column != strings.ToLower(said[5]) {
			t.Errorf("%d workers take %.1f days, with %s, and harness/submit/README.md says %s", workers, o.Seconds/86400, o.Last.Name(), said[i+1])
		}
	}
	most := 0.0
	for _, f := range forecasts {
		most = max(most, f.Shared)
	}
	t.Logf("%d runs; what a group shares takes %.0f s at most", len(p.Runs), most)
	if len(p.Runs) != 1230 || most > 180 {
		t.Errorf("%d runs, of which some share what takes %.0f s", len(p.Runs), most)
	}
	for _, workers := range []int{1, 10, 30, 50, 100, 1000} {
		o := engine.NewOutlook(p, forecasts, workers)
		t.Logf("%4d workers: %5.1f days, %2.0f %% idle; work %.1f days; longest %.1f days, %s", workers, o.Seconds/86400, 100*o.Idle, o.Work/86400, o.Chain/86400, o.Last.Name())
		least := max(o.Chain, o.Work/float64(workers))
		if !(o.Seconds >= 0.999*least && o.Seconds <= o.Chain+o.Work/float64(workers)) {
			t.Errorf("%d workers take %v s, and the least is %v s", workers, o.Seconds, least)
		}
	}
}

// Each width of networks drawn anew is paid for, by the first run that is scored in it.
func TestForecastsOfDraws(t *testing.T) {
	known, err := store.Open(filepath.Join("..", "..", "results")).Datasets()
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.ReadFile(filepath.Join("..", "..", "experiments", "widths.toml"), spec.Options{Datasets: data.Names()})
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Lookup{Known: known}.Make(context.Background(), []*spec.Spec{s}, spec.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	forecasts, err := engine.Forecasts(p, store.Open(t.TempDir()), engine.Machine{Threads: 2, Speed: func() float64 { return 50e9 }}, time.Time{}, false)
	if err != nil {
		t.Fatal(err)
	}
	paid := map[string]bool{}
	for i, r := range p.Runs {
		of, twin := r.Cell.Net.Kind+r.Cell.Point["eval.fresh.width"], r.Cell.Point["method"] == "random-ls"
		if seconds := forecasts[i].Seconds; !paid[of] && seconds < 1 {
			t.Errorf("%s: %v seconds, but nobody has drawn these networks before", r.Name(), seconds)
		} else if paid[of] && twin && seconds > 1 {
			t.Errorf("%s: %v seconds, where other runs have paid for all that it needs", r.Name(), seconds)
		}
		paid[of] = true
	}
	if len(paid) != 8 {
		t.Errorf("%d kinds and widths, want 8", len(paid))
	}
}
