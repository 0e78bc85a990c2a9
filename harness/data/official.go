package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sources lists the published datasets.
var sources = []source{mnist, fashionMNIST, cifar10}

// source is a published dataset.
type source struct {
	Info
	standIn   string   // the most similar built-in dataset
	folders   []string // folders of a data directory that may hold its files
	downloads []download
	load      func(ctx context.Context, s *source, dir string) (*Set, error)

	// files has the SHA-256 of the unpacked content of each file. byClass has the SHA-256 of
	// the images of some classes, training then test, to verify files with these classes only.
	files   map[string]string
	byClass map[int]string
}

// download is a published file.
type download struct {
	name string
	size int64
	sha  string
	urls []string // the original address first, then mirrors
}

// errAbsent means that a directory lacks some of a dataset's files.
var errAbsent = errors.New("not here")

// first returns the path of the first name that is a file in dir, or "".
func first(dir string, names ...string) string {
	for _, name := range names {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			return p
		}
	}
	return ""
}

// set returns the dataset without images, to be read from files. It counts as verified until a file
// has another checksum.
func (s *source) set(files []string) *Set {
	return &Set{Name: s.Name, Classes: s.Classes, Shape: s.Shape, Files: files, Verified: true}
}

// find reads the dataset from one of its folders in dir.
func (s *source) find(ctx context.Context, dir string, classes []int) (*Set, error) {
	for _, folder := range s.folders {
		whole, err := s.load(ctx, s, filepath.Join(dir, folder))
		if err == errAbsent {
			continue
		}
		if err != nil {
			return nil, s.advise(err)
		}
		set, err := whole.choose(classes)
		if err != nil {
			return nil, err
		}
		return set, s.verify(set)
	}
	return nil, errAbsent
}

// verify compares the images of each class with the published ones, unless the files were verified
// as a whole.
func (s *source) verify(set *Set) error {
	if set.Verified {
		return nil
	}
	known := 0 // number of classes with a checksum
	for l, number := range set.Numbers {
		want := s.byClass[number]
		if want == "" {
			continue
		}
		known++
		if set.classSum(l) != want {
			err := fmt.Errorf("%s: %w: the images of class %d (%s) are not the published ones", set.Files[0], ErrChecksum, number, set.Classes[l])
			for i := range sources {
				if o := &sources[i]; o.Name != s.Name && o.byClass[number] == set.classSum(l) {
					return hint(err, "they belong to %s: put the files into a folder %[1]s", o.Name)
				}
			}
			return s.provide(hint(err, "describe changed files in the experiment under another name, in a table [data.NAME]"))
		}
	}
	set.Verified = known == len(set.Numbers)
	return nil
}

// classSum returns the SHA-256 of the images with label l, training then test.
func (s *Set) classSum(l int) string {
	sum, dim := sha256.New(), s.Dim()
	for _, split := range []Split{s.Train, s.Test} {
		for i, label := range split.Labels {
			if label == l {
				sum.Write(split.Images[i*dim : (i+1)*dim])
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// advise adds hints to an error in a file of the dataset.
func (s *source) advise(err error) error {
	if !errors.As(err, new(Fault)) {
		return err
	}
	return s.provide(hint(err, "replace the file, or delete it to have it downloaded to the cache"))
}

// provide adds a hint on how to get the published files.
func (s *source) provide(err error) error {
	var names, places []string
	for _, d := range s.downloads {
		names = append(names, d.name)
	}
	for _, url := range s.downloads[0].urls {
		places = append(places, strings.TrimSuffix(url, names[0]))
	}
	return hint(err, "download %s from %s into DIR/%s, and pass -data DIR or set DGKIP_DATA=DIR", strings.Join(names, ", "), strings.Join(places, " or "), s.Name)
}
