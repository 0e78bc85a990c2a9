package method

import (
	"encoding/binary"
	"io"
	"sync"
)

// Shared keeps values that several runs need, such as the features of the training images, so that
// they are computed once. The zero value is ready to use. A nil *Shared keeps nothing.
//
// A value must be a function of its key. Otherwise results would depend on the order of runs.
type Shared struct {
	mu      sync.Mutex
	entries map[string]*entry
	disk    Disk
	of      *Shared // the Shared that holds the values, if made by With
}

// Disk keeps large values from one start of the program to the next. It is only a cache: a value
// that is not found is computed again, so errors of the disk never end a run.
//
// As for Do, the key must contain all that the value depends on: the digest of the images, the
// settings, the seed, and a version of the computation.
type Disk interface {
	// Load finds what Save kept under the key, verifies it and passes it to read. It
	// reports whether the value was found and read. If read fails, the value is
	// deleted. If Load reports false, the caller computes the value and calls Save.
	Load(key string, read func(io.Reader) error) (found bool)

	// Save keeps the size bytes that write writes, unless there is no room.
	Save(key string, size int64, write func(io.Writer) error)
}

// OnDisk reads values of known lengths from the disk. If the disk has nothing under the key, or is
// nil, compute sets the values; OnDisk then saves them, if there is a disk.
func OnDisk(disk Disk, key string, values [][]float32, compute func() error) error {
	if disk == nil {
		return compute()
	}
	size := int64(0)
	for _, v := range values {
		size += 4 * int64(len(v))
	}
	each := func(do func(v []float32) error) (err error) {
		for i := 0; i < len(values) && err == nil; i++ {
			err = do(values[i])
		}
		return err
	}
	if disk.Load(key, func(from io.Reader) error {
		return each(func(v []float32) error { return binary.Read(from, binary.LittleEndian, v) })
	}) {
		return nil
	}
	if err := compute(); err != nil {
		return err
	}
	disk.Save(key, size, func(to io.Writer) error {
		return each(func(v []float32) error { return binary.Write(to, binary.LittleEndian, v) })
	})
	return nil
}

// entry is the value under a key. Its lock is held during the computation.
type entry struct {
	mu    sync.Mutex
	done  bool
	value any
}

// Do returns the value under the key, and computes it first if there is none. One of several callers
// computes, and the rest wait. If it fails, perhaps because only its run was stopped, another caller
// computes. Errors are not kept.
func (s *Shared) Do(key string, compute func() (any, error)) (any, error) {
	if s == nil {
		return compute()
	}
	e := s.entry(key)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		return e.value, nil
	}
	value, err := compute()
	if err == nil {
		e.value, e.done = value, true
	}
	return value, err
}

// Do is Shared.Do for a type.
func Do[T any](s *Shared, key string, compute func() (T, error)) (T, error) {
	v, err := s.Do(key, func() (any, error) { return compute() })
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil
}

func (s *Shared) entry(key string) *entry {
	s = s.root()
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil {
		if s.entries == nil {
			s.entries = map[string]*entry{}
		}
		e = new(entry)
		s.entries[key] = e
	}
	return e
}

// Disk returns the disk, or nil if there is none.
func (s *Shared) Disk() Disk {
	if s == nil {
		return nil
	}
	return s.disk
}

// With returns a Shared with the same values and another disk, which may be nil.
func (s *Shared) With(d Disk) *Shared { return &Shared{of: s.root(), disk: d} }

func (s *Shared) root() *Shared {
	if s.of != nil {
		return s.of
	}
	return s
}

// Clear drops all values in memory.
func (s *Shared) Clear() {
	s = s.root()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = nil
}
