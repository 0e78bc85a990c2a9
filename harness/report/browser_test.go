package report

import (
	"bytes"
	"encoding/json"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/experiment"
)

// In a real browser, if there is one, the page sorts, filters, overlays curves and enlarges
// pictures without an error.
func TestPageInABrowser(t *testing.T) {
	if n := strings.Count(script, "\n"); n > 200 {
		t.Errorf("the script has %d lines, more than 200", n)
	}
	if testing.Short() {
		t.Skip("a browser takes seconds to start")
	}
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium is installed")
	}
	dir := t.TempDir()
	out, err := Write(dir, []*experiment.Spec{parse(t, demo)}, shared(t), keyed)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(out.Page)
	if err != nil {
		t.Fatal(err)
	}
	const probe = `<script>
const column = () => [...tables[0].e.tBodies[0].rows].map(r => text(r.cells[r.cells.length - tables[0].columns.length + 1]));
const got = { before: column(), sorted: [] };
for (let i = 0; i < 3; i++) { tables[0].columns[1].click(); got.sorted.push(column()); }
filters[0].select.value = 'MNIST'; filters[2].select.value = 'Slow'; filter();
got.rows = [...tables[0].e.tBodies[0].rows].map(r => text(r.children[0]));
got.columns = tables[0].columns.filter(c => !c.hidden).map(text);
got.cells = cells.filter(c => !c.e.hidden).map(c => c.of.d + ' ' + c.of.m);
document.querySelector('.filters').reset();
setTimeout(() => {
  got.after = column();
  document.querySelector('.plot button').click();
  plots[0].at = 60; draw(plots[0]);
  got.curves = document.querySelectorAll('.plot .curve').length;
  got.values = [...document.querySelectorAll('.plot li')].map(text);
  location.hash = cells[0].e.id; arrive();
  got.open = cells[0].e.open;
  document.querySelector('figure img').click();
  got.large = document.querySelectorAll('dialog[open] img').length;
  got.links = [...document.querySelectorAll('td a[href^="#"]')].filter(a => !document.getElementById(decodeURIComponent(a.hash.slice(1)))).length;
  document.body.setAttribute('data-got', JSON.stringify(got));
});
</script></body>`
	file := filepath.Join(dir, "probe.html")
	if err := os.WriteFile(file, bytes.Replace(page, []byte("</body>"), []byte(probe), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	command := exec.CommandContext(t.Context(), browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--user-data-dir="+t.TempDir(), "--dump-dom", address.String())
	dom, err := command.Output()
	if err != nil {
		t.Skipf("%s does not run here: %v", browser, err)
	}
	_, rest, found := strings.Cut(string(dom), `data-got="`)
	if !found {
		t.Fatal("the script of the page stopped with an error")
	}
	rest, _, _ = strings.Cut(rest, `"`)
	var got struct {
		Before, After, Rows, Columns, Cells, Values []string
		Sorted                                      [][]string
		Curves, Large, Links                        int
		Open                                        bool
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(rest)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Sorted) != 3 || slices.Equal(got.Sorted[0], got.Before) || slices.Equal(got.Sorted[0], got.Sorted[1]) || !slices.Equal(got.Sorted[2], got.Before) || !slices.Equal(got.After, got.Before) {
		t.Errorf("a column is %q, sorted %q, and after all %q", got.Before, got.Sorted, got.After)
	}
	only := func(words []string, want string) bool { return len(slices.Compact(words)) == 1 && words[0] == want }
	if !only(got.Rows, "MNIST") || !only(got.Columns, "Slow") || !only(got.Cells, "MNIST Slow") {
		t.Errorf("filtered are rows %q, columns %q and cells %q", got.Rows, got.Columns, got.Cells)
	}
	if got.Curves < 2 || got.Curves != len(got.Values) || !strings.Contains(got.Values[0], "% at update ") {
		t.Errorf("%d curves with values %q", got.Curves, got.Values)
	}
	if !got.Open || got.Large != 1 || got.Links > 0 {
		t.Errorf("the linked cell is open: %t, %d pictures are large, %d links lead nowhere", got.Open, got.Large, got.Links)
	}
}
