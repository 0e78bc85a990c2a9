package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dgkip/harness/spec"
)

// Known is what is known of a dataset without opening it, so that the keys of its
// runs are.
type Known struct {
	Declared map[string]any `json:"declared"` // by spec.Data.Declared

	spec.DatasetIdentity
	BuiltIn  bool  `json:"built_in"`
	Shape    Shape `json:"shape"`
	Smallest int   `json:"smallest"` // training images of the class that has fewest
}

// Datasets are known datasets by what is declared of them.
type Datasets map[string]Known

// Find returns what is known of declared data.
func (d Datasets) Find(declared spec.Data) (Known, bool) {
	k, ok := d[string(spec.Canonical(declared.Declared()))]
	return k, ok
}

var errNoJSON = errors.New("it is no JSON of known data")

// dataSchema is the version of the form of data.json.
const dataSchema = 1

type dataFile struct {
	Schema int     `json:"schema"`
	Sets   []Known `json:"sets"`
}

func (s *Store) dataFile() string { return filepath.Join(s.dir, "data.json") }

// Datasets reads what is known of datasets. Where nothing is, it is empty.
func (s *Store) Datasets() (Datasets, error) {
	out := Datasets{}
	b, err := os.ReadFile(s.dataFile())
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	var f dataFile
	if err := json.Unmarshal(b, &f); err != nil {
		return out, fmt.Errorf("%s: %w: %w\nhint: delete it; a run of the experiment without -collect writes it again", s.dataFile(), errNoJSON, err)
	}
	if f.Schema != dataSchema {
		return out, fmt.Errorf("%s: schema %d is not read by this program, which knows %d", s.dataFile(), f.Schema, dataSchema)
	}
	for _, k := range f.Sets {
		out[string(spec.Canonical(k.Declared))] = k
	}
	return out, nil
}

// Remember adds datasets to those that are known, in place of what was known of
// them.
func (s *Store) Remember(sets []Known) error {
	known, err := s.Datasets()
	if err != nil && !errors.Is(err, errNoJSON) { // what is no JSON is written anew
		return err
	}
	for _, k := range sets {
		known[string(spec.Canonical(k.Declared))] = k
	}
	f := dataFile{Schema: dataSchema}
	for _, k := range known {
		f.Sets = append(f.Sets, k)
	}
	slices.SortFunc(f.Sets, func(a, b Known) int {
		return strings.Compare(string(spec.Canonical(a.Declared)), string(spec.Canonical(b.Declared)))
	})
	b := indented(f)
	if old, err := os.ReadFile(s.dataFile()); err == nil && string(old) == string(b) || len(sets) == 0 {
		return nil
	}
	if err := s.makeDir(s.work("tmp")); err != nil {
		return s.explain(err)
	}
	return s.explain(s.replace(s.dataFile(), "data", b))
}
