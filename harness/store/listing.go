package store

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Listing is what stood in a folder's place for records, failures and checkpoints at
// some moment. To ask it for many runs costs a look at the folders, and not one for
// every run; it reads every record once.
type Listing struct {
	s      *Store
	places map[string]bool
	states map[string]bool // of runs that are not done

	mu   sync.Mutex
	read map[string]found
}

// found is what Get returned.
type found struct {
	record *Record
	err    error
}

// List looks which records and failures there are.
func (s *Store) List() *Listing {
	l := &Listing{s: s, places: map[string]bool{}, states: map[string]bool{}, read: map[string]found{}}
	folders := []string{filepath.Join(s.dir, "runs"), filepath.Join(s.dir, "failed")}
	for _, other := range s.also {
		folders = append(folders, filepath.Join(other.dir, "runs"))
	}
	for _, folder := range folders {
		names, err := below(folder)
		if err != nil {
			l.places = nil // it knows nothing, and asks the store
			break
		}
		for _, name := range names {
			l.places[name] = true
		}
	}
	for _, e := range entries(s.work("checkpoints")) {
		l.states[strings.TrimSuffix(e.Name(), ".ckpt")] = true
	}
	return l
}

// none reports whether nothing stood in a place.
func (l *Listing) none(place string) bool { return l.places != nil && !l.places[place] }

// noRun reports whether nothing stood in the places of a record.
func (l *Listing) noRun(key string) bool {
	for _, other := range l.s.also {
		if !l.none(other.run(key)) {
			return false
		}
	}
	return l.none(l.s.run(key))
}

// Get is Store.Get for what was there.
func (l *Listing) Get(key string) (*Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, read := l.read[key]
	if !read {
		f.record, f.err = l.s.Get(key)
		l.read[key] = f
	}
	return f.record, f.err
}

// Keys is Store.Keys.
func (l *Listing) Keys() ([]string, error) {
	if l.places == nil {
		return l.s.Keys()
	}
	var keys []string
	for place := range l.places {
		if key := filepath.Base(place); isKey(key) && place != l.s.failed(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// Has is Store.Has.
func (l *Listing) Has(key string) bool {
	if l.noRun(key) {
		return false
	}
	_, err := l.Get(key)
	return err == nil || errors.Is(err, errSchema)
}

// Failed is Store.Failed.
func (l *Listing) Failed(key string) *Failure {
	if l.none(l.s.failed(key)) {
		return nil
	}
	return l.s.Failed(key)
}

// Damaged is Store.Damaged.
func (l *Listing) Damaged(key string) error {
	if l.noRun(key) || l.Has(key) {
		return nil
	}
	return l.s.Damaged(key)
}

// Outdated says why a record that counts as one cannot be read, nil if it can be or
// there is none.
func (l *Listing) Outdated(key string) error {
	if l.noRun(key) {
		return nil
	}
	if _, err := l.Get(key); errors.Is(err, errSchema) {
		return err
	}
	return nil
}

// Begun returns the keys of the jobs that had a checkpoint.
func (l *Listing) Begun() map[string]bool { return maps.Clone(l.states) }
