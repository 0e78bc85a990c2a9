package store

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRecover(t *testing.T) {
	s := prepared(t)
	take := func(dir, key string) (old string) {
		t.Helper()
		old = filepath.Join(s.work("tmp"), key+"."+token()+oldSuffix)
		if err := os.Rename(dir, old); err != nil {
			t.Fatal(err)
		}
		return old
	}
	record, err := s.Put(draft(1), false)
	if err != nil {
		t.Fatal(err)
	}
	key := record.Result.Key
	old := take(record.Dir, key)
	fresh := old[:len(old)-len(oldSuffix)]
	if err := os.Mkdir(fresh, 0o777); err != nil {
		t.Fatal(err)
	}
	// Whoever replaces it may still be there.
	lock, err := s.Lock(key)
	if err != nil {
		t.Fatal(err)
	}
	if s.Recover(); s.Has(key) {
		t.Error("taken out of the hands of its owner")
	}
	lock.Unlock()
	if s.Recover(); !s.Has(key) {
		t.Error("the record is not back")
	}
	// With a record in its place the old one has served.
	take(record.Dir, key)
	if _, err := s.Put(draft(1), false); err != nil {
		t.Fatal(err)
	}
	s.Recover()
	if !s.Has(key) {
		t.Error("the record is gone")
	}
	// A failure is not a record.
	d := draft(2)
	if err := s.Fail(Failure{Identity: d.Result.Identity}); err != nil {
		t.Fatal(err)
	}
	take(s.failed(d.Result.Identity.Key()), d.Result.Identity.Key())
	s.Recover()
	if _, err := os.Stat(s.run(d.Result.Identity.Key())); err == nil {
		t.Error("a failure stands in the place of a record")
	}
	if left, _ := os.ReadDir(s.work("tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	Open(filepath.Join(t.TempDir(), "none")).Recover() // nothing to do
}

func TestForcedCheckpoints(t *testing.T) {
	s := prepared(t)
	key := draft(1).Result.Identity.Key()
	expect := func(forced bool, want string) {
		t.Helper()
		if got, err := s.Checkpoint(key, forced); string(got) != want || err != nil {
			t.Errorf("forced %v: %q, %v, want %q", forced, got, err, want)
		}
	}
	save := func(forced bool, state string) {
		t.Helper()
		if err := s.SaveCheckpoint(key, forced, []byte(state)); err != nil {
			t.Fatal(err)
		}
	}
	save(false, "plain")
	expect(true, "")
	save(true, "forced")
	expect(true, "forced")
	expect(false, "plain")
	os.Remove(s.checkpoint(key, false))
	expect(false, "forced")
	lock, err := s.Lock(key)
	if err != nil {
		t.Fatal(err)
	}
	s.DropForced(key)
	expect(true, "forced") // of a run that is under way
	lock.Unlock()
	s.DropForced(key)
	expect(true, "")
	save(false, "plain")
	save(true, "forced")
	s.DropCheckpoint(key)
	expect(false, "")
}
