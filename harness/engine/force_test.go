package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dgkip/harness/engine"
	"dgkip/harness/store"
)

func checkpoints(t *testing.T, s *store.Store) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(s.Dir(), "work", "checkpoints"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func sessions(t *testing.T, s *store.Store, key string) int {
	t.Helper()
	r, err := s.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	return len(r.Provenance.Sessions)
}

// An interrupted forced run continues from its own state, and from no other.
func TestForceInterrupted(t *testing.T) {
	p := plan(t, text)
	s, first := store.Open(t.TempDir()), p.Runs[0].Key
	stop := func(s *store.Store, o engine.Options, update int) {
		t.Helper()
		if _, err := interrupt(p, s, o, at(update)); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	force := options()
	force.Force = true
	stop(s, options(), 5) // a state that -force must not use
	stop(s, force, 3)
	if names := checkpoints(t, s); len(names) != 1 {
		t.Fatalf("checkpoints %q", names)
	}
	execute(t, p, s, force)
	if n := sessions(t, s, first); n != 2 {
		t.Errorf("%d sessions, want the two forced ones", n)
	}
	if names := checkpoints(t, s); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
	// Without a record, a run without force continues from a forced state.
	other := store.Open(t.TempDir())
	stop(other, force, 3)
	execute(t, p, other, options())
	if n := sessions(t, other, first); n != 2 || len(checkpoints(t, other)) != 0 {
		t.Errorf("without a record: %d sessions, checkpoints %q", n, checkpoints(t, other))
	}
}

// A result that cannot be recorded only fails its own run.
func TestBadDraft(t *testing.T) {
	bad := strings.Replace(text, `["walk"]`, `["walk", "odd"]`, 1) + "[method.odd]\nuse = \"walk\"\nwrong = \"beyond\"\n"
	p, s := plan(t, bad), store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out != (engine.Outcome{Computed: 8, Failed: 8, Broke: 8}) {
		t.Errorf("outcome %+v", out)
	}
	for _, r := range p.Runs {
		f := s.Failed(r.Key)
		if odd := r.Cell.Column == "odd"; odd != (f != nil) || odd && !strings.Contains(f.Message, "last.train_acc is 2") {
			t.Errorf("%s: %+v", r.Name(), f)
		}
	}
	if names := checkpoints(t, s); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
}

// An interruption while data is read is not a failure.
func TestInterruptedWhileLoading(t *testing.T) {
	p, s := plan(t, text), store.Open(t.TempDir())
	defer func() { loading = func(context.Context) {} }()
	ctx, cancel := context.WithCancel(context.Background())
	loading = func(context.Context) { cancel() }
	out, err := engine.Execute(ctx, p, s, options())
	if !errors.Is(err, context.Canceled) || out.Failed != 0 || out.Left != len(p.Runs) {
		t.Errorf("interrupted: %+v, %v", out, err)
	}
}
