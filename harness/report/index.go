package report

import (
	"fmt"

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
func (x *index) find(c *spec.Cell, seed uint64, key func(*spec.Cell, uint64) (string, bool)) (Run, string) {
	rest := withoutData(c.Identity(spec.DatasetIdentity{}, seed))
	run := Run{Seed: seed, id: rest + string(spec.Canonical(c.Data))}
	if key != nil {
		k, ok := key(c, seed)
		if !ok {
			return run, ""
		}
		run.id, run.Record = k, x.records[k]
		if run.Record == nil {
			run.Failure = x.st.Failed(k)
		}
		return run, ""
	}
	var problem string
	for _, k := range x.byRest[rest] {
		rec := x.records[k]
		if !fits(c.Data, rec.Result.Identity.Dataset) {
			continue
		}
		if run.Record == nil {
			run.Record = rec
		} else if problem == "" {
			problem = fmt.Sprintf("%s, seed %d: records on different data fit: %s is shown, %s is not", cellName(c), seed, short(run.Record.Result.Key), short(k))
		}
	}
	if run.Record == nil {
		for _, f := range x.failures[rest] {
			if fits(c.Data, f.Identity.Dataset) {
				run.Failure = f
				break
			}
		}
	}
	return run, problem
}

// fits tells whether a run's data is the declared one, as far as it is declared.
func fits(d spec.Data, id spec.DatasetIdentity) bool {
	return (id.Name == d.Name || d.Use != "" && id.Name == d.Use) &&
		(len(d.Classes) == 0 || len(d.Classes) == len(id.Classes)) &&
		(d.Preprocess == "" || d.Preprocess == id.Preprocess)
}

// short is the beginning of a key, as people write it.
func short(key string) string { return key[:min(len(key), 12)] }
