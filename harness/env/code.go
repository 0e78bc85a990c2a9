package env

import (
	"crypto/sha256"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Code returns a digest of source code, without tests and the comments of Go files, which include
// lines such as go:build and go:embed. It covers the packages that define the types of the given
// pointers, and all packages of this program that they import. It returns "" if the sources are
// missing or newer than the program.
func Code(of ...any) string {
	var packages []string
	for _, v := range of {
		packages = append(packages, reflect.TypeOf(v).Elem().PkgPath())
	}
	t := programTree()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.digest(packages)
}

// tree is the source tree of a program. Each package is read only once, so that later changes
// to the files have no effect.
type tree struct {
	mu     sync.Mutex
	root   string
	module string
	built  time.Time // zero for "go run" and "go test"
	read   map[string]source
}

// source is the digest and the imports of a package. The digest is "" if the package cannot be
// read.
type source struct {
	digest  string
	imports []string
}

// programTree finds the sources by the file names that the compiler recorded.
var programTree = sync.OnceValue(func() *tree {
	const here = "/harness/env"
	t := &tree{read: map[string]source{}, module: strings.TrimSuffix(reflect.TypeFor[tree]().PkgPath(), here)}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		t.root = strings.TrimSuffix(filepath.ToSlash(filepath.Dir(file)), here)
	}
	// "go run" and "go test" build in a folder go-build..., and have just compiled the sources.
	if program, err := os.Executable(); err == nil && !strings.Contains(filepath.ToSlash(program), "/go-build") {
		if file, err := os.Stat(program); err == nil {
			t.built = file.ModTime()
		}
	}
	return t
})

// digest returns the digest of packages and of everything they import, or "" if one of them
// cannot be read.
func (t *tree) digest(packages []string) string {
	all := slices.Clone(packages)
	for i := 0; i < len(all); i++ { // all grows
		path := all[i]
		if _, known := t.read[path]; !known && t.root != "" {
			t.read[path] = t.load(filepath.Join(t.root, strings.TrimPrefix(path, t.module)))
		}
		if t.read[path].digest == "" {
			return ""
		}
		for _, p := range t.read[path].imports {
			if strings.HasPrefix(p, t.module+"/") && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	slices.Sort(all)
	sum := sha256.New()
	for _, path := range slices.Compact(all) {
		fmt.Fprintln(sum, path, t.read[path].digest)
	}
	return fmt.Sprintf("sha256:%x", sum.Sum(nil))
}

// load reads a package, including files for other systems.
func (t *tree) load(dir string) (s source) {
	entries, _ := os.ReadDir(dir)
	sum, found := sha256.New(), false
	for _, e := range entries {
		kind := filepath.Ext(e.Name())
		if kind != ".go" && kind != ".s" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		info, gone := e.Info()
		if err != nil || gone != nil || !t.built.IsZero() && info.ModTime().After(t.built) {
			return source{}
		}
		fmt.Fprintln(sum, e.Name())
		found = true
		if kind == ".s" {
			sum.Write(text)
			continue
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, e.Name(), text, parser.ImportsOnly)
		if err != nil {
			return source{}
		}
		for _, one := range parsed.Imports {
			s.imports = append(s.imports, strings.Trim(one.Path.Value, "\"`"))
		}
		var words scanner.Scanner
		words.Init(files.AddFile(e.Name(), -1, len(text)), text, nil, 0)
		var code []byte
		for _, what, word := words.Scan(); what != token.EOF; _, what, word = words.Scan() {
			code = append(append(append(append(code, what.String()...), ' '), word...), 0)
		}
		sum.Write(code)
	}
	if found {
		s.digest = fmt.Sprintf("%x", sum.Sum(nil))
	}
	return s
}
