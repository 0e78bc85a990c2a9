package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// heartbeat is how often the owner of a lock writes to its file, and stale for how
// long the file must stay the same, while one watches, before its owner counts as
// gone. A shared folder may show what was written up to a minute late.
var (
	heartbeat = 15 * time.Second
	stale     = 2*time.Minute + heartbeat
)

// Busy is the error of Lock when another process is at the run.
type Busy struct {
	Host  string // "" if the lock does not say
	PID   int
	File  string
	Alive bool // it is known to be there; else it may be gone, which takes time to find out
}

func (b *Busy) Error() string {
	if b.Host == "" {
		return "another process is computing this run; its lock is " + b.File
	}
	return fmt.Sprintf("process %d on %s is computing this run; its lock is %s", b.PID, b.Host, b.File)
}

// Lock is the right to compute a run.
type Lock struct {
	file string
	f    *os.File
	me   owner
	lost chan struct{}
	late chan error
	ill  bool // the file could not be written to last time
	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
}

// owner is what a lock's file says.
type owner struct {
	Host   string   `json:"host"`
	PID    int      `json:"pid"`
	Kernel string   `json:"kernel"` // "" where the file cannot be locked in the kernel
	Device string   `json:"device"` // of the file, as this kernel numbers what is mounted
	Also   []string `json:"also,omitempty"`
	Token  string   `json:"token"`
	Beat   int      `json:"beat"` // grows as long as the owner lives
}

// sighting is what a lock's file held, and since when it has.
type sighting struct {
	text    string
	since   time.Time
	changed bool // it held something else before
}

// Lock takes the right to compute a run, or returns a *Busy.
//
// A lock is a file that only one process can create. Its owner also holds it
// locked in the kernel, which ends with the process: another one under the same
// kernel, which sees the file on the same device, sees at once whether the owner is
// there. To others, which see it on a shared folder or mount that folder for themselves,
// the owner is there as long as the file keeps changing. Clocks are not compared. Should
// two processes on a shared folder take over a lock at the same moment, one of them soon
// finds it lost; both would compute the same bytes.
//
// The lock names runs that its owner will also make; see Taken.
func (s *Store) Lock(key string, also ...string) (*Lock, error) {
	l, err := s.lock(s.lockFile(key), also)
	if err == nil {
		s.refresh(key)
	}
	return l, err
}

// Retake takes the lock of an owner that is gone. It returns a *Busy if the owner may be
// there, and nothing if there is no lock.
func (s *Store) Retake(key string, also ...string) (*Lock, error) {
	l, err := s.takeOver(s.lockFile(key), also)
	switch busy := new(Busy); {
	case err == nil:
		s.refresh(key)
		return l, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, &busy):
		return nil, busy
	}
	return nil, s.explain(err)
}

// Locked returns the keys whose locks are taken, by whomever, in one look.
func (s *Store) Locked() map[string]bool {
	keys := map[string]bool{}
	for _, e := range entries(s.work("locks")) {
		keys[strings.TrimSuffix(e.Name(), ".lock")] = true
	}
	return keys
}

// Taken reports whether the lock of a run is taken, by whomever, and which runs its
// owner will also make.
func (s *Store) Taken(key string) (also []string, taken bool) {
	b, err := os.ReadFile(s.lockFile(key))
	if gone(err) {
		return nil, false
	}
	var who owner
	json.Unmarshal(b, &who) // it says nothing yet if it was made a moment ago
	return who.Also, true
}

// There reports whether something stands in the place of a run's record.
func (s *Store) There(key string) bool {
	_, err := os.Lstat(s.run(key))
	return err == nil
}

func (s *Store) lockFile(key string) string { return filepath.Join(s.work("locks"), key+".lock") }

// refresh has the system look again at the folders where earlier owners of a lock left
// a run's record, failure and checkpoint: on a shared folder it may believe for a
// minute that there is nothing yet, unless one opens the folder.
func (s *Store) refresh(key string) {
	for _, dir := range []string{s.run(key), s.failed(key)} {
		for _, above := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir)} {
			if !open(above) {
				break
			}
		}
	}
	open(s.work("checkpoints"))
}

// open opens a folder for a moment, and reports whether that was possible.
func open(dir string) bool {
	f, err := os.Open(dir)
	if err == nil {
		f.Close()
	}
	return err == nil
}

// gone reports whether an error says that a file is not there, or not any more: servers
// of shared folders call one stale that was removed elsewhere.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE)
}

func (s *Store) lock(file string, also []string) (*Lock, error) {
	l, err := s.takeOver(file, also)
	if errors.Is(err, fs.ErrNotExist) { // free, given back, or removed as stale
		l, err = s.create(file, also)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ESTALE) { // another one was faster
		err = &Busy{File: file}
	}
	if busy := new(Busy); errors.As(err, &busy) {
		return nil, busy
	}
	return l, s.explain(err)
}

// create makes the file of a lock. The error is fs.ErrExist if there is one.
func (s *Store) create(file string, also []string) (*Lock, error) {
	var f *os.File
	err := s.roomFor(func() (err error) {
		f, err = os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.own(f, file, flock(f, true) == nil, also)
}

// own writes this process into the file of a lock and keeps it alive.
func (s *Store) own(f *os.File, file string, held bool, also []string) (*Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	me := owner{Host: host, PID: os.Getpid(), Also: also, Token: token()}
	if held {
		me.Kernel, me.Device = s.kernel, device(f)
	}
	l := &Lock{file: file, f: f, me: me, lost: make(chan struct{}), late: make(chan error, 1), stop: make(chan struct{})}
	write := func() error { return errors.Join(f.Truncate(0), l.write()) }
	if err := s.roomFor(write); err != nil {
		f.Close()
		if !gone(err) { // else what has its name is another one's
			os.Remove(file)
		}
		return nil, err
	}
	l.done.Go(l.beat)
	return l, nil
}

// takeOver takes the lock of an owner that is gone. The error is a *Busy if it is
// not, and fs.ErrNotExist if there is no file any more.
func (s *Store) takeOver(file string, also []string) (*Lock, error) {
	l, err := s.judge(file, also)
	if gone(err) {
		err = fs.ErrNotExist
	}
	return l, err
}

// judge is takeOver with the system's errors.
func (s *Store) judge(file string, also []string) (*Lock, error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	held := flock(f, false) == nil
	text, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		f.Close()
		return nil, err
	}
	var who owner
	known := json.Unmarshal(text, &who) == nil
	busy := &Busy{Host: who.Host, PID: who.PID, File: file}
	if known && who.Kernel != "" && who.Kernel == s.kernel && who.Device == device(f) {
		if held && sameFile(f, file) {
			return s.own(f, file, true, also)
		}
		f.Close()
		busy.Alive = !held
		return nil, busy
	}
	f.Close()
	over, changed := s.watched(file, string(text))
	if !over {
		busy.Alive = changed
		return nil, busy
	}
	if err := os.Remove(file); err != nil {
		return nil, err
	}
	return nil, fs.ErrNotExist
}

// sameFile reports whether an open file is still the one with its name.
func sameFile(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}

// watched reports whether a file has held a text for so long that its owner counts as
// gone, and whether it ever held another one, as far as this store has watched.
func (s *Store) watched(file, text string) (over, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.seen[file]
	if ok && seen.text == text {
		return time.Since(seen.since) >= stale, seen.changed
	}
	if s.seen == nil {
		s.seen = map[string]sighting{}
	}
	s.seen[file] = sighting{text, time.Now(), ok}
	return false, ok
}

// beat shows that the owner is alive until Unlock.
func (l *Lock) beat() {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			if !l.touch() {
				close(l.lost)
				return
			}
		}
	}
}

// touch changes the file. It reports whether the lock is still ours.
func (l *Lock) touch() bool {
	if !l.mine() {
		return false
	}
	l.me.Beat++
	err := l.write()
	if gone(err) {
		return false
	}
	if err != nil && !l.ill {
		select {
		case l.late <- fmt.Errorf("the lock %s cannot be kept up to date, so another machine may take over the run: %w", l.file, err):
		default: // nobody has asked about the last one
		}
	}
	l.ill = err != nil
	return true
}

// write puts the owner into the file, over a text that is never longer.
func (l *Lock) write() error {
	text, err := json.Marshal(l.me)
	if err != nil {
		return err
	}
	if _, err := l.f.WriteAt(text, 0); err != nil {
		return err
	}
	return l.f.Sync() // to other machines, too
}

// mine reports whether the file is ours, as far as it can be read.
func (l *Lock) mine() bool {
	b, err := os.ReadFile(l.file)
	if errors.Is(err, syscall.ESTALE) { // another file may have the name by now
		b, err = os.ReadFile(l.file)
	}
	if err != nil {
		return !gone(err)
	}
	return strings.Contains(string(b), l.me.Token)
}

// Lost is closed when another process took the lock, believing this one gone.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Late gets an error when the file could not be written to, as on a full disk. That
// must not stop the run, but other machines see no sign of the owner from then on.
func (l *Lock) Late() <-chan error { return l.late }

// Unlock gives the lock back.
func (l *Lock) Unlock() {
	l.once.Do(func() {
		close(l.stop)
		l.done.Wait()
		mine := l.mine()
		removed := mine && os.Remove(l.file) == nil
		l.f.Close()
		if mine && !removed { // some systems do not remove open files
			os.Remove(l.file)
		}
	})
}
