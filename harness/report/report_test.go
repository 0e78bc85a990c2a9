package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The same records give the same bytes, in any folder and every time, even over an unfinished report
// or one with missing files.
func TestWriteIsDeterministic(t *testing.T) {
	s := parse(t, demo)
	write := func(dir string, st *store.Store) map[string]string {
		o, err := Write(dir, []*experiment.Spec{s}, st, keyed)
		if err != nil || len(o.Problems) > 0 {
			t.Fatalf("%v, problems %q", err, o.Problems)
		}
		got := tree(t, dir)
		if len(got) != len(o.Files) {
			t.Errorf("%d files written, %d listed", len(got), len(o.Files))
		}
		return got
	}
	first := write(t.TempDir(), shared(t))
	half := t.TempDir()
	for name, content := range first {
		file := filepath.Join(half, name)
		if filepath.Ext(name) == ".tex" {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(content+"\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	again := write(half, fill(t, t.TempDir(), s))
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if again[name] != first[name] {
			t.Errorf("%s: %s", name, firstDifference(first[name], again[name]))
		}
	}
	page := first["index.html"]
	for _, want := range []string{"go run . -exp demo.toml -seeds 3 -only &#39;dataset:mnist ipc:1 method:slow&#39; -verify 1", "index &lt;out&gt; of range &amp; more", "Some CPU", "prefers-color-scheme: dark", "Glyphs", `src="figures/demo-process.png"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, no := range []string{"http://", "https://", "<script src", "src=\"/", "@import", "url("} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	for _, name := range []string{"tables/demo.tex", "tables/demo-pairs.md", "tables/demo-runs.csv", "figures/demo-process.pdf", "figures/demo-images.png", "figures/demo-by-ipc.tex"} {
		if first[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestWriteLeavesRightFilesAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "b.txt")
	w := &writer{dir: dir}
	put := func(name, content string) error {
		w.puts = nil
		w.put(name, []byte(content))
		return w.write()
	}
	errOne := put("a/b.txt", "one")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	errAgain := put("a/b.txt", "one")
	after, err := os.Stat(file)
	if err := errors.Join(errOne, errAgain, err); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was replaced by the same content, %v", err)
	}
	err = put("a/b.txt", "two")
	if b, _ := os.ReadFile(file); string(b) != "two" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a", ".new-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	// Removing a file that does not exist needs no permission.
	w.remove("a/b.txt/c")
	if err := w.write(); err != nil {
		t.Error(err)
	}
	// A file in place of the folder cannot be written into.
	if err := put("a/b.txt/c", "three"); err == nil || !strings.Contains(err.Error(), "-collect") {
		t.Errorf("error %v", err)
	}
}

// Only pages and RO-Crates of this program may be replaced.
func TestInTheWay(t *testing.T) {
	for name, content := range map[string][]byte{wholePage: page(nil, false), crateName: crate(nil, nil)} {
		file := filepath.Join(t.TempDir(), name)
		for content, fits := range map[string]bool{"mine": false, string(content): true} {
			if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := InTheWay(filepath.Dir(file), keyed); (err == nil) != fits || err != nil && !strings.Contains(err.Error(), file) {
				t.Errorf("%.20q: %v", content, err)
			}
		}
	}
}

// A file belongs to one experiment.
func TestTwoExperimentsOfOneName(t *testing.T) {
	s := parse(t, small)
	if _, err := Write(t.TempDir(), []*experiment.Spec{s, s}, shared(t), keyed); err == nil || !strings.Contains(err.Error(), "two experiments write tables/") {
		t.Errorf("error %v", err)
	}
}

// A record that cannot be read is reported once and shown as damaged instead of not run. A record
// whose other files are damaged still counts.
func TestDamagedRecord(t *testing.T) {
	s := parse(t, small)
	r := made(t, small, map[string][]float64{"slow": {0.9, 0.8}, "fast-lr": {0.7}})
	for _, of := range []struct {
		cell, run int
		name      string
	}{{0, 0, "distilled.npz"}, {0, 0, "trace.csv"}, {0, 1, "result.json"}, {1, 0, "result.json"}} {
		if err := os.WriteFile(filepath.Join(r.Cells[of.cell].Runs[of.run].Record.Dir, of.name), []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	st := store.Open(filepath.Dir(filepath.Dir(filepath.Dir(r.Cells[0].Runs[0].Record.Dir))))
	other := *s
	other.Name = "other"
	out, err := Write(t.TempDir(), []*experiment.Spec{s, &other}, st, keyed)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Problems) != 3 || !strings.Contains(out.Problems[0], "; the SHA-256 of trace.csv is not the one in SHA256SUMS\nhint: its numbers are sound") || !strings.Contains(out.Problems[1], "is damaged: result.json") {
		t.Errorf("problems %q", out.Problems)
	}
	again := out.Results[0]
	if again.trace(again.Cells[0].Runs[0].Record) != nil || len(again.Problems) != 3 {
		t.Errorf("problems %q", again.Problems)
	}
	cells := again.sheets[0].Rows[0].Cells
	if cells[0].Plain() != "90.00" || cells[0].Marks != lostMark.Sign || cells[1].State != sheet.Damaged || cells[2].State != sheet.NotRun {
		t.Errorf("%+v", cells)
	}
	if got := again.progressText(); got != "1 of 6 runs done, 2 damaged" {
		t.Errorf("progress %q", got)
	}
	if page, err := os.ReadFile(out.Page); err != nil || !bytes.Contains(page, []byte(`<span class="bad">damaged</span>`)) {
		t.Errorf("the page does not show the damage, %v", err)
	}
}

// The files of a selection do not replace those of the whole experiment.
func TestSelection(t *testing.T) {
	s, st, dir := parse(t, demo), shared(t), t.TempDir()
	s.Figures = slices.DeleteFunc(s.Figures, func(f experiment.Figure) bool { return f.Name != "by-ipc" && f.Name != "process" })
	whole, err := Write(dir, []*experiment.Spec{s}, st, keyed)
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	f, err := experiment.ParseFilter("dataset:mnist method:(slow fast-ls) ipc:(1 10)", nil)
	if err != nil {
		t.Fatal(err)
	}
	other := parse(t, strings.Replace(small, "\"mnist\"", "\"glyphs\"", 1))
	other.Name = "other"
	out, err := Write(dir, []*experiment.Spec{s, other}, st, Options{Only: f, Key: keyed.Key})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Problems) > 0 {
		t.Errorf("problems %q", out.Problems)
	}
	after := tree(t, dir)
	for name, content := range before {
		if after[name] != content {
			t.Errorf("%s has changed", name)
		}
		delete(after, name)
	}
	if filepath.Base(whole.Page) != "index.html" || filepath.Base(out.Page) != "index-selection.html" || len(after) != len(out.Files) {
		t.Errorf("pages %s and %s, %d new files of %d", whole.Page, out.Page, len(after), len(out.Files))
	}
	for name := range after {
		if base := filepath.Base(name); !strings.HasPrefix(base, "demo-selection") && base != "index-selection.html" || strings.Contains(base, "process") {
			t.Errorf("unexpected file %s", name)
		}
	}
	said := "Flags: -only 'dataset:mnist method:(slow fast-ls) ipc:(1 10)'."
	for _, name := range []string{"tables/demo-selection.md", "tables/demo-selection-pairs.md", "tables/demo-selection-claims.tex", "figures/demo-selection-by-ipc.tex", "index-selection.html"} {
		content, ok := after[name]
		if content = strings.NewReplacer("&#39;", "'", "\\(", "(", "\\)", ")").Replace(content); !ok || !strings.Contains(content, said) {
			t.Errorf("%s does not name the selection:\n%.400s", name, content)
		}
	}
	var b bytes.Buffer
	if err := out.Results[0].Terminal(&b, 0); err != nil || !strings.Contains(b.String(), said) {
		t.Errorf("%v\n%s", err, &b)
	}
}

// A run shared by several cells is counted once.
func TestProgressCountsRuns(t *testing.T) {
	r := loadDemo(t)
	cells, keys := 0, map[string]bool{}
	for _, c := range r.Cells {
		for _, run := range c.done() {
			cells++
			keys[run.Record.Result.Key] = true
		}
	}
	if len(keys) == cells {
		t.Fatal("no cells share a run")
	}
	// Three seeds of 2 datasets, 3 numbers of images and 4 methods, without one cell, and of one
	// whole set for each dataset.
	all := (2*3*4 - 1 + 2) * 3
	if want := fmt.Sprintf("%d of %d runs done, 7 failed", len(keys), all); r.progressText() != want {
		t.Errorf("%q, not %q", r.progressText(), want)
	}
	empty := Load(r.Spec, store.Open(filepath.Join(t.TempDir(), "none")), keyed)
	if want := fmt.Sprintf("0 of %d runs done", all); empty.progressText() != want {
		t.Errorf("%q, not %q", empty.progressText(), want)
	}
}

// A report without records has a table that says so, and names the figures that it lacks. It
// removes the files of tables and figures that earlier records gave.
func TestEmptyStore(t *testing.T) {
	s, dir := parse(t, demo), t.TempDir()
	s.Figures = s.Figures[:1]
	if _, err := Write(dir, []*experiment.Spec{s}, shared(t), keyed); err != nil {
		t.Fatal(err)
	}
	out, err := Write(dir, []*experiment.Spec{s}, store.Open(filepath.Join(dir, "none")), keyed)
	if err != nil {
		t.Fatal(err)
	}
	got := tree(t, dir)
	if len(got) != len(out.Files) || got["figures/demo-process.pdf"] != "" || got["tables/demo-pairs.tex"] != "" {
		t.Errorf("%d files, written %d: %q", len(got), len(out.Files), slices.Sorted(maps.Keys(got)))
	}
	if table := got["tables/demo.md"]; !strings.Contains(table, "percent: no run has a readable record.") {
		t.Error(table)
	}
	if failures := out.Results[0].Failures(); len(out.Problems) != 1 || failures != nil {
		t.Errorf("problems %q, failures %q", out.Problems, failures)
	}
}

// Experiments of the paper's tables and figures come first, in their order.
func TestPageOrder(t *testing.T) {
	var sections []section
	for _, name := range []string{"beyond", "figure1", "table2x", "table1", "figures", "table2"} {
		sections = append(sections, section{Name: name, ID: name})
	}
	text := string(page(sections, false))
	last := 0
	for _, name := range []string{"table1", "table2", "figure1", "beyond", "table2x", "figures"} {
		at := strings.Index(text, `<section id="`+name+`">`)
		if at < last {
			t.Errorf("%s is in the wrong place", name)
		}
		last = at
	}
}

// The page links records in its folder, and shows a picture of each cell. It does neither for records
// elsewhere.
func TestLinksToRecords(t *testing.T) {
	s := parse(t, small)
	r := made(t, small, map[string][]float64{"slow": {0.9, 0.8}, "fast-lr": {0.7}})
	folder := filepath.Dir(filepath.Dir(filepath.Dir(r.Cells[0].Runs[0].Record.Dir)))
	parent := filepath.Dir(folder)
	renamed := filepath.Join(parent, "a b#c")
	if err := os.Rename(folder, renamed); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir   string
		links int
	}{{parent, 5}, {t.TempDir(), 0}} { // three records and two pictures
		out, err := Write(c.dir, []*experiment.Spec{s}, store.Open(renamed), keyed)
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(out.Page)
		if err != nil {
			t.Fatal(err)
		}
		links := regexp.MustCompile(`(?:href|src)="([^"# ]*/runs/[^"# ]*)"`).FindAllSubmatch(page, -1)
		for _, l := range links {
			name, err := url.PathUnescape(string(l[1]))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(c.dir, name)); err != nil {
				t.Error(err)
			}
		}
		if len(links) != c.links {
			t.Errorf("%d links, want %d", len(links), c.links)
		}
	}
}
