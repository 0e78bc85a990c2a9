package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/experiment"
)

// Merge works while other processes hold locks and tidy the folder.
func TestMergeWhileTidying(t *testing.T) {
	from, s := prepared(t), prepared(t)
	const n = 40
	for seed := range uint64(n) {
		if _, err := from.Put(draft(seed), false); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := s.Lock(draft(0).Result.Identity.Key())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	over := make(chan struct{})
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					s.Tidy()
				}
			}
		})
	}
	merged, err := s.Merge(t.Context(), from.Dir())
	close(over)
	others.Wait()
	if merged != (Merged{Added: n}) || err != nil {
		t.Errorf("%+v instead of %d added, %v", merged, n, err)
	}
	keys, err := s.Keys()
	if len(keys) != n || err != nil {
		t.Errorf("%d records, %v", len(keys), err)
	}
	for _, key := range keys {
		record, err := s.Get(key)
		if err == nil {
			err = record.Verify()
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// User data stays known after a merge from another folder, where its relative path differs.
func TestMergeUserData(t *testing.T) {
	top := t.TempDir()
	from, s := Open(filepath.Join(top, "scratch", "part")), Open(filepath.Join(top, "results"))
	if err := errors.Join(from.Prepare(), s.Prepare(), os.Mkdir(filepath.Join(top, "mine"), 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Put(draft(0), false); err != nil {
		t.Fatal(err)
	}
	mine := experiment.Data{Name: "mine", Dir: filepath.Join(top, "mine"), Config: data.Config{Format: "npz", Train: "a.npz"}}
	if err := from.Remember(t.Context(), []Known{{Data: mine, Smallest: 7}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Merge(t.Context(), from.Dir()); err != nil {
		t.Fatal(err)
	}
	known, err := s.Datasets()
	if k, ok := known.Find(mine); err != nil || !ok || k.Smallest != 7 {
		t.Errorf("%+v, %v", known, err)
	}
}

// Merge adds sets and other optional files that a record lacks.
func TestMergeCompletes(t *testing.T) {
	from, s := prepared(t), prepared(t)
	r, err := s.Put(draft(0), false)
	if err != nil {
		t.Fatal(err)
	}
	set, err := r.File(SetFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := from.Merge(t.Context(), s.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.Dir, SetFile)); err != nil {
		t.Fatal(err)
	}
	if merged, err := s.Merge(t.Context(), from.Dir()); merged != (Merged{Same: 1, Completed: 1}) || err != nil {
		t.Errorf("%+v, %v", merged, err)
	}
	if again, err := r.File(SetFile); err != nil || !bytes.Equal(again, set) {
		t.Errorf("the set is not here: %v", err)
	}
	if merged, err := s.Merge(t.Context(), from.Dir()); merged != (Merged{Same: 1}) || err != nil {
		t.Errorf("once more: %+v, %v", merged, err)
	}
}

// Merge replaces a damaged record and keeps it aside.
func TestMergeRepairs(t *testing.T) {
	from, s := prepared(t), prepared(t)
	for seed := range uint64(2) {
		if _, err := from.Put(draft(seed), false); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.Put(draft(0), false)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(r.Dir, "result.json"), "test_acc", "test_bcc")
	if merged, err := s.Merge(t.Context(), from.Dir()); merged != (Merged{Added: 2}) || err != nil {
		t.Errorf("%+v, %v", merged, err)
	}
	if _, err := s.Whole(r.Result.Key); err != nil || len(entries(s.Aside())) != 1 {
		t.Errorf("%d records are aside, %v", len(entries(s.Aside())), err)
	}
}
