package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"dgkip/harness/experiment"
)

// ErrNothing is wrapped by errors of folders without records to merge.
var ErrNothing = errors.New("no records")

// Merged counts the records of another folder.
type Merged struct {
	Added     int // or put in the place of a damaged record
	Same      int // already here
	Completed int // of these, records that lacked optional files such as the set
}

// Merge verifies the records of another folder and copies them. It does not change that folder. If
// a record already exists here, both must have the same result, and Merge adds optional files that
// it lacks. A record here that cannot be read is replaced. The error lists all damaged or different
// records. Merge also adds the known datasets.
func (s *Store) Merge(ctx context.Context, dir string) (m Merged, err error) {
	from := &Store{dir: dir}
	if a, errA := os.Stat(dir); errA == nil {
		if b, errB := os.Stat(s.dir); errB == nil && os.SameFile(a, b) {
			return m, fmt.Errorf("%s is the folder of -out itself, so there are %w to merge", dir, ErrNothing)
		}
	}
	keys, err := from.Keys()
	if err != nil {
		return m, fmt.Errorf("%s has %w to merge that can be read: %w", dir, ErrNothing, err)
	}
	if len(keys) == 0 {
		if _, err := os.Stat(from.work("")); err == nil {
			return m, nil // a worker used this folder but had no runs to compute
		}
		return m, fmt.Errorf("%s has %w\nhint: name a folder that -out named when records were computed", dir, ErrNothing)
	}
	if err := s.Prepare(); err != nil {
		return m, err
	}
	var problems []error
	for _, key := range keys {
		if ctx.Err() != nil {
			return m, errors.Join(append(problems, context.Cause(ctx))...)
		}
		err := s.mergeOne(from, key, &m)
		problems = append(problems, err)
		if errors.Is(err, ErrStorage) {
			return m, errors.Join(problems...)
		}
	}
	return m, errors.Join(append(problems, s.mergeDatasets(ctx, from))...)
}

// mergeOne copies a record, or completes the one that is here.
func (s *Store) mergeOne(from *Store, key string, m *Merged) error {
	theirs, err := from.Whole(key)
	if err != nil {
		return err
	}
	ours, err := s.own(key)
	damaged := errors.Is(err, ErrDamaged)
	if err == nil {
		if ours.sums["result.json"] != theirs.sums["result.json"] {
			return fmt.Errorf("%s and %s are records of the same run, but differ in result.json\nhint: run -exp %s -verify N -out FOLDER on each, which finds the record that this program does not reproduce", ours.Dir, theirs.Dir, theirs.Provenance.Experiment)
		}
		m.Same++
		return s.complete(ours, theirs, m)
	}
	if !damaged && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files := map[string][]byte{}
	for name := range theirs.sums {
		b, err := theirs.File(name)
		if errors.Is(err, fs.ErrNotExist) && slices.Contains(optional, name) {
			continue
		}
		if err != nil {
			return err
		}
		files[name] = b
	}
	if files[sumsFile], err = readFile(filepath.Join(theirs.Dir, sumsFile)); err != nil {
		return err
	}
	if err := s.place(files, s.run(key), damaged); err != nil { // the holder of its lock may continue
		return s.explain(err)
	}
	s.ClearFailed(key)
	m.Added++
	return nil
}

// complete copies the optional files that a record lacks.
func (s *Store) complete(ours, theirs *Record, m *Merged) error {
	done := false
	for _, name := range optional {
		file := filepath.Join(ours.Dir, name)
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) || ours.sums[name] == "" || ours.sums[name] != theirs.sums[name] {
			continue
		}
		b, err := theirs.File(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = s.explain(s.replace(file, ours.Result.Key, b))
		}
		if err != nil {
			return err
		}
		done = true
	}
	if done {
		m.Completed++
	}
	return nil
}

// mergeDatasets adds the datasets that only the other folder knows.
func (s *Store) mergeDatasets(ctx context.Context, from *Store) error {
	theirs, err := from.Datasets()
	if err != nil {
		return err
	}
	ours, err := s.Datasets()
	if err != nil {
		return err
	}
	var more []Known
	for _, k := range theirs.sets {
		k = k.from(from.dir, s.dir)
		if _, known := ours.sets[string(experiment.Canonical(k.Declared))]; !known {
			more = append(more, k)
		}
	}
	return s.remember(ctx, more)
}

// from rewrites the relative folder of user data for another folder of records. If the data does
// not exist there, the records were copied from elsewhere, and from keeps the path.
func (k Known) from(old, dir string) Known {
	path, own := k.Declared["dir"].(string)
	if !own || filepath.IsAbs(path) {
		return k
	}
	data := filepath.Join(old, filepath.FromSlash(path))
	if _, err := os.Stat(data); err == nil {
		k.Declared = maps.Clone(k.Declared)
		k.Declared["dir"] = experiment.Relative(dir, data)
	}
	return k
}
