package cli

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var exportOfSets = regexp.MustCompile(`(?m)^ +go run \. -exp (\S+) -only '([^']*)' -export half results/sets$`)

// The files of results/sets are those that the command in results/README.md writes from the records.
func TestSets(t *testing.T) {
	page, err := os.ReadFile("../../results/README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := exportOfSets.FindStringSubmatch(string(page))
	if command == nil {
		t.Fatal("results/README.md has no command that writes results/sets")
	}
	sets, fresh := "../../results/sets", t.TempDir()
	args := []string{"-exp", command[1], "-only", command[2], "-out", "../../results", "-export", "half", fresh}
	if code := run(context.Background(), newLibrary(os.DirFS("../..")), args, io.Discard, os.Stderr); code != 0 {
		t.Fatalf("-export ended with %d", code)
	}
	want, got := filesIn(t, fresh), filesIn(t, sets)
	if maps.Equal(got, want) {
		return
	}
	if *update {
		if err := os.RemoveAll(sets); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(sets, os.DirFS(fresh)); err != nil {
			t.Fatal(err)
		}
		return
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			differ = append(differ, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			differ = append(differ, name)
		}
	}
	t.Errorf("files of results/sets differ from the records: %s\nhint: go test -run TestSets -update ./harness/cli writes them", strings.Join(differ, " "))
}

// filesIn returns the content of the files in a folder.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(file)] = string(content)
	}
	return out
}
