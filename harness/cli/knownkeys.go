package cli

import (
	"cmp"
	"slices"

	"dgkip/harness/data"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// knownKeys returns the keys of runs on data that some record is of: the identities
// of the data in the records stand in for opening it. A key is not known where the
// records are of different images under one name, and only the data could tell
// which is meant.
func knownKeys(s *store.Store) func(c *spec.Cell, seed uint64) (string, bool) {
	var known []spec.DatasetIdentity
	add := func(id spec.DatasetIdentity) {
		if !slices.ContainsFunc(known, func(k spec.DatasetIdentity) bool {
			return k.Digest == id.Digest && k.Preprocess == id.Preprocess && k.Name == id.Name
		}) {
			known = append(known, id)
		}
	}
	keys, _ := s.Keys()
	for _, key := range keys {
		if r, err := s.Get(key); err == nil {
			add(r.Result.Identity.Dataset)
		}
	}
	keys, _ = s.FailedKeys()
	for _, key := range keys {
		if f := s.Failed(key); f != nil {
			add(f.Identity.Dataset)
		}
	}
	return func(c *spec.Cell, seed uint64) (string, bool) {
		fit := slices.DeleteFunc(slices.Clone(known), func(id spec.DatasetIdentity) bool { return !sameData(c.Data, id) })
		if len(fit) != 1 {
			return "", false
		}
		return c.Identity(fit[0], seed).Key(), true
	}
}

// sameData reports whether an identity may be that of the declared data.
func sameData(d spec.Data, id spec.DatasetIdentity) bool {
	name := cmp.Or(d.Use, d.Name)
	if id.Name != d.Name && id.Name != name || id.Preprocess != cmp.Or(d.Preprocess, "standard") {
		return false
	}
	info, err := data.Describe(name)
	if err != nil || d.Own() {
		return len(d.Classes) == 0 || len(d.Classes) == len(id.Classes)
	}
	want := info.Classes
	if len(d.Classes) > 0 {
		want = nil
		for _, n := range d.Classes {
			if n < 0 || n >= len(info.Classes) {
				return false
			}
			want = append(want, info.Classes[n])
		}
	}
	return slices.Equal(id.Classes, want)
}
