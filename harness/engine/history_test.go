package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "dgkip/baselines/all"
	"dgkip/harness/data"
	"dgkip/harness/engine"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// The records that come with the program foretell each other: runs are forecast from
// those of other cells.
func TestForecastOfRecords(t *testing.T) {
	kept := store.Open(filepath.Join("..", "..", "results"))
	known, err := kept.Datasets()
	if err != nil {
		t.Fatal(err)
	}
	var specs []*spec.Spec
	for _, name := range []string{"table1", "table2", "table3"} {
		s, err := spec.ReadFile(filepath.Join("..", "..", "experiments", name+".toml"), spec.Options{Profile: "desk", Datasets: data.Names()})
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	p, err := engine.Lookup{Known: known}.Make(context.Background(), specs, spec.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*engine.Run{}
	for _, r := range p.Runs {
		byName[r.Name()] = r
	}
	some := linked(t, kept)
	forecast := func(name string, on *store.Record) engine.Forecast {
		t.Helper()
		made := on.Provenance.Sessions[0]
		m := engine.Machine{Threads: 2, CPU: made.Host.CPU, Kernels: made.Kernels, Speed: func() float64 { return 50e9 }}
		out, err := engine.Forecasts(&engine.Plan{Runs: []*engine.Run{byName[name]}}, some, m, time.Time{}, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.0f s from %s", name, out[0].Seconds, out[0].Basis)
		return out[0]
	}
	for _, name := range []string{
		"mnist dgkip-lr fc ipc 1 seed 0", "cifar-10 dgkip-ls conv ipc 50 seed 0", "fashion-mnist dgkip-svm fc ipc 50 seed 0",
		"mnist dd conv ipc 10 seed 0", "mnist dsa fc ipc 10 seed 0", "mnist dgkip-lr conv ipc 50 seed 0",
	} {
		r := byName[name]
		record, err := kept.Get(r.Key)
		if err != nil {
			t.Fatal(err)
		}
		if record.Provenance.Timing.Shared {
			t.Fatalf("%s was made beside other runs, and took longer than it does alone", name)
		}
		if err := os.Remove(filepath.Join(some.Dir(), "runs", r.Key[:2], r.Key)); err != nil {
			t.Fatal(err)
		}
		if f := forecast(name, record).Seconds / record.Provenance.Wall; !(f > 0.5 && f < 2) {
			t.Errorf("%s took %.0f s, %.2g times as long was forecast", name, record.Provenance.Wall, f)
		}
	}
}

// linked returns a store with the records of another one for seed 0.
func linked(t *testing.T, kept *store.Store) *store.Store {
	t.Helper()
	s := store.Open(t.TempDir())
	keys, err := kept.Keys()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		record, err := kept.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		if record.Result.Identity.Seed != 0 {
			continue
		}
		from, err := filepath.Abs(record.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(s.Dir(), "runs", key[:2]), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(s.Dir(), "runs", key[:2], key)); err != nil {
			t.Skipf("SKIPPED: %v", err)
		}
	}
	return s
}
