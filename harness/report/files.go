package report

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dgkip/harness/store"
)

// output is a file to write.
type output struct {
	name    string
	content []byte
}

// write writes and removes files, until the first error.
func (w *writer) write() error {
	wanted := map[string]bool{}
	failed := func(err error) error {
		return fmt.Errorf("cannot write the report: %w\nhint: the records are safe; when the cause is gone, the same command with -collect writes the report without computing anything", err)
	}
	for _, o := range w.puts {
		if wanted[o.name] {
			return fmt.Errorf("two experiments write %s\nhint: rename one of them, or its figure", o.name)
		}
		wanted[o.name] = true
		if err := WriteFile(filepath.Join(w.dir, o.name), o.content); err != nil {
			return failed(err)
		}
	}
	for _, name := range w.removed {
		file := filepath.Join(w.dir, name)
		if _, err := os.Lstat(file); err != nil || wanted[name] {
			continue
		}
		if err := os.Remove(file); err != nil {
			return failed(err)
		}
	}
	for _, folder := range []string{"", "tables", "figures"} { // of killed reports
		left, _ := filepath.Glob(filepath.Join(w.dir, folder, newPrefix+"*"))
		store.DropOld(filepath.Join(w.dir, folder, newPrefix+"clock"), left)
	}
	return nil
}

// newPrefix begins the names of unfinished files.
const newPrefix = ".new-"

// InTheWay returns an error if another program wrote the page or the RO-Crate in a folder. All other
// files of a report are named after an experiment, and are replaced whatever they hold.
func InTheWay(dir string, o Options) error {
	if err := foreign(filepath.Join(dir, pageName(o)), pageSign); err != nil || pageName(o) != wholePage {
		return err
	}
	return foreign(filepath.Join(dir, crateName), crateSign)
}

// foreign returns an error if a file exists without the words of its kind.
func foreign(file, sign string) error {
	if _, err := os.Lstat(file); err != nil {
		return nil
	}
	if there, err := os.ReadFile(file); err == nil && bytes.Contains(there, []byte(sign)) {
		return nil
	}
	return fmt.Errorf("%s was not written by this program, which leaves it as it is\nhint: move it, or choose another folder with -out", file)
}

// Every page and every RO-Crate has these words.
const (
	pageSign  = "<b>dgkip</b>: dataset distillation by the duality gap"
	crateSign = `"@id": "#dgkip"`
)

// WriteFile writes content to a temporary file and renames it, so that no reader sees half a file.
// It creates the folder, and leaves a file alone that already has the content.
func WriteFile(file string, content []byte) error {
	if there, err := os.ReadFile(file); err == nil && bytes.Equal(there, content) {
		return nil
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, newPrefix+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// WriteNew is WriteFile, but returns an error instead of replacing other content.
func WriteNew(file string, content []byte) error {
	there, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && !bytes.Equal(there, content) {
		return errors.New("the file exists with other content\nhint: delete it, or choose another folder")
	}
	return WriteFile(file, content)
}
