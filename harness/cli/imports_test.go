package cli

import (
	"cmp"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
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
	"harness/method":            "harness/nn harness/rng",
	"harness/toml":              "harness/method harness/suggest",
	"harness/experiment":        "harness/toml harness/method harness/suggest harness/data",
	"harness/store":             "harness/experiment harness/sets harness/deflate harness/method harness/env",
	"harness/engine":            "harness/experiment harness/sets harness/method harness/store harness/progress harness/stats harness/env",
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

// within reports whether a package belongs to an entry of a list.
func within(pkg, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(p string) bool {
		return p == "*" || pkg == p || strings.HasPrefix(pkg, p+"/")
	})
}

// Numbers must not depend on clocks, reports must not compute, and methods must not import each
// other.
func TestImports(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		pkg := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(names[0], "dgkip"), "/"), ".")
		for _, to := range names[1:] {
			checkImport(t, pkg, to)
		}
	}
}

func checkImport(t *testing.T, pkg, to string) {
	t.Helper()
	if own, ok := strings.CutPrefix(to, "dgkip/"); ok {
		if key := rule(pkg); key == "" {
			t.Errorf("%s: the table mayImport has no entry for it", pkg)
		} else if !within(own, mayImport[key]) && !strings.HasPrefix(own+"/", pkg+"/") {
			t.Errorf("%s imports %s; it may import: %s", pkg, own, mayImport[key])
		}
		return
	}
	if slices.Contains(notNumeric, to) && within(pkg, strings.Join(numeric, " ")) {
		t.Errorf("%s imports %s: numbers must not depend on it", pkg, to)
	}
	if !strings.Contains(strings.SplitN(to, "/", 2)[0], ".") {
		return // the standard library
	}
	for at, list := range onlyIn {
		if within(pkg, list) && within(to, at) {
			return
		}
	}
	t.Errorf("%s imports %s, which onlyIn does not allow", pkg, to)
}
