package report

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dgkip/harness/npz"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// output is a file of a report.
type output struct {
	name    string
	of      string // the experiment, "" for a page and what is written for a paper
	content []byte
}

// write writes and removes files, if none is in the way that is not this report's to replace.
func (w *writer) write() {
	wanted := map[string]string{}
	var todo []output
	for _, o := range w.puts {
		if other, there := wanted[o.name]; there && other != o.of {
			w.fail(fmt.Errorf("the experiments %s and %s both have a file %s\nhint: rename one of them, or its figure", other, o.of, o.name))
			return
		}
		wanted[o.name] = o.of
		if holds(filepath.Join(w.dir, o.name), o.content) {
			continue
		}
		if err := w.foreign(o); err != nil {
			w.fail(err)
			return
		}
		todo = append(todo, o)
	}
	var obsolete []string
	for _, o := range w.removed {
		file := filepath.Join(w.dir, o.name)
		// That of an experiment with a longer name may have this name.
		if _, err := os.Lstat(file); err == nil && w.foreign(o) == nil {
			if _, is := wanted[o.name]; !is {
				obsolete = append(obsolete, file)
			}
		}
	}
	swept := map[string]bool{}
	for _, o := range todo {
		file := filepath.Join(w.dir, o.name)
		if err := WriteFile(file, o.content); err != nil {
			w.fail(err)
			return
		}
		if dir := filepath.Dir(file); !swept[dir] {
			swept[dir] = true
			sweep(dir)
		}
	}
	for _, file := range obsolete {
		if err := os.Remove(file); err != nil {
			w.fail(err)
			return
		}
	}
}

// foreign returns an error if there is a file that no report of this experiment has written.
// Those in LaTeX say whose they are, for all that are called alike; a page begins as this one.
func (w *writer) foreign(o output) error {
	file := filepath.Join(w.dir, o.name)
	if _, err := os.Lstat(file); err != nil {
		return nil
	}
	theirs := fmt.Errorf("%s was not written by this program, and the report would overwrite it\nhint: move it, or choose another folder with -out", file)
	if head, _, isPage := bytes.Cut(o.content, []byte("<title>")); isPage && strings.HasSuffix(o.name, ".html") {
		if !bytes.HasPrefix(start(file), head) {
			return theirs
		}
		return nil
	}
	if o.of == "" {
		return nil
	}
	stem := strings.TrimSuffix(file, filepath.Ext(file))
	line := start(stem + ".tex")
	if line == nil && strings.HasSuffix(file, ".csv") { // of a table without a form in LaTeX
		line = start(strings.TrimSuffix(strings.TrimSuffix(stem, "-runs"), "-comparison") + ".tex")
	}
	who, ours := strings.CutPrefix(string(line), "% Written from the records of the experiment ")
	who, _, _ = strings.Cut(who, " (profile ")
	switch {
	case !ours:
		return theirs
	case who != sheet.Plain(o.of):
		return fmt.Errorf("%s belongs to the experiment %s, and %s would overwrite it\nhint: rename one of them or its figure, or choose another folder with -out", file, who, o.of)
	}
	return nil
}

// start is the first part of a file, nil if there is none.
func start(file string) []byte {
	f, _, err := npz.OpenRegular(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, 1<<16)
	n, _ := io.ReadFull(f, b)
	return b[:n]
}

// holds reports whether a file has a content.
func holds(file string, content []byte) bool {
	f, info, err := npz.OpenRegular(file)
	if err != nil {
		return false
	}
	defer f.Close()
	if info.Size() != int64(len(content)) {
		return false
	}
	b := make([]byte, len(content))
	_, err = io.ReadFull(f, b)
	return err == nil && bytes.Equal(b, content)
}

// newPrefix begins the names of files that are being written.
const newPrefix = ".new-"

// WriteFile writes a file under another name and renames it into place, unless it has the
// content already. Its folder need not be there.
func WriteFile(file string, content []byte) error {
	if holds(file, content) {
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

// sweep removes what killed reports were writing in a folder.
func sweep(dir string) {
	list, _ := os.ReadDir(dir)
	var left []string
	for _, e := range list {
		if rest, is := strings.CutPrefix(e.Name(), newPrefix); is && len(rest) == len(rand.Text()) && e.Type().IsRegular() {
			left = append(left, filepath.Join(dir, e.Name()))
		}
	}
	store.DropOld(filepath.Join(dir, newPrefix+rand.Text()), left)
}
