package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"dgkip/harness/env"
)

// heartbeat is how often a lock shows that its owner is alive, and stale how long
// it may fail to. That decides only where nothing is known of the owner's process:
// one that is stopped, or slept with its machine, is still at its run.
const (
	heartbeat = 5 * time.Second
	stale     = 2 * time.Minute
)

// Busy is the error of Lock when another process is at the run.
type Busy struct{ Owner env.Process }

func (b *Busy) Error() string {
	return fmt.Sprintf("process %d on %s is computing this run", b.Owner.PID, strings.SplitN(b.Owner.Machine, "/", 2)[0])
}

// Lock is the right to compute a run.
type Lock struct {
	file string
	text []byte
	lost chan struct{}
	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
}

// owner is what a lock's file says.
type owner struct {
	env.Process
	Token string `json:"token"`
}

// Lock takes the right to compute a run, or returns a *Busy.
//
// A lock is a file <key>.<n>.lock that only one process can create. One whose
// owner is gone is superseded by the next number and removed. Whoever creates a
// file then looks at all others: of two that came at the same time at least one
// sees the other, and steps back.
func (s *Store) Lock(key string) (*Lock, error) {
	dir := s.work("locks")
	number, busy, err := s.locks(dir, key, "")
	if err != nil {
		return nil, s.explain(err)
	}
	if busy != nil {
		return nil, busy
	}
	me := owner{env.Self(), token()}
	text, err := json.Marshal(me)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, fmt.Sprintf("%s.%d.lock", key, number+1))
	if err := writeFile(file, text); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, &Busy{}
		}
		os.Remove(file)
		return nil, s.explain(err)
	}
	if _, busy, err = s.locks(dir, key, file); err != nil || busy != nil {
		os.Remove(file)
		if err != nil {
			return nil, s.explain(err)
		}
		return nil, busy
	}
	l := &Lock{file: file, text: text, lost: make(chan struct{}), stop: make(chan struct{})}
	l.done.Add(1)
	go l.beat()
	return l, nil
}

// locks looks at the locks of a run. It returns the highest number, and who holds
// one of them; the others are removed once mine, the file of the asker, is there.
func (s *Store) locks(dir, key, mine string) (highest int, busy *Busy, err error) {
	files, err := filepath.Glob(filepath.Join(dir, key+".*.lock"))
	if err != nil {
		return 0, nil, err
	}
	var dead []string
	for _, f := range files {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), key+"."), ".lock"))
		if err != nil {
			continue
		}
		highest = max(highest, n)
		if f == mine {
			continue
		}
		who, alive := s.alive(f)
		if alive {
			busy = &Busy{who}
			continue
		}
		dead = append(dead, f)
	}
	if mine != "" && busy == nil {
		for _, f := range dead {
			os.Remove(f)
		}
	}
	return highest, busy, nil
}

// alive judges a lock: by its owner's process if it is on this machine, else by
// the age of its heartbeat. The clock for that is the file system's own.
func (s *Store) alive(file string) (env.Process, bool) {
	var who owner
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return who.Process, false
	}
	b, readErr := os.ReadFile(file)
	if readErr == nil && json.Unmarshal(b, &who) == nil {
		if running, known := who.Running(); known {
			return who.Process, running
		}
	}
	if err != nil {
		return who.Process, true
	}
	return who.Process, s.now().Sub(info.ModTime()) < stale
}

// now returns the time as the file system's clock has it.
func (s *Store) now() time.Time {
	probe := filepath.Join(s.work("tmp"), "clock."+token())
	defer os.Remove(probe)
	if writeFile(probe, nil) == nil {
		if info, err := os.Stat(probe); err == nil {
			return info.ModTime()
		}
	}
	return time.Now()
}

// beat shows that the owner is alive until Unlock.
func (l *Lock) beat() {
	defer l.done.Done()
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

// touch writes the file's text over itself, so that the file system sets its time
// by its own clock. It reports whether the file is still there and still ours.
func (l *Lock) touch() bool {
	if !l.mine() {
		return false
	}
	f, err := os.OpenFile(l.file, os.O_WRONLY, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	f.WriteAt(l.text, 0) // a full disk or the like must not stop the run
	return true
}

// mine tells whether the file is ours, as far as it can be read.
func (l *Lock) mine() bool {
	b, err := os.ReadFile(l.file)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return bytes.Equal(b, l.text)
}

// Lost is closed when another process took the lock, believing this one gone.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Unlock gives the lock back.
func (l *Lock) Unlock() {
	l.once.Do(func() {
		close(l.stop)
		l.done.Wait()
		if l.mine() {
			os.Remove(l.file)
		}
	})
}
