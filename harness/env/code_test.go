package env

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The digest depends only on the code of a package and of its imports.
func TestCode(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	built := time.Time{}
	digest := func() string {
		return (&tree{root: root, module: "m", built: built, read: map[string]source{}}).digest([]string{"m/a"})
	}
	write("a/a.go", "package a\n\nimport (\n\t\"fmt\"\n\n\t\"m/b\"\n)\n\nfunc A() { fmt.Println(b.B) }\n")
	write("b/b.go", "package b\n\nimport _ \"m/c\"\n\nconst B = 1\n")
	write("c/c.go", "package c\n")
	first := digest()
	if first == "" {
		t.Fatal("no digest")
	}
	for _, same := range [][2]string{
		{"b/b.go", "// Package b has a comment.\npackage b\nimport _ \"m/c\"\nconst  B = 1 // another layout\n"},
		{"b/b_test.go", "package b\n"},
		{"d/d.go", "package d\n"},
		{"b/notes.txt", "x"},
	} {
		write(same[0], same[1])
		if digest() != first {
			t.Errorf("%s with %q changes the digest", same[0], same[1])
		}
	}
	for _, other := range [][2]string{
		{"b/b.go", "package b\n\nimport _ \"m/c\"\n\nconst B = 2\n"},
		{"c/c.go", "package c\n\nfunc init() {}\n"},
		{"c/c_amd64.s", "TEXT\n"},
	} {
		before := digest()
		write(other[0], other[1])
		if now := digest(); now == before || now == "" {
			t.Errorf("%s with %q: %q", other[0], other[1], now)
		}
	}
	if built = time.Now().Add(time.Hour); digest() == "" {
		t.Error("no digest of sources that are older than the program")
	}
	if built = time.Now().Add(-time.Hour); digest() != "" {
		t.Error("a digest although sources are newer than the program")
	}
	if Code(new(Host)) == "" {
		t.Error("no digest of this program")
	}
	if got := (&tree{module: "m", read: map[string]source{}}).digest([]string{"m/a"}); got != "" {
		t.Errorf("without sources: %q", got)
	}
}
