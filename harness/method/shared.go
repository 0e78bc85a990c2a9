package method

import (
	"errors"
	"io"
	"sync"
)

// Shared keeps what several runs need and one computes: the features of the
// training images, say. The zero value is ready, and a nil *Shared computes
// everything anew.
//
// What is kept must be a function of its key, for otherwise results would depend
// on the order of runs.
type Shared struct {
	mu   sync.Mutex
	held map[string]*held
	disk Disk
	of   *Shared // what With was asked of; it holds the values
}

// Disk keeps large values from one start of the program to the next. It is a
// memory only: what it does not find is computed again, so that no trouble with it
// ends a run.
//
// The key must hold all that the value depends on, as that of Do: the digest of
// the images, the settings, the seed, and a version of what is computed.
type Disk interface {
	// Load finds what Save kept under the key and lets read take it. The content
	// has been verified before. Load reports whether it was found and read; after
	// an error of read it was not, and is dropped. A caller that finds nothing
	// computes the value and calls Save.
	Load(key string, read func(io.Reader) error) (found bool)

	// Save keeps what write writes, size bytes in all, unless there is no room.
	Save(key string, size int64, write func(io.Writer) error)
}

type held struct {
	once  sync.Once
	value any
	err   error
}

// Do returns what is kept under the key, computing it first if nothing is. Of
// several callers one computes and the others wait; when it fails, which may be
// because it alone was stopped, they try for themselves. An error is not kept.
func (s *Shared) Do(key string, compute func() (any, error)) (any, error) {
	if s == nil {
		return compute()
	}
	for {
		h, mine := s.take(key), false
		h.once.Do(func() {
			mine = true
			done := false
			defer func() {
				if !done { // a panic: those who wait must not take nil for a value
					h.err = errors.New("method: sharing failed")
				}
				if h.err != nil {
					s.forget(key, h)
				}
			}()
			h.value, h.err = compute()
			done = true
		})
		if mine || h.err == nil {
			return h.value, h.err
		}
	}
}

func (s *Shared) take(key string) *held {
	s = s.root()
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[key]
	if h == nil {
		if s.held == nil {
			s.held = map[string]*held{}
		}
		h = new(held)
		s.held[key] = h
	}
	return h
}

func (s *Shared) forget(key string, h *held) {
	s = s.root()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] == h {
		delete(s.held, key)
	}
}

// Disk returns what keeps values from one start of the program to the next, or
// nil where nothing does.
func (s *Shared) Disk() Disk {
	if s == nil {
		return nil
	}
	return s.disk
}

// With returns the same values with another disk, or with none.
func (s *Shared) With(d Disk) *Shared { return &Shared{of: s.root(), disk: d} }

func (s *Shared) root() *Shared {
	if s.of != nil {
		return s.of
	}
	return s
}

// Clear drops everything that is held in memory.
func (s *Shared) Clear() {
	s = s.root()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = nil
}
