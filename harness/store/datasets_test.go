package store

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/experiment"
)

func TestDatasets(t *testing.T) {
	s := prepared(t)
	if known, err := s.Datasets(); len(known.sets) != 0 || err != nil {
		t.Errorf("in an empty folder: %v, %v", known, err)
	}
	two := experiment.Data{Name: "two", Use: "mnist", Dir: "/here", Config: data.Config{Classes: []int{0, 1}}}
	mine := experiment.Data{Name: "mine", Config: data.Config{Format: "npz", Train: "a.npz", SplitSeed: 1<<53 + 1}}
	entry := func(d experiment.Data, digest string) Known {
		return Known{Data: d, DatasetIdentity: experiment.DatasetIdentity{Name: d.Name, Classes: []string{"a", "b"}, Digest: digest}, Shape: Shape{Train: 9}, Smallest: 4}
	}
	for _, sets := range [][]Known{{entry(two, "1")}, {entry(mine, "2")}, {entry(mine, "3")}} {
		if err := s.Remember(t.Context(), sets); err != nil {
			t.Fatal(err)
		}
	}
	known, err := s.Datasets()
	if err != nil || len(known.sets) != 2 {
		t.Fatalf("%v, %v", known, err)
	}
	two.Dir, two.Title = "/there", "Two digits"
	if k, ok := known.Find(two); !ok || k.Digest != "1" || k.Smallest != 4 || k.Shape.Train != 9 || !reflect.DeepEqual(k.Classes, []string{"a", "b"}) {
		t.Errorf("found %+v, %v", k, ok)
	}
	if k, _ := known.Find(mine); k.Digest != "3" {
		t.Errorf("the entry of the last Remember is lost: %+v", k)
	}
	elsewhere := mine
	elsewhere.Dir = "elsewhere"
	if k, ok := known.Find(elsewhere); ok {
		t.Errorf("files in another folder count as known: %+v", k)
	}
	two.Classes = []int{1, 0}
	if k, ok := known.Find(two); ok {
		t.Errorf("other classes count as known: %+v", k)
	}
	if err := os.WriteFile(s.dataFile(), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Datasets(); err == nil || !strings.Contains(err.Error(), "hint: delete it") {
		t.Errorf("damaged: %v", err)
	}
	if err := s.Remember(t.Context(), []Known{entry(two, "1")}); err != nil {
		t.Error(err)
	}
	if known, err := s.Datasets(); len(known.sets) != 1 || err != nil {
		t.Errorf("after damage: %v, %v", known, err)
	}
}

// Unreadable JSON in another folder does not cost this folder its entries.
func TestRememberNextToDamage(t *testing.T) {
	own, other := t.TempDir(), prepared(t)
	if err := os.WriteFile(other.dataFile(), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := Open(own, other.Dir()).Remember(t.Context(), []Known{{Data: experiment.Data{Name: name, Use: name}}}); err != nil {
			t.Fatal(err)
		}
	}
	if known, err := Open(own, other.Dir()).Datasets(); len(known.sets) != 2 || err == nil {
		t.Errorf("%d of 2 datasets are known: %v", len(known.sets), err)
	}
}

// Several stores may add datasets at the same time.
func TestRememberTogether(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			d := experiment.Data{Name: fmt.Sprint("d", i), Use: fmt.Sprint("d", i)}
			if err := Open(dir).Remember(t.Context(), []Known{{Data: d}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	known, err := Open(dir).Datasets()
	if err != nil || len(known.sets) != 20 {
		t.Errorf("%d of 20 datasets are known: %v", len(known.sets), err)
	}
}
