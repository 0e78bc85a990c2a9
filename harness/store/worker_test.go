package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"dgkip/harness/env"
)

// That the owner of a lock is there is known at once under the same kernel, and under
// another one as soon as the lock is seen to change.
func TestAlive(t *testing.T) {
	s := prepared(t)
	key := draft(1).Result.Identity.Key()
	busy := func(want bool) {
		t.Helper()
		var b *Busy
		if _, err := s.Lock(key); !errors.As(err, &b) || b.Alive != want {
			t.Errorf("%v, %+v, want alive %v", err, b, want)
		}
		if l, err := s.Retake(key); l != nil || !errors.As(err, &b) {
			t.Errorf("retaken: %v", err)
		}
	}
	who := owner{Host: "far", PID: 7, Kernel: "another", Token: "t"}
	file := plant(t, s, key, who)
	busy(false)
	busy(false)
	who.Beat++
	plant(t, s, key, who)
	busy(true)
	busy(true)
	os.Remove(file)
	if l, err := s.Retake(key); l != nil || err != nil {
		t.Errorf("retaken from nobody: %v, %v", l, err)
	}
	if env.Kernel() == "" {
		t.Skip("SKIPPED: this system does not name its kernel")
	}
	l, err := Open(s.dir).Lock(key)
	if err != nil {
		t.Fatal(err)
	}
	busy(true)
	l.Unlock()
}

// A process on another host, whose clock differs by hours, keeps its lock as long as it
// lives. When it is gone the lock is taken over, and not before it was quiet for long;
// should it only have been asleep, it learns that.
func TestLockOfAnotherHost(t *testing.T) {
	defer func(a, b time.Duration) { heartbeat, stale = a, b }(heartbeat, stale)
	heartbeat, stale = 20*time.Millisecond, 300*time.Millisecond
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		here := prepared(t)
		there := &Store{dir: here.dir, kernel: "another"}
		key := draft(1).Result.Identity.Key()
		theirs, err := there.Lock(key, "more")
		if err != nil {
			t.Fatal(err)
		}
		clock := func() {
			when := time.Now().Add(ahead)
			if err := os.Chtimes(theirs.file, when, when); err != nil {
				t.Error(err)
			}
		}
		var busy *Busy
		for from := time.Now(); time.Since(from) < 3*stale; time.Sleep(heartbeat / 2) {
			clock()
			if _, err := here.Retake(key); !errors.As(err, &busy) {
				t.Fatalf("clock %v ahead: the lock of one who lives is taken over: %v", ahead, err)
			}
		}
		if !busy.Alive {
			t.Errorf("clock %v ahead: the lock changes, and nobody sees it", ahead)
		}
		if also, taken := here.Taken(key); !taken || !slices.Equal(also, []string{"more"}) {
			t.Errorf("taken %v, with %q", taken, also)
		}
		close(theirs.stop) // as if it were killed
		theirs.done.Wait()
		clock()
		here.Retake(key) // sees it as it is from now on
		quiet := time.Now()
		var mine *Lock
		for mine == nil && time.Since(quiet) < 10*stale {
			mine, err = here.Lock(key)
			time.Sleep(heartbeat / 2)
		}
		if after := time.Since(quiet); mine == nil || after < stale {
			t.Fatalf("clock %v ahead: taken over after %v of quiet: %v", ahead, after, err)
		}
		if theirs.touch() {
			t.Error("what was taken over is still theirs")
		}
		if !mine.touch() {
			t.Error("what was taken over is not ours")
		}
		mine.Unlock()
	}
}

// Under one kernel, a lock on a device of its own says nothing by what the kernel knows:
// its owner may have mounted the folder for himself. Whether it lives shows in time.
func TestLockOfAnotherMount(t *testing.T) {
	s := prepared(t)
	if s.kernel == "" {
		t.Skip("SKIPPED: this system does not name its kernel")
	}
	key := draft(1).Result.Identity.Key()
	file := plant(t, s, key, owner{Host: "pod", PID: 1, Kernel: s.kernel, Device: "elsewhere", Token: "t"})
	var busy *Busy
	if _, err := s.Lock(key); !errors.As(err, &busy) || busy.Alive {
		t.Errorf("taken over at once: %v", err)
	}
	os.Remove(file)
	l, err := s.Lock(key)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	if runtime.GOOS != "windows" && l.me.Device == "" {
		t.Error("a lock does not say on which device it is")
	}
}

// Servers of shared folders have an error of their own for what was removed elsewhere.
func TestGone(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, syscall.EIO: false, syscall.ENOENT: true, syscall.ESTALE: true,
		&fs.PathError{Op: "read", Path: "a", Err: syscall.ESTALE}: true,
	} {
		if gone(err) != want {
			t.Errorf("%v: gone is not %v", err, want)
		}
	}
}

// Processes under one kernel see each other at work, and do not see those that ended.
func TestPresence(t *testing.T) {
	if env.Kernel() == "" {
		t.Skip("SKIPPED: this system does not name its kernel")
	}
	s := prepared(t)
	a := s.Attend()
	if a.Others() {
		t.Error("there are others besides one")
	}
	b := Open(s.dir).Attend()
	if !a.Others() || !b.Others() {
		t.Error("two do not see each other")
	}
	b.Leave()
	b.Leave()
	killed := func(device string, ago time.Duration) (file string) {
		t.Helper()
		file = filepath.Join(filepath.Dir(a.f.Name()), "killed-"+device)
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-ago)
		if err := os.Chtimes(file, then, then); err != nil {
			t.Fatal(err)
		}
		return file
	}
	left := killed(a.device, 0)
	if a.Others() || b.Others() {
		t.Error("the other has left")
	}
	if _, err := os.Stat(left); err != nil {
		t.Error("what may be new, and not locked yet, is gone")
	}
	left = killed(a.device, 2*time.Minute)
	if a.Others() {
		t.Error("one that was killed is seen")
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed process left is still there")
	}
	// Nobody can lock what another one has mounted for himself.
	killed("elsewhere", 2*time.Minute)
	if !a.Others() {
		t.Error("one on a device of its own is not seen")
	}
	killed("elsewhere", 4*time.Minute)
	if a.Others() {
		t.Error("one on a device of its own has shown nothing for long")
	}
	a.Leave()
	if left, _ := filepath.Glob(filepath.Join(s.work("hosts"), "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A listing knows what the store does, and does not look for what was not there.
func TestList(t *testing.T) {
	s := prepared(t)
	a, b, c := draft(1), draft(2), draft(3)
	key := func(d Draft) string { return d.Result.Identity.Key() }
	if _, err := s.Put(a, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Fail(Failure{Identity: b.Result.Identity}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.run(key(c)), 0o777); err != nil {
		t.Fatal(err)
	}
	l := s.List()
	for _, d := range []Draft{a, b, c, draft(4)} {
		k := key(d)
		if l.Has(k) != s.Has(k) || (l.Failed(k) == nil) != (s.Failed(k) == nil) || (l.Damaged(k) == nil) != (s.Damaged(k) == nil) || l.Outdated(k) != nil {
			t.Errorf("listed %v %v %v", l.Has(k), l.Failed(k), l.Damaged(k))
		}
	}
	if _, err := s.Put(draft(4), false); err != nil {
		t.Fatal(err)
	}
	if l.Has(key(draft(4))) {
		t.Error("a listing knows of what came later")
	}
}

// One process at a time computes what the cache is to keep.
func TestClaim(t *testing.T) {
	s := prepared(t)
	c := s.Cache(1<<20, nil)
	l, err := c.Claim("a")
	if err != nil {
		t.Fatal(err)
	}
	var busy *Busy
	if _, err := Open(s.dir).Cache(1<<20, nil).Claim("a"); !errors.As(err, &busy) {
		t.Errorf("claimed twice: %v", err)
	}
	if other, err := c.Claim("b"); err != nil {
		t.Error(err)
	} else {
		other.Unlock()
	}
	l.Unlock()
	if l, err = c.Claim("a"); err != nil {
		t.Fatal(err)
	}
	l.Unlock()
	if left, _ := filepath.Glob(filepath.Join(s.dir, "work", "locks", "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// What the cache has no room for is computed by everybody, as nobody can hand it on.
func TestClaimWithoutRoom(t *testing.T) {
	s := prepared(t)
	small := s.Cache(100, nil)
	l, err := small.Claim("a")
	if l == nil || err != nil {
		t.Fatalf("claim: %v, %v", l, err)
	}
	save(small, "a")
	l.Unlock()
	if l, err := s.Cache(100, nil).Claim("a"); l != nil || err != nil {
		t.Errorf("a lock on what cannot be kept: %v, %v", l, err)
	}
	large := s.Cache(1<<20, nil)
	save(large, "a")
	if l, err = large.Claim("a"); l == nil || err != nil {
		t.Fatalf("claim with room: %v, %v", l, err)
	}
	l.Unlock()
}
