package store

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// dated is how often a process at work dates its file anew.
const dated = time.Minute

// Presence shows other processes under the same kernel that one makes runs for a folder:
// a file that is locked in the kernel until the process ends. Where there are no such
// locks, and for those that mount the folder for themselves, its date shows that; all
// under one kernel have one clock.
type Presence struct {
	f      *os.File // nil where kernels have no names
	device string
	stop   chan struct{}
	done   sync.WaitGroup
}

// Attend shows that this process is at work, until Leave.
func (s *Store) Attend() *Presence {
	dir := filepath.Join(s.work("hosts"), s.kernel)
	if s.kernel == "" || os.MkdirAll(dir, 0o777) != nil {
		return &Presence{}
	}
	p := &Presence{stop: make(chan struct{})}
	if d, err := os.Open(dir); err == nil {
		p.device = device(d)
		d.Close()
	}
	f, err := os.OpenFile(filepath.Join(dir, token()+"-"+p.device), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return &Presence{}
	}
	flock(f, false) // where it is refused, the date has to do
	p.f = f
	p.date()
	p.done.Go(p.keep)
	return p
}

// date writes the time down, in the clock of this kernel and not in that of a server.
func (p *Presence) date() {
	now := time.Now()
	os.Chtimes(p.f.Name(), now, now)
}

func (p *Presence) keep() {
	tick := time.NewTicker(dated)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.date()
		}
	}
}

// Others reports whether other processes are at work under this kernel.
func (p *Presence) Others() bool {
	if p.f == nil {
		return false
	}
	dir, own := filepath.Split(p.f.Name())
	for _, e := range entries(dir) {
		if e.Name() != own && p.there(filepath.Join(dir, e.Name())) {
			return true
		}
	}
	return false
}

// there reports whether the process of a file is at work, and removes the file of one
// that was killed.
func (p *Presence) there(name string) bool {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false // it left
	}
	there := p.locked(f)
	info, err := f.Stat()
	f.Close()
	// A new one may not be locked yet.
	if !there && err == nil && time.Since(info.ModTime()) > dated {
		os.Remove(name)
	}
	return there
}

// locked reports whether a file is locked in the kernel or, where that does not tell,
// was dated a short time ago.
func (p *Presence) locked(f *os.File) bool {
	if _, device, _ := strings.Cut(filepath.Base(f.Name()), "-"); device == p.device {
		if err := flock(f, false); err == nil || inKernel(err) {
			return err != nil
		}
	}
	info, err := f.Stat()
	return err == nil && time.Since(info.ModTime()) < 3*dated
}

// Leave ends it.
func (p *Presence) Leave() {
	if p.f == nil {
		return
	}
	close(p.stop)
	p.done.Wait()
	p.f.Close()
	os.Remove(p.f.Name())
	os.Remove(filepath.Dir(p.f.Name())) // if it was the last
	p.f = nil
}
