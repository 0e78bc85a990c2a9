package engine_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/method"
	"dgkip/harness/store"
)

// forecasts tells what is expected of a plan's runs by their names.
func forecasts(t *testing.T, p *engine.Plan, s *store.Store, speed float64, retry time.Time) map[string]engine.Forecast {
	t.Helper()
	list, err := engine.Forecasts(p, s, engine.Machine{Threads: 2, Speed: func() float64 { return speed }}, retry, false)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]engine.Forecast{}
	for i, r := range p.Runs {
		out[r.Name()] = list[i]
	}
	return out
}

// planted puts a record into the store as if a run had taken so long.
func planted(t *testing.T, s *store.Store, r *engine.Run, change func(*store.Provenance)) {
	t.Helper()
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	d := r.Data.Sizes
	p := store.Provenance{
		Wall: 100, Memory: 50e6, Timing: store.Timing{Median: 3, Counted: 28, Excluded: 2, Flops: 1e9},
		Dataset: store.Dataset{Shape: store.Shape{Train: d.Train, Test: d.Test, Height: d.H, Width: d.W, Channels: d.C}},
	}
	if change != nil {
		change(&p)
	}
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
dataset = ["a", "b", "large"]
ipc = [1, 2]
method = ["walk", "long"]
[method.walk]
flops = 1e9
[method.long]
use = "walk"
updates = 60
flops = 2e9
[seeds]
count = 2
`

func TestForecasts(t *testing.T) {
	p, s := plan(t, kindsText), store.Open(t.TempDir())
	planted(t, s, p.Runs[0], nil)
	if p.Runs[0].Name() != "a walk conv ipc 1 seed 0" {
		t.Fatalf("the first run is %s", p.Runs[0].Name())
	}
	f := forecasts(t, p, s, 1e9, time.Time{})
	for name, want := range map[string]engine.Forecast{
		"a walk conv ipc 1 seed 0": {State: engine.Done},
		"a walk conv ipc 1 seed 1": {Seconds: 100, Basis: "the same cell", Bytes: 50e6, Measured: true},
		"b walk conv ipc 1 seed 0": {Seconds: 100, Basis: "similar runs", Bytes: 50e6, Measured: true},
		// Twice the operations an update, and the rest as it was: 60*6 + 10.
		"a long conv ipc 1 seed 0": {Seconds: 370, Basis: "similar runs", Bytes: 50e6, Measured: true},
		// Other numbers of images and other shapes are similar as far as their operations go: 3*6 + 10.
		"a walk conv ipc 2 seed 0":     {Seconds: 28, Basis: "similar runs"},
		"large walk conv ipc 1 seed 0": {Seconds: 28, Basis: "similar runs"},
		"large long conv ipc 1 seed 0": {Seconds: 370, Basis: "similar runs"},
	} {
		if f[name] != want {
			t.Errorf("%s: %+v, want %+v", name, f[name], want)
		}
	}
	for name, one := range forecasts(t, p, s, 0, time.Time{}) {
		if one.Basis == "operations" {
			t.Errorf("%s: %+v without a measured speed", name, one)
		}
	}
}

// The speed of the machine is asked for only where no records say how long a run
// takes.
func TestForecastsAskForSpeed(t *testing.T) {
	p, s := plan(t, kindsText), store.Open(t.TempDir())
	asked := false
	speed := func() float64 { asked = true; return 1e9 }
	if _, err := engine.Forecasts(p, s, engine.Machine{Threads: 2, Speed: speed}, time.Time{}, false); err != nil || !asked {
		t.Errorf("without records: asked for the speed: %v, %v", asked, err)
	}
	planted(t, s, p.Runs[0], nil)
	asked = false
	if _, err := engine.Forecasts(p, s, engine.Machine{Threads: 2, Speed: speed}, time.Time{}, false); err != nil || asked {
		t.Errorf("with records: asked for the speed: %v, %v", asked, err)
	}
}

// Times are sums of what may be centuries, and nothing stops at the largest
// duration there is.
func TestForecastOfCenturies(t *testing.T) {
	p := plan(t, strings.NewReplacer("1e9", "1e300", "updates = 60", "updates = 60\nwrong = \"flops\"").Replace(kindsText))
	f := forecasts(t, p, store.Open(t.TempDir()), 1e9, time.Time{})
	if one := f["a walk conv ipc 1 seed 0"]; one.Seconds < 5.9e291 || one.Seconds > 6.1e291 || math.IsInf(one.Seconds, 0) {
		t.Errorf("got %+v", one)
	}
	if one := f["a long conv ipc 1 seed 0"]; one.Basis != "" || one.Seconds != 0 {
		t.Errorf("operations that are no number: %+v", one)
	}
}

// Peaks of processes with several runs at a time are a last resort, and the lowest
// of the others is nearest to a run's own.
func TestForecastOfMemory(t *testing.T) {
	p, s := plan(t, kindsText), store.Open(t.TempDir())
	byName := map[string]*engine.Run{}
	for _, r := range p.Runs {
		byName[r.Name()] = r
	}
	const want = "b long conv ipc 1 seed 1"
	for _, c := range []struct {
		run    string
		bytes  int64
		shared bool
		peak   int64
	}{
		{"a walk conv ipc 1 seed 0", 10e6, true, 10e6},
		{"a walk conv ipc 1 seed 1", 90e6, false, 90e6},
		{"b walk conv ipc 1 seed 0", 70e6, false, 70e6},
		{"b walk conv ipc 1 seed 1", 80e6, false, 70e6},
		{"a walk conv ipc 2 seed 0", 1e6, false, 70e6},
		{"large walk conv ipc 1 seed 0", 1e6, false, 70e6},
	} {
		planted(t, s, byName[c.run], func(p *store.Provenance) { p.Memory, p.Shared = c.bytes, c.shared })
		if f := forecasts(t, p, s, 0, time.Time{})[want]; f.Bytes != c.peak || !f.Measured {
			t.Errorf("after %s: %+v, want %d bytes", c.run, f, c.peak)
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
	if f := forecasts(t, p, s, 1e9, time.Time{})[r.Name()]; f != (engine.Forecast{State: engine.Failed, Again: true}) {
		t.Errorf("a failed run: %+v", f)
	}
	if f := forecasts(t, p, s, 1e9, time.Now())[r.Name()]; f.State != engine.Missing || !f.Again || f.Seconds != 6 {
		t.Errorf("one to be tried again: %+v", f)
	}
	// Failed by a clock that is ahead of this one.
	if err := s.Fail(store.Failure{Identity: r.Identity, Kind: "error", When: time.Now().Add(2 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for retry, want := range map[time.Time]engine.State{{}: engine.Failed, time.Now(): engine.Missing} {
		if f := forecasts(t, p, s, 1e9, retry)[r.Name()]; f.State != want {
			t.Errorf("failed in the future, retry %v: %+v", retry, f)
		}
	}
	if soon := (&store.Failure{When: time.Now().Add(time.Minute)}); soon.Before(time.Now()) {
		t.Error("what failed by a clock that is a minute ahead is tried again and again")
	}
	if err := s.SaveCheckpoint(r.Key, false, []byte("state")); err != nil {
		t.Fatal(err)
	}
	if f := forecasts(t, p, s, 1e9, time.Now())[r.Name()]; f.State != engine.Begun || !f.Again {
		t.Errorf("one with a checkpoint to be tried again: %+v", f)
	}
}

// What runs share is paid for once a group.
func TestForecastsShare(t *testing.T) {
	text := strings.Replace(kindsText, "flops = 1e9\n", "flops = 1e9\ncommon = 500e9\n", 1)
	f := forecasts(t, plan(t, text), store.Open(t.TempDir()), 1e9, time.Time{})
	for name, want := range map[string]float64{
		"a walk conv ipc 1 seed 0": 500 + 6, "a walk conv ipc 2 seed 0": 6, "a walk conv ipc 1 seed 1": 500 + 6,
		"b walk conv ipc 1 seed 0": 500 + 6, "b walk conv ipc 2 seed 1": 6,
	} {
		if got := f[name].Seconds; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v s, want %v", name, got, want)
		}
	}
}

// What a record's run prepared for others as well is no part of what the next one takes,
// and says how long that is for the first of a group.
func TestForecastsWithoutParts(t *testing.T) {
	text := strings.Replace(kindsText, "flops = 1e9\n", "flops = 1e9\ncommon = 200e9\n", 1)
	p, s := plan(t, text), store.Open(t.TempDir())
	planted(t, s, p.Runs[0], func(p *store.Provenance) {
		p.Wall, p.Parts = 600, []store.Part{{What: "features", Seconds: 300}, {What: "solving", Seconds: 200}}
	})
	for _, r := range p.Runs {
		if r.Name() == "a walk conv ipc 2 seed 0" { // it found the features ready
			planted(t, s, r, func(p *store.Provenance) {
				p.Wall, p.Parts = 110, []store.Part{{What: method.ReadingFeatures, Seconds: 10}}
			})
		}
	}
	f := forecasts(t, p, s, 1e9, time.Time{})
	for name, want := range map[string]float64{
		// Updates of 3 s each and 10 s beside them, and 500 s for the first of a group.
		"a walk conv ipc 1 seed 1": 500 + 100, "a walk conv ipc 2 seed 1": 100,
		"b walk conv ipc 1 seed 0": 500 + 100, "b walk conv ipc 2 seed 0": 100, "b long conv ipc 1 seed 0": 60*6 + 10,
	} {
		if got := f[name]; math.Abs(got.Seconds-want) > 1e-9 || math.Abs(got.Shared-500*float64(strings.Count(name, "walk conv ipc 1"))) > 1e-9 {
			t.Errorf("%s: %+v, want %v s", name, got, want)
		}
	}

	// A record of a set that another run made has the time of both, and its own parts alone.
	s = store.Open(t.TempDir())
	for _, r := range p.Runs {
		switch r.Name() {
		case "a walk conv ipc 1 seed 0":
			planted(t, s, r, func(p *store.Provenance) {
				p.Wall, p.Of, p.Parts = 610, "another", []store.Part{{What: "fresh networks", Seconds: 10}}
			})
		case "a walk conv ipc 2 seed 0":
			planted(t, s, r, func(p *store.Provenance) { p.Wall, p.Parts = 600, []store.Part{{What: "features", Seconds: 500}} })
		}
	}
	if got := forecasts(t, p, s, 1e9, time.Time{})["a walk conv ipc 1 seed 1"]; got.Seconds != 610 {
		t.Errorf("after a run that scored another one's set: %+v", got)
	}
}

// What comes between updates is no part of their times, and takes as often as they do.
func TestForecastsBetweenUpdates(t *testing.T) {
	p, s := plan(t, strings.Replace(kindsText, "flops = 1e9\n", "flops = 1e9\nbetween = 1e9\n", 1)), store.Open(t.TempDir())
	const long = "a long conv ipc 1 seed 0"
	if got := forecasts(t, p, s, 1e9, time.Time{})[long].Seconds; got != (2+1)*60 {
		t.Errorf("by operations: %v s", got)
	}
	planted(t, s, p.Runs[0], nil)
	if got := forecasts(t, p, s, 1e9, time.Time{})[long].Seconds; got != 60*6+2*10 {
		t.Errorf("by a record of 30 updates that took 3 s each and 10 s in all between them: %v s", got)
	}
}

// Records of the same settings count before others, which may have had more to prepare.
func TestForecastsPreferSettings(t *testing.T) {
	p, s := plan(t, kindsText), store.Open(t.TempDir())
	for _, r := range p.Runs {
		switch r.Name() {
		case "b long conv ipc 1 seed 0":
			planted(t, s, r, func(p *store.Provenance) { p.Wall = 1000 })
		case "large walk conv ipc 1 seed 0":
			planted(t, s, r, nil)
		}
	}
	if got := forecasts(t, p, s, 1e9, time.Time{})["a walk conv ipc 2 seed 0"].Seconds; got != 3*6+10 {
		t.Errorf("%v s", got)
	}
}

// Of a set that is on record, only the scoring is expected to take time.
func TestForecastsOfTwins(t *testing.T) {
	alone := strings.Replace(text, "score = 3", "score = 0", 1)
	p := plan(t, strings.Replace(alone, "[eval]", "\"eval.half.way\" = [false, true]\n[eval]", 1))
	s := store.Open(t.TempDir())
	r := p.Runs[0]
	planted(t, s, r, func(p *store.Provenance) { p.Timing.Median, p.Timing.Counted = 3, 4; p.Timing.Excluded = 2 })
	for _, other := range p.Runs[1:] {
		if !strings.HasPrefix(other.Name(), strings.Split(r.Name(), " eval")[0]) || other.Seed != r.Seed {
			continue
		}
		gone := forecasts(t, p, s, 1e9, time.Time{})[other.Name()]
		record, err := s.Get(r.Key)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(record.Dir, store.SetFile), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		twin := forecasts(t, p, s, 1e9, time.Time{})[other.Name()]
		without := forecasts(t, p, store.Open(t.TempDir()), 1e9, time.Time{})[other.Name()]
		if gone.Seconds < 17 || twin.Seconds > 1 || without.Seconds > 1 {
			t.Errorf("%s: %v seconds where its set was left out of the record, %v where it is there, %v where it is made before it", other.Name(), gone.Seconds, twin.Seconds, without.Seconds)
		}
		// Records of the same scoring say how long it takes.
		for _, seed := range p.Runs {
			if seed.Seed != r.Seed && strings.Split(seed.Name(), " seed")[0] == strings.Split(other.Name(), " seed")[0] {
				planted(t, s, seed, func(p *store.Provenance) { p.Scoring = 5 })
				if got := forecasts(t, p, s, 1e9, time.Time{})[other.Name()]; got.Seconds != 5 || got.Basis != "the same cell" {
					t.Errorf("%s: %+v, another seed's scoring took 5 s", other.Name(), got)
				}
				return
			}
		}
		t.Fatal("no other seed")
	}
	t.Fatal("no twin")
}
