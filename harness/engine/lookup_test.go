package engine_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/store"
)

// counting counts how often data is opened and loaded.
type counting struct {
	source
	opened, loaded map[string]int
	digest         string // replaces all digests unless it is ""
}

func (c *counting) Open(ctx context.Context, d experiment.Data) (*engine.Dataset, error) {
	c.opened[d.Name]++
	set, err := c.source.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	if c.digest != "" {
		set.Digest = c.digest
	}
	load := set.Load
	set.Load = func(ctx context.Context) (*method.Data, method.Images, error) {
		c.loaded[d.Name]++
		return load(ctx)
	}
	return set, nil
}

func newCounting() *counting {
	return &counting{opened: map[string]int{}, loaded: map[string]int{}}
}

func parsed(t *testing.T, text string) *experiment.Spec {
	t.Helper()
	s, err := experiment.Parse("t.toml", text, experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Keys of known data are known without opening it. Data is opened again only if needed.
func TestLookup(t *testing.T) {
	ctx, s := context.Background(), store.Open(t.TempDir())
	one := parsed(t, text)
	specs := []*experiment.Spec{one, parsed(t, text)}
	data := newCounting()
	lookup := func(l engine.Lookup) *engine.Plan {
		t.Helper()
		var err error
		if l.Known, err = s.Datasets(); err != nil {
			t.Fatal(err)
		}
		p, err := l.Make(ctx, specs, experiment.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	missing := func(r *engine.Run) bool { return !s.Has(r.Key) }
	if p := lookup(engine.Lookup{}); len(p.Runs) != 0 {
		t.Errorf("%d runs of unknown data are planned", len(p.Runs))
	}
	p := lookup(engine.Lookup{Source: data, Need: missing})
	execute(t, p, s, options())
	for _, name := range []string{"a", "b"} {
		if data.opened[name] != 1 || data.loaded[name] != 1 {
			t.Errorf("%s was opened %d times and loaded %d times", name, data.opened[name], data.loaded[name])
		}
	}
	for what, l := range map[string]engine.Lookup{"to collect": {}, "to plan": {Source: data}, "with all records": {Source: data, Need: missing}} {
		q := lookup(l)
		for _, c := range one.Cells {
			want, _ := p.Key(c, 1)
			if key, ok := q.Key(c, 1); !ok || key != want {
				t.Errorf("%s: key %q, %v", what, key, ok)
			}
		}
		if data.opened["a"] != 1 || len(q.Runs) != len(p.Runs) {
			t.Errorf("%s: opened %d times, %d runs", what, data.opened["a"], len(q.Runs))
		}
	}
	// Needed data is opened, and its description corrected.
	data.digest = "sha256:other"
	q := lookup(engine.Lookup{Source: data, Need: func(*engine.Run) bool { return true }})
	if data.opened["a"] != 2 || q.Runs[0].Identity.Dataset.Digest != data.digest || q.Runs[0].Key == p.Runs[0].Key {
		t.Errorf("opened %d times: %+v", data.opened["a"], q.Runs[0].Identity.Dataset)
	}
}

// Datasets with different names do not share networks, even if their images are equal.
func TestGroupsAreNamed(t *testing.T) {
	p := func(text string) *engine.Plan {
		data := newCounting()
		data.digest = "sha256:same"
		p, err := engine.Lookup{Source: data}.Make(context.Background(), []*experiment.Spec{parsed(t, text)}, experiment.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	shares := text + "[method.walk]\nshares = true\n"
	both, alone := p(shares), p(strings.Replace(shares, `["a", "b"]`, `["b"]`, 1))
	s, other := store.Open(t.TempDir()), store.Open(t.TempDir())
	execute(t, both, s, options())
	execute(t, alone, other, options())
	got := contents(t, both, s)
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, "a ") })
	if want := contents(t, alone, other); !maps.Equal(got, want) {
		t.Error("the records of b depend on a")
	}
}

// Cells with different traces share a run, which has all their lines. The result does not depend on
// the trace.
func TestTraces(t *testing.T) {
	s := store.Open(t.TempDir())
	make1 := func(texts ...string) *engine.Plan {
		t.Helper()
		var specs []*experiment.Spec
		for _, text := range texts {
			specs = append(specs, parsed(t, text))
		}
		p, err := engine.Lookup{Source: source{}}.Make(context.Background(), specs, experiment.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	plain := strings.NewReplacer("trace = 2\n", "", "score = 3\n", "").Replace(text)
	coarse, fine := make1(plain), make1(plain, text, strings.Replace(text, "score = 3", "score = 5", 1))
	execute(t, coarse, s, options())
	key := coarse.Runs[0].Key
	if len(fine.Runs) != 8 || fine.Runs[0].Key != key {
		t.Fatalf("%d runs, key %s", len(fine.Runs), fine.Runs[0].Key)
	}
	updates := func() []float64 {
		t.Helper()
		r, err := s.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := r.Trace()
		if err != nil {
			t.Fatal(err)
		}
		return trace.Column("update")
	}
	result := func() string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(s.Dir(), "runs", key[:2], key, "result.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := result()
	if got := updates(); !slices.Equal(got, []float64{0, 6}) {
		t.Errorf("lines at %v", got)
	}
	if n := fine.Coarse(s); n != 8 {
		t.Errorf("%d traces lack lines", n)
	}
	if out := execute(t, fine, s, options()); out != (engine.Outcome{Before: 8}) {
		t.Errorf("outcome %+v", out)
	}
	force := options()
	force.Force = true
	for range 2 { // the second time with a smaller request
		execute(t, fine, s, force)
		if got := updates(); !slices.Equal(got, []float64{0, 2, 3, 4, 5, 6}) || fine.Coarse(s) != 0 {
			t.Errorf("lines at %v, %d traces lack some", got, fine.Coarse(s))
		}
		if result() != before {
			t.Error("the result depends on the trace")
		}
		fine = coarse
	}
}
