package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Verify checks a record's files against the digests in its result. The distilled
// set, which is by far the largest, may be left out of records that are passed on:
// who makes the run again compares it by its digest.
func (r *Record) Verify() error {
	var problems []error
	check := func(name, kind string, digestOf func(file string) (string, error)) {
		want, ok := r.Result.Digests[kind]
		if !ok {
			return
		}
		file := filepath.Join(r.Dir, name)
		got, err := digestOf(file)
		if kind == "distilled" && errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil && got != want {
			err = fmt.Errorf("%s is not what was recorded", file)
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	check("distilled.npz", "distilled", setDigest)
	check("trace.csv", "trace", func(file string) (string, error) {
		b, err := os.ReadFile(file)
		return digest(b), err
	})
	return errors.Join(problems...)
}

// consistent holds every accuracy against the errors that were counted.
func (r *Result) consistent() error {
	images := r.Counts["test_images"]
	if len(images) != 1 || images[0] <= 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.Counts)) {
		prefix, ok := strings.CutSuffix(name, "test_errors")
		acc, has := r.Metrics[prefix+"test_acc"]
		counts := r.Counts[name]
		if !ok || !has || len(counts) == 0 {
			continue
		}
		var errors float64
		for _, n := range counts {
			errors += float64(n)
		}
		if want := 1 - errors/float64(len(counts))/float64(images[0]); math.Abs(acc-want) > 1e-9 {
			return fmt.Errorf("%stest_acc is %v, where %s gives %v", prefix, acc, name, want)
		}
	}
	return nil
}

// Damaged tells why what stands in a run's place is no record, nil if it is one or
// nothing stands there. Put moves it aside, to the folder that Aside names.
func (s *Store) Damaged(key string) error {
	if _, err := os.Lstat(s.run(key)); err != nil {
		return nil
	}
	if _, err := s.Get(key); err != nil && !errors.Is(err, errSchema) {
		return err
	}
	return nil
}

// Aside is where damaged records are kept.
func (s *Store) Aside() string { return s.work("damaged") }

// setAside moves what is no record out of a run's place, so that nothing of it is
// lost when the run is made again.
func (s *Store) setAside(key string) error {
	if s.Damaged(key) == nil {
		return nil
	}
	if err := os.MkdirAll(s.Aside(), 0o777); err != nil {
		return err
	}
	return os.Rename(s.run(key), filepath.Join(s.Aside(), key+"."+token()))
}
