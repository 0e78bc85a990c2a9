package store

import (
	"os"
	"path/filepath"

	"dgkip/harness/env"
)

// Presence shows other processes under the same kernel that one makes runs for a folder:
// a file that is locked in the kernel until the process ends.
type Presence struct {
	f *os.File // nil where the kernel has no such locks
}

// Attend shows that this process is at work, until Leave.
func (s *Store) Attend() *Presence {
	if env.Kernel() == "" {
		return &Presence{}
	}
	dir := filepath.Join(s.work("hosts"), env.Kernel())
	if os.MkdirAll(dir, 0o777) != nil {
		return &Presence{}
	}
	f, err := os.OpenFile(filepath.Join(dir, token()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return &Presence{}
	}
	p := &Presence{f}
	if flock(f, false) != nil {
		p.Leave()
	}
	return p
}

// Others reports whether other processes are at work under this kernel. Files of those
// that were killed are removed.
func (p *Presence) Others() bool {
	if p.f == nil {
		return false
	}
	dir, own := filepath.Split(p.f.Name())
	for _, e := range entries(dir) {
		if e.Name() == own {
			continue
		}
		name := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue // it left
		}
		gone := flock(f, false) == nil
		f.Close()
		if !gone {
			return true
		}
		os.Remove(name)
	}
	return false
}

// Leave ends it.
func (p *Presence) Leave() {
	if p.f == nil {
		return
	}
	p.f.Close()
	os.Remove(p.f.Name())
	os.Remove(filepath.Dir(p.f.Name())) // if it was the last
	p.f = nil
}
