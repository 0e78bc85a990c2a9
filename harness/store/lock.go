package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Touch is how often the holder of a lock writes to its file, and Stale is for how long
// nobody must have written to it before its holder counts as gone. A shared folder may
// show what was written up to a minute late.
var (
	Touch = 30 * time.Second
	Stale = 3 * time.Minute
)

// Busy is the error of Lock when another process is at the run.
type Busy struct {
	Host string // "" if the lock does not say
	PID  int
	File string
}

func (b *Busy) Error() string {
	if b.Host == "" {
		return "another process is computing this run; its lock is " + b.File
	}
	return fmt.Sprintf("process %d on %s is computing this run; its lock is %s", b.PID, b.Host, b.File)
}

// Lock is the right to compute a run.
type Lock struct {
	file  string
	text  []byte
	token string
	stop  chan struct{}
	done  sync.WaitGroup
	once  sync.Once
}

// holder is what a lock's file says.
type holder struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Run   string `json:"run"`
	Token string `json:"token"` // of the store in its process
}

// Lock takes the right to compute a run, or returns a *Busy.
//
// A lock is a file that only one process can create, and that its holder writes to until
// Unlock. It only saves work: a run has the same bytes whoever makes it, and its record
// appears by one rename. Should a lock be taken from a holder that was asleep for long, or
// by two processes at the same moment, the run is made twice.
//
// A shared folder may show for a minute what there was before of the runs, unless one opens
// it: Lock does.
func (s *Store) Lock(key string, runs ...string) (*Lock, error) {
	l, err := s.lock(s.lockFile(key), holder{Run: key})
	if err != nil {
		return nil, err
	}
	dirs := []string{s.work("checkpoints"), filepath.Join(s.dir, "runs"), filepath.Join(s.dir, "failed")}
	for _, run := range runs {
		dirs = append(dirs, filepath.Dir(s.run(run)), filepath.Dir(s.failed(run)))
	}
	for _, dir := range dirs {
		if f, err := os.Open(dir); err == nil {
			f.Close()
		}
	}
	return l, nil
}

func (s *Store) lockFile(key string) string { return filepath.Join(s.work("locks"), key+".lock") }

func (s *Store) lock(file string, who holder) (*Lock, error) {
	who.Host, who.PID, who.Token = hostname(), os.Getpid(), s.token
	text, err := json.Marshal(who)
	if err != nil {
		return nil, err
	}
	create := func() error { return s.roomFor(func() error { return writeFile(file, text) }) }
	if err = create(); errors.Is(err, fs.ErrExist) {
		there, fresh := s.look(file)
		if fresh {
			other := read(file)
			return nil, &Busy{other.Host, other.PID, file}
		}
		if there { // or else whoever gave it back may have a successor, whose file must stay
			os.Remove(file)
		}
		err = create()
	}
	if errors.Is(err, fs.ErrExist) { // another one was faster
		return nil, &Busy{File: file}
	}
	if err != nil {
		return nil, s.explain(err)
	}
	l := &Lock{file: file, text: text, token: s.token, stop: make(chan struct{})}
	l.done.Go(l.keep)
	return l, nil
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// read returns what a lock's file says, which is nothing if there is none, or if it was
// made a moment ago.
func read(file string) (who holder) {
	b, _ := os.ReadFile(file)
	json.Unmarshal(b, &who)
	return who
}

// now is the time by the clock that dates files, of which it makes one named probe for that
// moment: processes that share a folder may have clocks that differ.
func now(probe string) (time.Time, error) {
	if err := writeFile(probe, nil); err != nil {
		return time.Time{}, err
	}
	defer os.Remove(probe)
	info, err := os.Lstat(probe)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// look reports whether a lock is there, and whether its holder wrote to it a short time ago,
// or may have done so.
func (s *Store) look(file string) (there, fresh bool) {
	now, errNow := now(s.probe())
	info, err := os.Lstat(file)
	if err != nil {
		return false, !errors.Is(err, fs.ErrNotExist)
	}
	return true, errNow != nil || now.Sub(info.ModTime()) < Stale
}

// Locked returns the keys of the runs that processes are at, in one look.
func (s *Store) Locked() map[string]bool {
	keys := map[string]bool{}
	list := entries(s.work("locks"))
	if len(list) == 0 {
		return keys
	}
	now, errNow := now(s.probe())
	for _, e := range list {
		info, err := e.Info()
		if err == nil && (errNow != nil || now.Sub(info.ModTime()) < Stale) {
			keys[strings.TrimSuffix(e.Name(), ".lock")] = true
		}
	}
	return keys
}

// Others reports whether other processes on this host make runs of the folder.
func (s *Store) Others() bool {
	for key := range s.Locked() {
		if who := read(s.lockFile(key)); who.Host == hostname() && who.Token != s.token {
			return true
		}
	}
	return false
}

// keep shows that the holder is alive, until Unlock: it writes to the file what it holds,
// so that the file system dates it by its own clock.
func (l *Lock) keep() {
	tick := time.NewTicker(Touch)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			if f, err := os.OpenFile(l.file, os.O_WRONLY, 0); err == nil {
				if l.mine() {
					f.WriteAt(l.text, 0)
				}
				f.Close()
			}
		}
	}
}

func (l *Lock) mine() bool { return read(l.file).Token == l.token }

// Unlock gives the lock back, unless it is another's by now.
func (l *Lock) Unlock() {
	l.once.Do(func() {
		close(l.stop)
		l.done.Wait()
		if l.mine() {
			os.Remove(l.file)
		}
	})
}
