package engine_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/store"
)

var raceDetector bool // set if the tests are built with it

// Runs share the training images. If a method changes them, all runs stop, and nothing is recorded
// or kept.
func TestChangedImages(t *testing.T) {
	change := strings.Replace(text, "[eval]", "[method.walk]\nwrong = \"data\"\n[eval]", 1)
	for _, jobs := range []int{1, 3} {
		if jobs > 1 && raceDetector {
			continue // the fault under test is a data race
		}
		p, s := plan(t, change), store.Open(t.TempDir())
		o := options()
		o.Jobs = jobs
		_, err := engine.Execute(context.Background(), p, s, o)
		if err == nil || !strings.Contains(err.Error(), "the training images were changed") || !strings.Contains(err.Error(), "walk") || !strings.Contains(err.Error(), filepath.Join(s.Dir(), "work", "cache")) {
			t.Errorf("%d jobs: %v", jobs, err)
		}
		if keys, err := s.Keys(); len(keys) > 0 || err != nil {
			t.Errorf("%d jobs: %d records, %v", jobs, len(keys), err)
		}
	}
	for update := range 6 {
		p, s := plan(t, change), store.Open(t.TempDir())
		o := options()
		o.CheckpointEvery = time.Nanosecond
		interrupt(p, s, o, at(update))
		if out, err := engine.Execute(context.Background(), p, s, o); err == nil || out.Computed > 0 {
			t.Errorf("interrupted before update %d, a run continued with changed images: %+v, %v", update, out, err)
		}
	}
}
