package report

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
	"dgkip/harness/sets"
	"dgkip/harness/store"
)

// output is a file to write.
type output struct {
	name    string
	of      string // the experiment, "" for pages and papers
	content []byte
}

// write writes and removes files. It leaves alone files that this report must not replace.
func (w *writer) write() {
	of := map[string]string{} // the experiments by file
	for _, o := range slices.Backward(w.puts) {
		of[o.name] = o.of
	}
	var obsolete []string
	for _, o := range w.removed {
		file := filepath.Join(w.dir, o.name)
		_, wanted := of[o.name]
		_, err := os.Lstat(file)
		// The file may belong to an experiment with a longer name.
		if !wanted && err == nil && (o.of == "" || w.ownerOf(o) == o.of && looksLike(o, start(file))) {
			obsolete = append(obsolete, file)
		}
	}
	var allowed []output // found before any file changes, because files name their experiment
	for _, o := range w.puts {
		file := filepath.Join(w.dir, o.name)
		if other := of[o.name]; other != o.of {
			w.leftOut = append(w.leftOut, fmt.Errorf("the experiments %s and %s both write %s; the file of %s is left out\nhint: rename one of them, or its figure", other, o.of, o.name, o.of))
			continue
		}
		if err := w.foreign(o); err != nil {
			w.leftOut = append(w.leftOut, err)
			w.files = slices.DeleteFunc(w.files, func(name string) bool { return name == file })
			continue
		}
		allowed = append(allowed, o)
	}
	swept := map[string]bool{}
	for _, o := range allowed {
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

// foreign returns an error if a file exists that was not written by a report of this experiment.
// Files are recognised by their beginning. The LaTeX file of a table or figure names the
// experiment of all files with the same base name.
func (w *writer) foreign(o output) error {
	file := filepath.Join(w.dir, o.name)
	info, err := os.Lstat(file)
	if err != nil || o.of == "" && filepath.Ext(file) != ".html" && o.name != crateName {
		return nil
	}
	who := ""
	if o.of != "" {
		who = w.ownerOf(o)
	}
	switch {
	case info.IsDir() || !looksLike(o, start(file)):
		return fmt.Errorf("%s was not written by this program, which leaves it as it is\nhint: move it, or choose another folder with -out", file)
	case who != "" && who != o.of:
		return fmt.Errorf("%s belongs to the experiment %s; the file of %s is left out\nhint: rename one of them or its figure, or choose another folder with -out", file, who, o.of)
	}
	return nil
}

// latexHead begins the LaTeX files of an experiment.
const latexHead = "% Written from the records of the experiment "

// ownerOf returns the experiment that a file belongs to, which the LaTeX file with the same base
// name names. It returns "" if there is no such file.
func (w *writer) ownerOf(o output) string {
	stem := strings.TrimSuffix(filepath.Join(w.dir, o.name), filepath.Ext(o.name))
	line := start(stem + ".tex")
	if line == nil && strings.HasSuffix(o.name, ".csv") { // some share the LaTeX file of the main table
		line = start(strings.TrimSuffix(strings.TrimSuffix(stem, "-runs"), "-comparison") + ".tex")
	}
	who, ours := strings.CutPrefix(string(line), latexHead)
	if who, _, _ = strings.Cut(who, " (profile "); !ours {
		return ""
	}
	if who == sheet.Plain(o.of) {
		return o.of
	}
	return who
}

// looksLike reports whether old is the beginning of a file that a report may have written.
func looksLike(o output, old []byte) bool {
	line, _, _ := bytes.Cut(old, []byte("\n"))
	switch ext := filepath.Ext(o.name); {
	case strings.HasPrefix(o.name, "figures/") && ext != ".tex":
		return chart.Drawn(ext[1:], old)
	case ext == ".html":
		head, _, _ := bytes.Cut(page(nil, false), []byte("<title>"))
		return bytes.HasPrefix(old, head)
	case o.name == crateName:
		return bytes.Contains(old, []byte(`"@id": "#dgkip"`))
	case ext == ".md":
		return (bytes.HasPrefix(line, []byte("### ")) || bytes.HasPrefix(line, []byte("| "))) && bytes.Contains(old, []byte("\n|"))
	case ext == ".csv": // versions differ in a few columns
		own, _, _ := bytes.Cut(o.content, []byte("\n"))
		columns, same := strings.Split(string(own), ","), 0
		for _, c := range strings.Split(string(line), ",") {
			if slices.Contains(columns, c) {
				same++
			}
		}
		return same > 1
	}
	return bytes.HasPrefix(old, []byte(latexHead))
}

// InTheWay returns an error if files in the folder would keep a report from writing its page or
// tables. It needs no records, so it can be called before any run.
func InTheWay(dir string, specs []*experiment.Spec, o Options) error {
	w := &writer{dir: dir}
	problems := []error{w.foreign(output{name: pageName(o)})}
	for _, s := range specs {
		stem := "tables/" + (&Results{Spec: s, options: o}).stem()
		for _, ext := range []string{".tex", ".md"} {
			problems = append(problems, w.foreign(output{name: stem + ext, of: s.Name}))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("the report would be incomplete: %w", err)
	}
	return nil
}

// start returns the first part of a file, nil if it cannot be read.
func start(file string) []byte {
	f, _, err := sets.OpenRegular(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, 1<<16)
	n, _ := io.ReadFull(f, b)
	return b[:n]
}

// holds reports whether a file has exactly this content.
func holds(file string, content []byte) bool {
	f, info, err := sets.OpenRegular(file)
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

// newPrefix begins the names of unfinished files.
const newPrefix = ".new-"

// WriteFile writes content to a temporary file and renames it, so that no reader sees half a file.
// It creates the folder, and leaves a file alone that already has the content.
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

// WriteNew is WriteFile, but returns an error instead of replacing other content.
func WriteNew(file string, content []byte) error {
	if _, err := os.Lstat(file); err == nil && !holds(file, content) {
		return errors.New("the file exists with other content\nhint: delete it, or choose another folder")
	}
	return WriteFile(file, content)
}

// sweep removes unfinished files of killed reports from a folder.
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
