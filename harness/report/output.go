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
	"dgkip/harness/report/sheet"
	"dgkip/harness/sets"
	"dgkip/harness/store"
)

// output is a file of a report.
type output struct {
	name    string
	of      string // the experiment, "" for a page and what is written for a paper
	content []byte
}

// write writes and removes files, but for those whose place has what is not this report's to
// replace.
func (w *writer) write() {
	wanted := map[string]string{}
	var todo []output
	for _, o := range w.puts {
		if other, there := wanted[o.name]; there && other != o.of {
			w.leftOut = append(w.leftOut, fmt.Errorf("the experiments %s and %s both write %s; the file of %s is left out\nhint: rename one of them, or its figure", other, o.of, o.name, o.of))
			continue
		}
		wanted[o.name] = o.of
		if holds(filepath.Join(w.dir, o.name), o.content) {
			continue
		}
		if err := w.foreign(o); err != nil {
			w.leaveOut(o, err)
			continue
		}
		todo = append(todo, o)
	}
	var obsolete []string
	for _, o := range w.removed {
		file := filepath.Join(w.dir, o.name)
		// That of an experiment with a longer name may have this name.
		if _, err := os.Lstat(file); err == nil && (o.of == "" || w.whose(o) == o.of && (filepath.Ext(file) != ".md" || looksLike(o, start(file)))) {
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

func (w *writer) leaveOut(o output, why error) {
	w.leftOut = append(w.leftOut, why)
	file := filepath.Join(w.dir, o.name)
	w.files = slices.DeleteFunc(w.files, func(name string) bool { return name == file })
}

// foreign returns an error if what stands in a file's place was not written by a report of this
// experiment. A page and tables are known by their beginning; figures are taken for this
// program's. Those in LaTeX say of which experiment all are that are called alike.
func (w *writer) foreign(o output) error {
	file := filepath.Join(w.dir, o.name)
	info, err := os.Lstat(file)
	if err != nil || o.of == "" && filepath.Ext(file) != ".html" && o.name != crateName {
		return nil
	}
	who := ""
	if o.of != "" {
		who = w.whose(o)
	}
	switch {
	case info.IsDir() || !looksLike(o, start(file)):
		return fmt.Errorf("%s was not written by this program, which leaves it as it is\nhint: move it, or choose another folder with -out", file)
	case who != "" && who != o.of:
		return fmt.Errorf("%s belongs to the experiment %s; the file of %s is left out\nhint: rename one of them or its figure, or choose another folder with -out", file, who, o.of)
	}
	return nil
}

// latexHead begins what is written in LaTeX of an experiment.
const latexHead = "% Written from the records of the experiment "

// whose is the experiment that has a file as the LaTeX beside it says, "" if none does.
func (w *writer) whose(o output) string {
	stem := strings.TrimSuffix(filepath.Join(w.dir, o.name), filepath.Ext(o.name))
	line := start(stem + ".tex")
	if line == nil && strings.HasSuffix(o.name, ".csv") { // of a table without a form in LaTeX
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

// looksLike reports whether a file begins as one of this program that is called so.
func looksLike(o output, old []byte) bool {
	line, _, _ := bytes.Cut(old, []byte("\n"))
	switch ext := filepath.Ext(o.name); {
	case strings.HasPrefix(o.name, "figures/"):
		return true
	case ext == ".html":
		head, _, _ := bytes.Cut(page(nil), []byte("<title>"))
		return bytes.HasPrefix(old, head)
	case o.name == crateName:
		return bytes.Contains(old, []byte(`"@id": "#dgkip"`))
	case ext == ".md":
		return (bytes.HasPrefix(line, []byte("### ")) || bytes.HasPrefix(line, []byte("| "))) && bytes.Contains(old, []byte("\n|"))
	case ext == ".csv": // columns come and go, but not most of them
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

// InTheWay returns an error if a page or table of the experiments would be left out of a report:
// to know that, no run need be made.
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

// start is the first part of a file, nil if there is none.
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

// holds reports whether a file has a content.
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
