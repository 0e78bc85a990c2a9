package report

import (
	"cmp"
	"fmt"
	"slices"

	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// index finds runs in a store.
type index struct {
	st       *store.Store
	records  map[string]*store.Record // by key
	byRest   map[string][]string      // keys by identity without its data
	failures map[string][]*store.Failure
	problems []string
}

// newIndex reads all records. What cannot be read is said here, and nowhere else.
func newIndex(st *store.Store) (*index, error) {
	x := &index{st: st, records: map[string]*store.Record{}, byRest: map[string][]string{}, failures: map[string][]*store.Failure{}}
	keys, err := st.Keys()
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		rec, err := st.Get(key)
		if err != nil {
			x.problems = append(x.problems, "a record is left out, because it cannot be read: "+err.Error())
			continue
		}
		x.records[key] = rec
		rest := withoutData(rec.Result.Identity)
		x.byRest[rest] = append(x.byRest[rest], key)
	}
	if keys, err = st.FailedKeys(); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if f := st.Failed(key); f != nil {
			rest := withoutData(f.Identity)
			x.failures[rest] = append(x.failures[rest], f)
		}
	}
	return x, nil
}

func withoutData(id spec.Identity) string {
	id.Dataset = spec.DatasetIdentity{}
	return string(spec.Canonical(id))
}

// find returns a cell's run, and in words what was wrong.
func (x *index) find(c *spec.Cell, seed uint64, o Options) (Run, string) {
	rest := withoutData(c.Identity(spec.DatasetIdentity{}, seed))
	run := Run{Seed: seed, id: rest + string(spec.Canonical(c.Data))}
	if o.Key != nil {
		k, ok := o.Key(c, seed)
		if !ok {
			return run, ""
		}
		run.id, run.Record = k, x.records[k]
		if run.Record == nil {
			run.Failure = x.st.Failed(k)
		}
		return run, ""
	}
	meant := func(id spec.Identity) bool { return fits(c.Data, id.Dataset, o.Classes) }
	for _, k := range x.byRest[rest] {
		rec := x.records[k]
		switch {
		case !meant(rec.Result.Identity):
		case run.Record == nil:
			run.Record = rec
		default: // which one is meant only the data could tell
			problem := fmt.Sprintf("%s, seed %d: records on different data fit, and neither is shown: %s and %s", cellName(c), seed, short(run.Record.Result.Key), short(k))
			run.Record = nil
			return run, problem
		}
	}
	if run.Record == nil {
		for _, f := range x.failures[rest] {
			if meant(f.Identity) {
				run.Failure = f
				break
			}
		}
	}
	return run, ""
}

// fits tells whether a run's data is the declared one, as far as that can be told
// without opening it. The classes of known datasets have names.
func fits(d spec.Data, id spec.DatasetIdentity, classes map[string][]string) bool {
	name := cmp.Or(d.Use, d.Name)
	if id.Name != d.Name && id.Name != name || id.Preprocess != cmp.Or(d.Preprocess, "standard") {
		return false
	}
	all, known := classes[name]
	if !known || d.Own() {
		return len(d.Classes) == 0 || len(d.Classes) == len(id.Classes)
	}
	want := all
	if len(d.Classes) > 0 {
		want = nil
		for _, n := range d.Classes {
			if n < 0 || n >= len(all) {
				return false
			}
			want = append(want, all[n])
		}
	}
	return slices.Equal(id.Classes, want)
}

// short is the beginning of a key, as people write it.
func short(key string) string { return key[:min(len(key), 12)] }
