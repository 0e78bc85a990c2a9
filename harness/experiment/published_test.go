package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dgkip/harness/toml"
)

const (
	publishedFile = "../../experiments/published.toml"
	publishedName = "Aoyama et al. 2025, Table "
)

// printed is a number as printed in the paper.
type printed struct {
	mean, spread string // spread may be ""
}

// spot is the position of a number: table, dataset, images per class, metric, method.
type spot struct{ table, dataset, ipc, metric, method string }

func ours(t *testing.T) map[spot]printed {
	t.Helper()
	text, err := os.ReadFile(publishedFile)
	if err != nil {
		t.Fatal(err)
	}
	root, faults := toml.Parse(publishedFile, string(text))
	if root == nil {
		t.Fatal(faults)
	}
	var d toml.Decoder
	entries := readPublished(&d, root)
	if err := d.Faults.Err(); err != nil {
		t.Fatal(err)
	}
	out := map[spot]printed{}
	for _, p := range entries {
		table, ok := strings.CutPrefix(p.Source, publishedName)
		if !ok && !strings.HasPrefix(p.Source, "Aoyama") {
			continue // published by others
		}
		if !ok || p.Unchecked || len(p.When) != 2 || len(p.When["dataset"]) != 1 || len(p.When["ipc"]) != 1 {
			t.Fatalf("unexpected entry %+v", p)
		}
		for method, n := range p.Values {
			at := spot{table, p.When["dataset"][0].Text, p.When["ipc"][0].Text, p.Metric, method}
			if _, twice := out[at]; twice {
				t.Errorf("%v is listed twice", at)
			}
			decimals, spread := 2, ""
			if p.Metric == "seconds_per_iteration" {
				decimals = 3
			} else {
				spread = strconv.FormatFloat(n.Spread, 'f', decimals, 64)
			}
			one := printed{mean: strconv.FormatFloat(n.Mean, 'f', decimals, 64), spread: spread}
			if x, err := strconv.ParseFloat(one.mean, 64); err != nil || x != n.Mean {
				t.Errorf("%v: %v has more decimals than the paper prints", at, n.Mean)
			}
			out[at] = one
		}
	}
	return out
}

func TestPublishedCount(t *testing.T) {
	count := map[string]int{}
	for at := range ours(t) {
		kind := at.metric
		if strings.HasPrefix(kind, "transfer.") {
			kind = "transfer"
		}
		count[at.table+" "+kind]++
	}
	want := map[string]int{"1 ": 45, "1 seconds_per_iteration": 45, "2 ": 45, "2 seconds_per_iteration": 45, "3 transfer": 18}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("numbers by table and kind: %v, want %v", count, want)
	}
}

// paper returns the LaTeX source of the paper, shared/paper/dgkip.tex in a parent directory. It skips the
// test if there is none.
func paper(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, "shared", "paper", "dgkip.tex")
		if b, err := os.ReadFile(file); err == nil {
			t.Logf("RUN: with %s", file)
			return string(b)
		}
		if dir == filepath.Dir(dir) {
			t.Skip("SKIPPED: no parent directory has a file shared/paper/dgkip.tex")
		}
	}
}

var (
	tabulars = regexp.MustCompile(`(?s)\\begin\{tabular\}.*?\\end\{tabular\}`)
	number   = regexp.MustCompile(`^(?:\\textbf\{|\\underline\{)?([0-9.]+)(?:\s*(?:\$\\pm\$|±)\s*([0-9.]+))?\}?$`)
	datasets = map[string]string{"MNIST": "mnist", "CIFAR-10": "cifar-10", "Fashion-MNIST": "fashion-mnist", "F-MNIST": "fashion-mnist"}
	rules    = regexp.MustCompile(`\\(cmidrule\{[0-9-]+\}|[a-z]+rule)`)
	spanning = regexp.MustCompile(`\\multirow\{[0-9]+\}\{\*\}\{([^}]*)\}`)
)

// theirs reads the three tables of the paper.
func theirs(t *testing.T, tex string) map[spot]printed {
	t.Helper()
	out := map[spot]printed{}
	tables := tabulars.FindAllString(tex, -1)
	if len(tables) != 3 {
		t.Fatalf("the paper has %d tables, not 3", len(tables))
	}
	for i, table := range tables {
		methods := []string{"dd", "dc", "dsa", "dgkip-svm", "dgkip-lr"}
		metrics := map[string]string{"Acc.": "", "Time": "seconds_per_iteration"}
		at := spot{table: strconv.Itoa(i + 1)}
		heads := 3
		if i == 2 {
			heads = 2
		}
		rows := strings.Split(spanning.ReplaceAllString(rules.ReplaceAllString(table, ""), "$1"), `\\`)
		for _, row := range rows[1 : len(rows)-1] { // without the headings and the end
			var cells []string
			for _, c := range strings.Split(row, "&") {
				cells = append(cells, strings.TrimSpace(c))
			}
			if name, ok := datasets[cells[0]]; ok {
				at.dataset = name
			}
			if cells[1] != "" {
				at.ipc = cells[1]
			}
			for j, c := range cells[heads:] {
				m := number.FindStringSubmatch(c)
				if m == nil {
					t.Fatalf("table %d: %q is not a number", i+1, c)
				}
				one := at
				if i < 2 {
					one.method, one.metric = methods[j], metrics[cells[2]]
				} else {
					one.method, one.metric = methods[3+j], []string{"transfer.logistic.test_acc", "transfer.hinge.test_acc"}[j]
				}
				out[one] = printed{m[1], m[2]}
			}
		}
	}
	return out
}

// Every number equals the one in the paper.
func TestPublishedIsWhatThePaperPrints(t *testing.T) {
	want, got := theirs(t, paper(t)), ours(t)
	if len(want) != 198 {
		t.Errorf("the paper's tables have %d numbers, not 198", len(want))
	}
	for at, w := range want {
		if g, ok := got[at]; !ok || g != w {
			t.Errorf("%v: got %v, but the paper prints %v", at, g, w)
		}
	}
	for at := range got {
		if _, ok := want[at]; !ok {
			t.Errorf("%v is not in the paper", at)
		}
	}
}
