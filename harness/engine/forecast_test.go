package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/method"
	"dgkip/harness/store"
)

// forecasts returns the forecasts by the names of runs.
func forecasts(t *testing.T, p *engine.Plan, s *store.Store, retry time.Time) map[string]engine.Forecast {
	t.Helper()
	list, err := engine.Forecasts(p, s, retry, false)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]engine.Forecast{}
	for i, r := range p.Runs {
		out[r.Name()] = list[i]
	}
	return out
}

// planted stores an invented record.
func planted(t *testing.T, s *store.Store, r *engine.Run, change func(*store.Provenance)) {
	t.Helper()
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	p := store.Provenance{Wall: 100}
	change(&p)
	_, err := s.Put(store.Draft{
		Result: store.Result{Identity: r.Identity, Metrics: map[string]float64{"test_acc": 1}}, Set: &method.Distilled{Whole: true}, Provenance: p,
	}, false)
	if err != nil {
		t.Fatal(err)
	}
}

const kindsText = `schema = 1
name = "t"
title = "T"
[grid]
dataset = ["a", "b"]
ipc = [1, 2]
method = ["walk", "long"]
[method.long]
use = "walk"
updates = 60
[seeds]
count = 2
`

func TestForecasts(t *testing.T) {
	p, s := plan(t, kindsText), store.Open(t.TempDir())
	byName := map[string]*engine.Run{}
	for _, r := range p.Runs {
		byName[r.Name()] = r
	}
	for name, f := range forecasts(t, p, s, time.Time{}) {
		if f != (engine.Forecast{}) {
			t.Errorf("%s: %+v without records", name, f)
		}
	}
	for name, wall := range map[string]float64{"a walk conv ipc 1 seed 0": 100, "b walk conv ipc 1 seed 0": 300} {
		planted(t, s, byName[name], func(p *store.Provenance) { p.Wall, p.Scoring, p.Memory = wall, 20, int64(wall)*1e6 })
	}
	f := forecasts(t, p, s, time.Time{})
	for name, want := range map[string]engine.Forecast{
		"a walk conv ipc 1 seed 0": {State: engine.Done},
		"a walk conv ipc 1 seed 1": {Seconds: 100, Bytes: 100e6, Basis: "the same cell"},
		"b walk conv ipc 1 seed 1": {Seconds: 300, Bytes: 300e6, Basis: "the same cell"},
		"a long conv ipc 1 seed 0": {Seconds: 820, Bytes: 100e6, Basis: "similar runs"}, // ten times the updates, but the same scoring
		"a walk conv ipc 2 seed 0": {},
	} {
		if f[name] != want {
			t.Errorf("%s: %+v, want %+v", name, f[name], want)
		}
	}
}

func TestForecastOfFailures(t *testing.T) {
	p, s := plan(t, kindsText), store.Open(t.TempDir())
	r := p.Runs[0]
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := s.Fail(store.Failure{Identity: r.Identity, Kind: "error", When: time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	if f := forecasts(t, p, s, time.Time{})[r.Name()]; f != (engine.Forecast{State: engine.Failed}) {
		t.Errorf("a failed run: %+v", f)
	}
	if f := forecasts(t, p, s, time.Now())[r.Name()]; f.State != engine.Missing || !f.Again {
		t.Errorf("a failed run to retry: %+v", f)
	}
	// Failed by a clock that is two hours ahead.
	if err := s.Fail(store.Failure{Identity: r.Identity, Kind: "error", When: time.Now().Add(2 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for retry, want := range map[time.Time]engine.State{{}: engine.Failed, time.Now(): engine.Missing} {
		if f := forecasts(t, p, s, retry)[r.Name()]; f.State != want {
			t.Errorf("failed in the future, retry %v: %+v", retry, f)
		}
	}
	if soon := (&store.Failure{When: time.Now().Add(time.Minute)}); soon.Before(time.Now()) {
		t.Error("a failure by a clock that is a minute ahead is always retried")
	}
	if err := s.SaveCheckpoint(engine.Jobs(p.Runs[:1])[0].Key, []byte("state")); err != nil {
		t.Fatal(err)
	}
	if f := forecasts(t, p, s, time.Now())[r.Name()]; f.State != engine.Begun || !f.Again {
		t.Errorf("a failed run with a checkpoint to retry: %+v", f)
	}
}

// If a set is recorded, or distilled by an earlier run of the plan, the forecast covers only the
// scoring.
func TestForecastsOfTwins(t *testing.T) {
	alone := strings.Replace(text, "score = 3", "score = 0", 1)
	p := plan(t, strings.Replace(alone, "[eval]", "\"eval.half.way\" = [false, true]\n[eval]", 1))
	byName := map[string]*engine.Run{}
	for _, r := range p.Runs {
		byName[r.Name()] = r
	}
	const one, twin = "a walk conv ipc 1 eval.half.way false seed ", "a walk conv ipc 1 eval.half.way true seed "
	s := store.Open(t.TempDir())
	r := byName[one+"0"]
	planted(t, s, r, func(p *store.Provenance) { p.Scoring = 5 })
	f := forecasts(t, p, s, time.Time{})
	for name, want := range map[string]float64{one + "1": 100, twin + "1": 5, twin + "0": 100} {
		if f[name].Seconds != want {
			t.Errorf("%s: %v s, want %v", name, f[name].Seconds, want)
		}
	}
	record, err := s.Get(r.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(record.Dir, store.SetFile), nil, 0o666); err != nil { // the record has no set until now
		t.Fatal(err)
	}
	if got := forecasts(t, p, s, time.Time{})[twin+"0"].Seconds; got != 5 {
		t.Errorf("with its set on record: %v s, want 5", got)
	}
}
