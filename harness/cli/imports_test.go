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

// mayImport lists which packages of this module each package may import. An entry includes packages
// below it, such as internal ones.
var mayImport = map[string]string{
	".":                         "harness/cli baselines/all",
	"harness/cli":               "*", // connects all packages
	"harness/suggest":           "",
	"harness/rng":               "harness/fmath",
	"harness/fmath":             "",
	"harness/env":               "",
	"harness/progress":          "",
	"harness/stats":             "",
	"harness/tensor":            "harness/fmath",
	"harness/optim":             "harness/tensor",
	"harness/deflate":           "",
	"harness/sets":              "harness/method",
	"harness/data":              "harness/method harness/sets harness/tensor harness/rng harness/fmath",
	"harness/method":            "harness/nn harness/tensor harness/rng",
	"harness/toml":              "harness/method harness/suggest",
	"harness/experiment":        "harness/toml harness/method harness/suggest harness/data",
	"harness/store":             "harness/experiment harness/sets harness/deflate harness/method harness/env",
	"harness/engine":            "harness/experiment harness/sets harness/method harness/store harness/progress harness/env",
	"harness/submit":            "",
	"harness/nn":                "harness/tensor harness/rng harness/optim harness/fmath",
	"harness/augment":           "harness/tensor harness/rng harness/fmath",
	"harness/features":          "harness/nn harness/tensor harness/rng",
	"harness/nngp":              "harness/tensor harness/fmath",
	"harness/convex":            "harness/tensor harness/rng harness/fmath",
	"harness/teacher":           "harness/method harness/space harness/convex harness/tensor harness/fmath",
	"harness/space":             "harness/method harness/features harness/nngp harness/convex harness/tensor",
	"harness/eval":              "harness/method harness/nn harness/optim harness/augment harness/convex harness/nngp harness/space harness/teacher harness/tensor harness/rng harness/fmath",
	"harness/dgkip":             "harness/method harness/convex harness/space harness/teacher harness/optim harness/tensor harness/rng harness/fmath",
	"harness/report":            "harness/store harness/stats harness/experiment harness/method harness/suggest",
	"harness/report/chart":      "harness/deflate",
	"baselines/all":             "*", // registers all methods
	"baselines/file":            "harness/sets harness/teacher harness/method",
	"baselines/dsa":             "harness/method harness/augment baselines/dc",
	"baselines/*":               "harness/method harness/nn harness/augment harness/convex harness/space harness/teacher harness/optim harness/tensor harness/rng harness/fmath",
	"harness/method/methodtest": "harness/method harness/tensor harness/rng harness/toml",
}

// onlyIn lists which packages may import packages of other modules.
var onlyIn = map[string]string{
	"github.com/olekukonko":   "harness/report",
	"gonum.org/v1/plot":       "harness/report",
	"github.com/klauspost":    "harness/deflate",
	"gonum.org/v1/gonum/stat": "harness/stats",
	"golang.org/x/sys":        "harness/tensor harness/env harness/progress",
	"golang.org/x/image":      "harness/report",

	"github.com/BurntSushi/toml": "harness/toml",
}

// numeric lists packages that may not use clocks, logs, or random numbers other than rng. All
// baselines are included.
var numeric = []string{
	"harness/tensor", "harness/fmath", "harness/optim", "harness/nn", "harness/augment", "harness/features", "harness/nngp", "harness/convex", "harness/space", "harness/teacher",
	"harness/eval", "harness/dgkip", "harness/method", "baselines",
}

var notNumeric = []string{"time", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand"}

// rule returns the key of the entry for a package or for its closest parent, or "" if there is
// none.
func rule(pkg string) string {
	for at := pkg; ; at = path.Dir(at) {
		if _, ok := mayImport[at]; ok && (at != "." || pkg == ".") {
			return at
		}
		if path.Dir(at) == "baselines" {
			return "baselines/*"
		}
		if at == "." || at == "/" {
			return ""
		}
	}
}

// within returns the entry of a list that a package belongs to, or "".
func within(pkg, list string) string {
	for _, p := range strings.Fields(list) {
		if p == "*" || pkg == p || strings.HasPrefix(pkg, p+"/") {
			return p
		}
	}
	return ""
}

// uses records which entries of the tables are used.
type uses struct{ mayImport, onlyIn map[[2]string]bool }

// idle fails for unused entries, because superfluous permissions restrict nothing.
func (u uses) idle(t *testing.T) {
	t.Helper()
	for name, of := range map[string]struct {
		table map[string]string
		used  map[[2]string]bool
	}{"mayImport": {mayImport, u.mayImport}, "onlyIn": {onlyIn, u.onlyIn}} {
		for key, list := range of.table {
			for _, entry := range strings.Fields(list) {
				if !of.used[[2]string{key, entry}] {
					t.Errorf("%s[%q] has %s, which no package needs", name, key, entry)
				}
			}
		}
	}
}

// Numbers must not depend on clocks, reports must not compute, and methods must not import each
// other.
func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	used := uses{map[[2]string]bool{}, map[[2]string]bool{}}
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
			return nil // left to the compiler
		}
		for _, spec := range parsed.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			used.check(t, pkg, to, d.Name())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	used.idle(t)
}

func (u uses) check(t *testing.T, pkg, to, file string) {
	t.Helper()
	if own, ok := strings.CutPrefix(to, "dgkip/"); ok {
		key := rule(pkg)
		entry := within(own, mayImport[key])
		switch {
		case key == "":
			t.Errorf("%s: the table mayImport has no entry for it", pkg)
		case entry != "":
			u.mayImport[[2]string{key, entry}] = true
		case !strings.HasPrefix(own+"/", pkg+"/"):
			t.Errorf("%s/%s imports %s; it may import: %s", pkg, file, own, mayImport[key])
		}
		return
	}
	if slices.Contains(notNumeric, to) && within(pkg, strings.Join(numeric, " ")) != "" {
		t.Errorf("%s/%s imports %s: numbers must not depend on it", pkg, file, to)
	}
	if !strings.Contains(strings.SplitN(to, "/", 2)[0], ".") {
		return // the standard library
	}
	for at, list := range onlyIn {
		if entry := within(pkg, list); entry != "" && within(to, at) != "" {
			u.onlyIn[[2]string{at, entry}] = true
			return
		}
	}
	t.Errorf("%s/%s imports %s, which onlyIn does not allow", pkg, file, to)
}
