package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dgkip/harness/experiment"
	"dgkip/harness/report"
	"dgkip/harness/store"
)

var update = flag.Bool("update", false, "write the tables of README.md and results/RESULTS.md, and results/sets, again")

// Tables in README.md and results/RESULTS.md come from the records. The table between two markers
// with a name is the one of that name in testdata/pages.md, with every {NUMBER} filled in. Numbers
// have the same names as in the report.
func TestTablesOfPages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "pages.md"))
	if err != nil {
		t.Fatal(err)
	}
	values := numbersOf(t, string(text))
	tables := map[string]string{}
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		name, table, _ := strings.Cut(part, "\n")
		tables[name] = placeholder.ReplaceAllStringFunc(strings.TrimSpace(table), func(name string) string {
			v, ok := values[strings.Trim(name, "{}")]
			if !ok {
				t.Errorf("no record has the number %s", name)
			}
			return v
		})
	}
	used := 0
	for _, page := range []string{"README.md", filepath.Join("results", "RESULTS.md")} {
		page = filepath.Join("..", "..", page)
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		made := markers.ReplaceAllStringFunc(string(text), func(old string) string {
			name := markers.FindStringSubmatch(old)[1]
			table, ok := tables[name]
			if !ok {
				t.Errorf("%s: testdata/pages.md has no table %q", page, name)
				return old
			}
			used++
			return "<!-- table " + name + " -->\n" + table + "\n<!-- end -->"
		})
		if made == string(text) {
			continue
		}
		if !*update {
			t.Errorf("tables of %s differ from the records; go test -run TestTablesOfPages -update ./harness/cli writes them", page)
		} else if err := os.WriteFile(page, []byte(made), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if used != len(tables) {
		t.Errorf("%d of %d tables are in use", used, len(tables))
	}
}

var (
	units       = regexp.MustCompile(` (%|s)$`)
	placeholder = regexp.MustCompile(`\{[^{}]+\}`)
	markers     = regexp.MustCompile(`(?s)<!-- table ([a-z-]+) -->\n.*?<!-- end -->`)
)

// numbersOf returns the numbers of the experiments that a text uses, by name.
func numbersOf(t *testing.T, text string) map[string]string {
	t.Helper()
	s := store.Open(filepath.Join("..", "..", "results"))
	values, read := map[string]string{}, map[string]bool{}
	for _, name := range placeholder.FindAllString(text, -1) {
		name, _, _ = strings.Cut(strings.Trim(name, "{}"), "/")
		if read[name] {
			continue
		}
		read[name] = true
		of := shipped(t, name, experiment.DefaultProfile)
		plan, err := onRecord(t.Context(), s, experiment.Runs([]*experiment.Spec{of}), experiment.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range report.Load(of, s, report.Options{Key: plan.Key}).Numbers() {
			values[name+"/"+n.Name] = units.ReplaceAllString(n.Text, "") // units are in the headings
		}
	}
	return values
}
