package store

import (
	"path/filepath"
	"sync"
)

// listing is what stood in a folder's places for records and failures at some moment.
type listing struct {
	places map[string]bool

	mu   sync.Mutex
	read map[string]found
}

// found is what Get returned.
type found struct {
	record *Record
	err    error
}

// Snapshot returns the store as it is now. To ask it for many runs costs a look at the
// folders, and not one for every run; it reads every record once.
func (s *Store) Snapshot() *Store {
	c := *s
	c.listed, c.also = &listing{places: map[string]bool{}, read: map[string]found{}}, nil
	for _, folder := range []string{"runs", "failed"} {
		names, err := below(filepath.Join(s.dir, folder))
		if err != nil {
			c.listed = nil // it knows nothing, and looks each time
			break
		}
		for _, name := range names {
			c.listed.places[name] = true
		}
	}
	for _, other := range s.also {
		c.also = append(c.also, other.Snapshot())
	}
	return &c
}

// none reports whether nothing stood in a place when the snapshot was taken.
func (s *Store) none(place string) bool { return s.listed != nil && !s.listed.places[place] }
