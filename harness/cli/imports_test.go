package cli

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport says which packages of this module each may import. Packages below a
// listed one, such as internal parts, go with it.
var mayImport = map[string]string{
	".":                         "harness/cli baselines/all",
	"harness/cli":               "*", // it wires everything
	"harness/nearest":           "",
	"harness/rng":               "harness/fmath",
	"harness/fmath":             "",
	"harness/env":               "",
	"harness/progress":          "",
	"harness/stats":             "",
	"harness/tensor":            "harness/fmath",
	"harness/optim":             "harness/tensor",
	"harness/npz":               "",
	"harness/data":              "harness/method harness/npz harness/tensor harness/rng harness/fmath",
	"harness/method":            "harness/nn harness/tensor harness/rng",
	"harness/toml":              "harness/method harness/nearest",
	"harness/spec":              "harness/toml harness/method harness/nearest harness/data",
	"harness/exhibit":           "harness/spec harness/toml harness/method harness/nearest",
	"harness/store":             "harness/spec harness/method harness/npz harness/env",
	"harness/engine":            "harness/spec harness/method harness/data harness/teacher harness/eval harness/store harness/progress harness/env harness/rng",
	"harness/nn":                "harness/tensor harness/rng harness/optim harness/fmath",
	"harness/augment":           "harness/tensor harness/rng harness/fmath",
	"harness/features":          "harness/nn harness/tensor harness/rng harness/fmath",
	"harness/convex":            "harness/nn harness/tensor harness/rng harness/fmath",
	"harness/teacher":           "harness/method harness/data harness/features harness/convex harness/tensor harness/rng harness/fmath",
	"harness/eval":              "harness/method harness/data harness/nn harness/augment harness/features harness/convex harness/teacher harness/optim harness/tensor harness/rng harness/fmath",
	"harness/dgkip":             forMethods,
	"harness/report":            "harness/store harness/stats harness/exhibit harness/spec harness/method harness/nearest harness/report/chart",
	"harness/report/chart":      "",
	"baselines/all":             "*", // it registers everything
	"baselines/dsa":             forMethods + " baselines/dc",
	"baselines/*":               forMethods,
	"harness/method/methodtest": "harness/method harness/rng",
}

// forMethods is what a method may import.
const forMethods = "harness/method harness/data harness/nn harness/augment harness/features harness/convex harness/teacher harness/optim harness/tensor harness/rng harness/fmath"

// onlyIn says which packages may import those of others.
var onlyIn = map[string]string{
	"github.com/olekukonko":      "harness/report",
	"gonum.org/v1/plot":          "harness/report",
	"codeberg.org/go-pdf/fpdf":   "harness/report",
	"codeberg.org/go-fonts":      "harness/report",
	"gonum.org/v1/gonum/stat":    "harness/stats",
	"gonum.org/v1/gonum/mathext": "harness/stats",
	"gonum.org/v1/gonum/mat":     "harness/convex",
	"golang.org/x/sys":           "harness/tensor harness/env harness/progress harness/store",
	"golang.org/x/image":         "harness/report",

	"github.com/BurntSushi/toml": "harness/toml",
}

// numeric packages know no clock, no log, and no random numbers but those of rng.
var numeric = []string{
	"harness/tensor", "harness/fmath", "harness/optim", "harness/nn", "harness/augment", "harness/features", "harness/convex", "harness/teacher",
	"harness/eval", "harness/dgkip", "harness/method", "baselines/dd", "baselines/dc", "baselines/dsa", "baselines/kip",
	"baselines/random", "baselines/whole", "baselines/herding", "baselines/kmeans",
}

var notNumeric = []string{"time", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand"}

// rule finds the entry for a package: its own, or that of the closest one above.
func rule(table map[string]string, pkg string) (string, bool) {
	for at := pkg; ; at = path.Dir(at) {
		if r, ok := table[at]; ok && (at != "." || pkg == ".") {
			return r, true
		}
		if path.Dir(at) == "baselines" {
			return table["baselines/*"], true
		}
		if at == "." || at == "/" {
			return "", false
		}
	}
}

func within(pkg, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(p string) bool {
		return p == "*" || pkg == p || strings.HasPrefix(pkg, p+"/")
	})
}

// The layout is a promise: numbers cannot depend on clocks, reports cannot
// compute, and a method cannot reach into another.
func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(file, "go.mod"))
			if name := d.Name(); file != root && (nested == nil || name == "testdata" || strings.HasPrefix(name, ".") && name != ".." && name != ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return nil // the compiler says it better
		}
		for _, spec := range parsed.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			checkImport(t, pkg, to, d.Name())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImport(t *testing.T, pkg, to, file string) {
	t.Helper()
	if own, ok := strings.CutPrefix(to, "dgkip/"); ok {
		list, known := rule(mayImport, pkg)
		if !known {
			t.Errorf("%s: the table of this test does not say what it may import", pkg)
		} else if !within(own, list) && !strings.HasPrefix(own+"/", pkg+"/") && !sibling(pkg, own) {
			t.Errorf("%s/%s imports %s; it may import: %s", pkg, file, own, list)
		}
		return
	}
	if slices.Contains(notNumeric, to) && within(pkg, strings.Join(numeric, " ")) {
		t.Errorf("%s/%s imports %s: numbers must not depend on it", pkg, file, to)
	}
	if !strings.Contains(strings.SplitN(to, "/", 2)[0], ".") {
		return // the standard library
	}
	for at, list := range onlyIn {
		if (to == at || strings.HasPrefix(to, at+"/")) && within(pkg, list) {
			return
		}
	}
	t.Errorf("%s/%s imports %s, which is not for it", pkg, file, to)
}

// sibling tells whether both belong to the same listed package.
func sibling(pkg, own string) bool {
	a, b := strings.SplitN(pkg, "/", 3), strings.SplitN(own, "/", 3)
	return len(a) > 1 && len(b) > 1 && a[0] == "harness" && a[0] == b[0] && a[1] == b[1] && a[1] != "method"
}
