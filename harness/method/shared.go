package method

import (
	"errors"
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] == h {
		delete(s.held, key)
	}
}

// Clear drops everything.
func (s *Shared) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = nil
}
