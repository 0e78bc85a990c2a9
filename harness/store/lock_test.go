package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dgkip/harness/env"
)

// quickly shortens Touch and Stale.
func quickly(t *testing.T) {
	t.Helper()
	a, b := Touch, Stale
	Touch, Stale = 20*time.Millisecond, time.Second
	t.Cleanup(func() { Touch, Stale = a, b })
}

// plant creates the lock of another process with a given age.
func plant(t *testing.T, s *Store, key string, who holder, ago time.Duration) (file string) {
	t.Helper()
	b, err := json.Marshal(who)
	if err != nil {
		t.Fatal(err)
	}
	file = s.lockFile(key)
	when := time.Now().Add(-ago)
	if err := errors.Join(os.WriteFile(file, b, 0o666), os.Chtimes(file, when, when)); err != nil {
		t.Fatal(err)
	}
	return file
}

// A lock names its holder, until it is released or stale.
func TestFreshAndStale(t *testing.T) {
	s := prepared(t)
	key := draft(1).Result.Identity.Key()
	for _, who := range []holder{{Host: "far", PID: 7, Token: "t"}, {}} {
		file := plant(t, s, key, who, Stale-time.Minute)
		var busy *Busy
		if _, err := s.Lock(key); !errors.As(err, &busy) || busy.Host != who.Host || busy.PID != who.PID || !strings.Contains(err.Error(), file) {
			t.Errorf("a fresh lock: %v", err)
		}
		if !s.Locked()[key] {
			t.Error("a fresh lock does not count")
		}
		plant(t, s, key, who, Stale+time.Second)
		if len(s.Locked()) > 0 {
			t.Error("a stale lock counts")
		}
		l, err := s.Lock(key)
		if err != nil {
			t.Fatalf("a stale lock: %v", err)
		}
		l.Unlock()
		if left := entries(s.work("locks")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

// The holder keeps a lock fresh. When the holder stops, another takes the lock over. If the first
// holder then continues, it leaves the lock alone.
func TestTakeOver(t *testing.T) {
	quickly(t)
	here, key := prepared(t), draft(1).Result.Identity.Key()
	there := Open(here.dir)
	theirs, err := there.Lock(key)
	if err != nil {
		t.Fatal(err)
	}
	for from := time.Now(); time.Since(from) < 2*Stale; time.Sleep(Touch) {
		if _, err := here.Lock(key); !errors.As(err, new(*Busy)) {
			t.Fatalf("the lock of a live holder is taken over: %v", err)
		}
	}
	close(theirs.stop) // as if it were killed
	theirs.done.Wait()
	var mine *Lock
	quiet := time.Now()
	for mine == nil && time.Since(quiet) < 10*Stale {
		mine, err = here.Lock(key)
		time.Sleep(Touch / 2)
	}
	if mine == nil {
		t.Fatalf("not taken over: %v", err)
	}
	theirs.stop = make(chan struct{})
	theirs.done.Go(theirs.keep)
	time.Sleep(3 * Touch)
	theirs.Unlock()
	if !mine.mine() {
		t.Error("the former holder has taken the lock back")
	}
	mine.Unlock()
	if _, err := os.Stat(mine.file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Unlock: %v", err)
	}
}

// Others counts only fresh locks on this host.
func TestOthers(t *testing.T) {
	s := prepared(t)
	lock, err := s.Lock(draft(1).Result.Identity.Key())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	key := draft(2).Result.Identity.Key()
	for _, c := range []struct {
		host string
		ago  time.Duration
		want bool
	}{{env.Read().Name, 0, true}, {env.Read().Name, 2 * Stale, false}, {"far", 0, false}} {
		plant(t, s, key, holder{Host: c.host, Token: "t"}, c.ago)
		if s.Others() != c.want {
			t.Errorf("a lock on %s, %v old: others %v", c.host, c.ago, !c.want)
		}
	}
}

// In a read-only folder, no lock is taken or removed.
func TestLockReadOnly(t *testing.T) {
	s := prepared(t)
	key := draft(1).Result.Identity.Key()
	file := plant(t, s, key, holder{Host: "far"}, 2*Stale)
	for _, dir := range []string{s.work("locks"), s.work("tmp")} {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o777)
	}
	if probe := filepath.Join(s.work("tmp"), "x"); os.WriteFile(probe, nil, 0o666) == nil {
		t.Skip("SKIPPED: the superuser may write anywhere")
	}
	if _, err := s.Lock(key); !errors.As(err, new(*Busy)) {
		t.Errorf("with a stale lock: %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if _, err := s.Lock(draft(2).Result.Identity.Key()); !errors.Is(err, ErrStorage) {
		t.Errorf("without a lock: %v", err)
	}
}
