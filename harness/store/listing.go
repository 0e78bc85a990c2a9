package store

import "path/filepath"

// Listing is what stood in a folder's place for records and failures at some moment. To
// ask it for many runs costs a look at the folders, and not one for every run.
type Listing struct {
	s      *Store
	places map[string]bool
}

// List looks which records and failures there are.
func (s *Store) List() Listing {
	l := Listing{s, map[string]bool{}}
	for _, part := range []string{"runs", "failed"} {
		names, err := below(filepath.Join(s.dir, part))
		if err != nil {
			return Listing{s: s} // it knows nothing, and asks the store
		}
		for _, name := range names {
			l.places[name] = true
		}
	}
	return l
}

func (l Listing) none(place string) bool { return l.places != nil && !l.places[place] }

// Has is Store.Has.
func (l Listing) Has(key string) bool { return !l.none(l.s.run(key)) && l.s.Has(key) }

// Failed is Store.Failed.
func (l Listing) Failed(key string) *Failure {
	if l.none(l.s.failed(key)) {
		return nil
	}
	return l.s.Failed(key)
}

// Damaged is Store.Damaged.
func (l Listing) Damaged(key string) error {
	if l.none(l.s.run(key)) {
		return nil
	}
	return l.s.Damaged(key)
}

// Outdated is Store.Outdated.
func (l Listing) Outdated(key string) error {
	if l.none(l.s.run(key)) {
		return nil
	}
	return l.s.Outdated(key)
}
