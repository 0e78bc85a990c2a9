package store

import (
	"path/filepath"
	"sync"
)

// listing holds the names of records and failures at one moment, and the records read since.
type listing struct {
	places map[string]bool

	mu   sync.Mutex
	read map[string]found
}

// found is a result of Get.
type found struct {
	record *Record
	err    error
}

// Snapshot returns the store as it is at this moment. Get, Has and Failed of the snapshot
// list the folders only once and read each record only once. Keys and Begun still read the disk.
func (s *Store) Snapshot() *Store {
	c := *s
	c.listed, c.also = &listing{places: map[string]bool{}, read: map[string]found{}}, nil
	for _, folder := range []string{"runs", "failed"} {
		names, err := below(filepath.Join(s.dir, folder))
		if err != nil {
			c.listed = nil // without a listing, every question reads the disk
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

// none reports whether a path did not exist when the snapshot was taken.
func (s *Store) none(place string) bool { return s.listed != nil && !s.listed.places[place] }
