package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dgkip/harness/experiment"
)

// Known describes a dataset without opening it. The keys of runs can be computed from it.
type Known struct {
	Data     experiment.Data `json:"-"`        // as the experiment declares it
	Declared map[string]any  `json:"declared"` // declaration of Data; set by Remember

	experiment.DatasetIdentity
	BuiltIn  bool  `json:"built_in"`
	Shape    Shape `json:"shape"`
	Smallest int   `json:"smallest"` // training images in the smallest class
}

// Datasets holds known datasets by their declaration.
type Datasets struct {
	dir  string // folder of the store; relative paths of user data start there
	sets map[string]Known
	also []Datasets // known in other folders
}

// Find returns the dataset with a declaration, and whether it is known.
func (d Datasets) Find(declared experiment.Data) (Known, bool) {
	k, ok := d.sets[string(experiment.Canonical(declared.Declared(d.dir)))]
	for i := 0; i < len(d.also) && !ok; i++ {
		k, ok = d.also[i].Find(declared)
	}
	return k, ok
}

var errNoJSON = errors.New("this is not the JSON that the program writes")

// dataSchema is the format version of data.json.
const dataSchema = 1

type dataFile struct {
	Schema int     `json:"schema"`
	Sets   []Known `json:"sets"`
}

func (s *Store) dataFile() string { return filepath.Join(s.dir, "data.json") }

// Datasets reads data.json, also in the other folders. The result is empty if there is no such file.
// With an error, it has the entries that could be read.
func (s *Store) Datasets() (Datasets, error) {
	out, err := s.ownDatasets()
	for _, other := range s.also {
		known, unread := other.Datasets()
		out.also, err = append(out.also, known), cmp.Or(err, unread)
	}
	return out, err
}

// ownDatasets is Datasets without the other folders.
func (s *Store) ownDatasets() (Datasets, error) {
	out := Datasets{dir: s.dir, sets: map[string]Known{}}
	b, err := readFile(s.dataFile())
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	var f dataFile
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber() // float64 would round a large split_seed
	err = dec.Decode(&f)
	if err == nil && dec.More() {
		err = errors.New("something follows the JSON")
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w: %w\nhint: delete it; a run of the experiment without -collect writes it again", s.dataFile(), errNoJSON, err)
	}
	if f.Schema != dataSchema {
		return out, fmt.Errorf("%s: this program reads schema %d, not %d\nhint: use the version of this program that wrote it, or delete it; a run of the experiment without -collect writes it again", s.dataFile(), dataSchema, f.Schema)
	}
	for _, k := range f.Sets {
		out.sets[string(experiment.Canonical(k.Declared))] = k
	}
	return out, nil
}

// Remember adds datasets to data.json, and replaces entries with the same declaration. A lock keeps
// processes from writing at the same time.
func (s *Store) Remember(ctx context.Context, sets []Known) error {
	sets = slices.Clone(sets)
	for i, k := range sets {
		sets[i].Declared = k.Data.Declared(s.dir)
	}
	return s.remember(ctx, sets)
}

func (s *Store) remember(ctx context.Context, sets []Known) error {
	if b, err := s.merged(sets); err != nil || b == nil {
		return err
	}
	if err := os.MkdirAll(s.work("tmp"), 0o777); err != nil {
		return s.explain(err)
	}
	lock, err := s.lockData(ctx)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	b, err := s.merged(sets) // another process may have changed data.json
	if err != nil || b == nil {
		return err
	}
	return s.explain(s.replace(s.dataFile(), "data", b))
}

// lockData waits for the lock of data.json, which processes hold only briefly.
func (s *Store) lockData(ctx context.Context) (*Lock, error) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		lock, err := s.lock(s.work("data.lock"))
		if !errors.As(err, new(*Busy)) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause/2 + time.Duration(rand.Int64N(int64(pause)))):
		}
	}
}

// merged returns the new content of data.json with these datasets added, or nil if nothing changes.
func (s *Store) merged(sets []Known) ([]byte, error) {
	known, err := s.ownDatasets()
	if err != nil && !errors.Is(err, errNoJSON) { // unreadable JSON is replaced
		return nil, err
	}
	for _, k := range sets {
		known.sets[string(experiment.Canonical(k.Declared))] = k
	}
	f := dataFile{Schema: dataSchema}
	for _, name := range slices.Sorted(maps.Keys(known.sets)) {
		f.Sets = append(f.Sets, known.sets[name])
	}
	b := indented(f)
	if old, err := os.ReadFile(s.dataFile()); err == nil && bytes.Equal(old, b) || len(sets) == 0 {
		return nil, nil
	}
	return b, nil
}
