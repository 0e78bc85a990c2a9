package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/spec"
)

// A record is brought in whoever is at its run, and whoever opens the folder meanwhile
// leaves what is half written.
func TestMergeBesideOthers(t *testing.T) {
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
	defer lock.Unlock()
	if added, _, err := s.Merge(t.Context(), from.Dir()); added != 1 || err != nil || !s.Has(key) {
		t.Errorf("while another has the lock: %d added, %v", added, err)
	}
	half := filepath.Join(s.work("tmp"), "merge."+token()) // as place writes it
	if err := writeAll(half, map[string][]byte{"result.json": nil}); err != nil {
		t.Fatal(err)
	}
	Open(s.Dir())
	if _, err := os.Stat(half); err != nil {
		t.Error(err)
	}
}

// Data of one's own is known after a merge from a folder at another depth, too, where
// the paths to it are others.
func TestMergeKnowsOwnData(t *testing.T) {
	top := t.TempDir()
	from, s := Open(filepath.Join(top, "scratch", "part")), Open(filepath.Join(top, "results"))
	if err := errors.Join(from.Prepare(), s.Prepare(), os.Mkdir(filepath.Join(top, "mine"), 0o777)); err != nil {
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
