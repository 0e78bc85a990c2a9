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

	"dgkip/harness/env"
)

// Touch is the interval at which the holder of a lock writes to the lock file. A lock whose file
// has not been written for Stale counts as abandoned. Shared folders may show changes up to a
// minute late.
var (
	Touch = 30 * time.Second
	Stale = 3 * time.Minute
)

// Busy is the error of Lock if another process holds the lock.
type Busy struct {
	Host string // "" if unknown
	PID  int
	File string
}

func (b *Busy) Error() string {
	if b.Host == "" {
		return "another process is computing this run; its lock is " + b.File
	}
	return fmt.Sprintf("process %d on %s is computing this run; its lock is %s", b.PID, b.Host, b.File)
}

// Lock is an exclusive lock on a job.
type Lock struct {
	file  string
	text  []byte
	token string
	stop  chan struct{}
	done  sync.WaitGroup
}

// holder is the content of a lock file.
type holder struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Token string `json:"token"` // identifies the store of the holding process
}

// Lock locks a job with these runs. It returns a *Busy if another process holds the lock, and
// ErrStorage if a later version of the program has recorded a run.
//
// A lock is a file that only one process can create, and that its holder keeps writing to until
// Unlock. Locks only avoid double work: all processes compute the same bytes, and a record appears
// by one rename. If a lock is taken from a sleeping holder, or by two processes at once, the run is
// computed twice.
//
// A shared folder may show an old state for up to a minute unless the folder is opened. Lock
// therefore opens the folders of the job's runs.
func (s *Store) Lock(key string, runs ...string) (*Lock, error) {
	l, err := s.lock(s.lockFile(key))
	if err != nil {
		return nil, err
	}
	dirs := []string{s.work("checkpoints"), filepath.Join(s.dir, "runs"), filepath.Join(s.dir, "failed")}
	for _, run := range runs {
		if _, err := s.own(run); errors.Is(err, errNewer) {
			l.Unlock()
			return nil, s.explain(err)
		}
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

func (s *Store) lock(file string) (*Lock, error) {
	text, _ := json.Marshal(holder{env.Read().Name, os.Getpid(), s.token})
	create := func() error { return s.roomFor(func() error { return writeFile(file, text) }) }
	err := create()
	if errors.Is(err, fs.ErrExist) {
		there, fresh := s.look(file)
		if fresh {
			other := read(file)
			return nil, &Busy{other.Host, other.PID, file}
		}
		if there { // otherwise the file may already belong to a new holder
			os.Remove(file)
		}
		err = create()
	}
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil, &Busy{File: file}
	}
	if err != nil {
		return nil, s.explain(err)
	}
	l := &Lock{file: file, text: text, token: s.token, stop: make(chan struct{})}
	l.done.Go(l.keep)
	return l, nil
}

// read returns the content of a lock file. It is empty if the file is missing or not yet written.
func read(file string) (who holder) {
	b, _ := os.ReadFile(file)
	json.Unmarshal(b, &who)
	return who
}

// now returns the time of the file system, because the clocks of processes that share a folder may
// differ. It creates and removes a file named probe.
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

// look reports whether a lock file exists, and whether it is fresh. If its age is unknown, it
// counts as fresh.
func (s *Store) look(file string) (there, fresh bool) {
	now, errNow := now(s.probe())
	info, err := os.Lstat(file)
	if err != nil {
		return false, !errors.Is(err, fs.ErrNotExist)
	}
	return true, errNow != nil || now.Sub(info.ModTime()) < Stale
}

// Locked returns the keys of all locked jobs.
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

// Others reports whether other processes on this host compute runs in this folder.
func (s *Store) Others() bool {
	for key := range s.Locked() {
		if who := read(s.lockFile(key)); who.Host == env.Read().Name && who.Token != s.token {
			return true
		}
	}
	return false
}

// keep rewrites the lock file until Unlock, to show that the holder is alive. The file system sets
// the time of the file by its own clock.
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

// Unlock removes the lock file, unless another process has taken the lock over.
func (l *Lock) Unlock() {
	close(l.stop)
	l.done.Wait()
	if l.mine() {
		os.Remove(l.file)
	}
}
