package store

import (
	"errors"
	"path/filepath"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/spec"
)

// A record is brought in under the lock of its run: whoever opens the folder meanwhile
// takes what is half written and has no owner for that of a dead process, and removes it.
func TestMergeLocks(t *testing.T) {
	from, s := prepared(t), prepared(t)
	record, err := from.Put(draft(0), false)
	if err != nil {
		t.Fatal(err)
	}
	key := record.Result.Key
	lock, err := s.Lock(key)
	if err != nil {
		t.Fatal(err)
	}
	busy := new(Busy)
	if _, _, err := s.Merge(t.Context(), from.Dir()); !errors.As(err, &busy) || s.Has(key) {
		t.Errorf("while another has the lock: %v", err)
	}
	lock.Unlock()
	if added, _, err := s.Merge(t.Context(), from.Dir()); added != 1 || err != nil {
		t.Errorf("%d added, %v", added, err)
	}
	if lock, err := s.Lock(key); err != nil {
		t.Errorf("the lock is kept: %v", err)
	} else {
		lock.Unlock()
	}
}

// Data of one's own is known after a merge from a folder at another depth, too, where
// the paths to it are others.
func TestMergeKnowsOwnData(t *testing.T) {
	top := t.TempDir()
	from, s := Open(filepath.Join(top, "scratch", "part")), Open(filepath.Join(top, "results"))
	if err := errors.Join(from.Prepare(), s.Prepare()); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Put(draft(0), false); err != nil {
		t.Fatal(err)
	}
	mine := spec.Data{Name: "mine", Dir: filepath.Join(top, "mine"), Config: data.Config{Format: "npz", Train: "a.npz"}}
	if err := from.Remember(t.Context(), []Known{{Data: mine, Smallest: 7}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Merge(t.Context(), from.Dir()); err != nil {
		t.Fatal(err)
	}
	known, err := s.Datasets()
	if k, ok := known.Find(mine); err != nil || !ok || k.Smallest != 7 {
		t.Errorf("%+v, %v", known, err)
	}
}
