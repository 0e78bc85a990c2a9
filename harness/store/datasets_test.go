package store

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/spec"
)

func TestDatasets(t *testing.T) {
	s := prepared(t)
	if known, err := s.Datasets(); len(known) != 0 || err != nil {
		t.Errorf("before anything is known: %v, %v", known, err)
	}
	two := spec.Data{Name: "two", Use: "mnist", Dir: "/here", Config: data.Config{Classes: []int{0, 1}}}
	mine := spec.Data{Name: "mine", Config: data.Config{Format: "npz", Train: "a.npz"}}
	entry := func(d spec.Data, digest string) Known {
		return Known{Declared: d.Declared(), DatasetIdentity: spec.DatasetIdentity{Name: d.Name, Classes: []string{"a", "b"}, Digest: digest}, Shape: Shape{Train: 9}, Smallest: 4}
	}
	for _, sets := range [][]Known{{entry(two, "1")}, {entry(mine, "2")}, {entry(mine, "3")}} {
		if err := s.Remember(sets); err != nil {
			t.Fatal(err)
		}
	}
	known, err := s.Datasets()
	if err != nil || len(known) != 2 {
		t.Fatalf("%v, %v", known, err)
	}
	two.Dir, two.Title = "/there", "Two digits"
	if k, ok := known.Find(two); !ok || k.Digest != "1" || k.Smallest != 4 || k.Shape.Train != 9 || !reflect.DeepEqual(k.Classes, []string{"a", "b"}) {
		t.Errorf("found %+v, %v", k, ok)
	}
	if k, _ := known.Find(mine); k.Digest != "3" {
		t.Errorf("what was opened last does not stand: %+v", k)
	}
	two.Classes = []int{1, 0}
	if k, ok := known.Find(two); ok {
		t.Errorf("other classes are taken for known ones: %+v", k)
	}
	if err := os.WriteFile(s.dataFile(), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Datasets(); err == nil || !strings.Contains(err.Error(), "hint: delete it") {
		t.Errorf("damaged: %v", err)
	}
	if err := s.Remember([]Known{entry(two, "1")}); err != nil {
		t.Error(err)
	}
	if known, err := s.Datasets(); len(known) != 1 || err != nil {
		t.Errorf("after it was damaged: %v, %v", known, err)
	}
}
