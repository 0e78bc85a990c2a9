package env

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	h := Read()
	if h.Go == "" || h.Cores < 1 || h.CPU == "" || h.Name == "" {
		t.Errorf("incomplete: %+v", h)
	}
	if CPU() < 0 || PeakMemory() < 0 {
		t.Error("negative usage")
	}
}

// The repository is made by git itself, in the forms it has.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed, so there is no repository to read")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
			"GIT_COMMITTER_EMAIL=a@example.org", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when, state string) {
		t.Helper()
		g := ReadGit(filepath.Join(dir, "sub"))
		if g.State != state {
			t.Errorf("%s: %+v, want %s", when, g, state)
		}
		if want := git("rev-parse", "HEAD"); g.Commit != want {
			t.Errorf("%s: commit %s, want %s", when, g.Commit, want)
		}
	}
	git("init", "-q", "-b", "main")
	write("a.txt", "one\n")
	write("sub/b.txt", "two\n")
	write("sub/bc.txt", "three\n")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	expect("after a commit", "clean")
	if g := ReadGit(dir); g.Branch != "main" {
		t.Errorf("branch %q", g.Branch)
	}
	write("untracked.txt", "x")
	expect("with an untracked file", "clean")
	write("sub/new.go", "package sub\n")
	expect("with untracked source", "modified")
	os.Remove(filepath.Join(dir, "sub", "new.go"))
	write("a.txt", "ONE\n")
	expect("with a changed file of the same size", "modified")
	git("add", ".")
	expect("with a staged change", "modified")
	git("commit", "-q", "-m", "second")
	expect("after the second commit", "clean")
	os.Remove(filepath.Join(dir, "sub", "b.txt"))
	expect("with a removed file", "modified")
	git("checkout", "-q", "--", ".")
	git("update-index", "--index-version", "4")
	expect("with an index of version 4", "clean")
	git("gc", "-q")
	expect("packed", "clean")
	git("checkout", "-q", "--detach")
	expect("without a branch", "clean")
	git("worktree", "add", "-q", filepath.Join(dir, "sub", "tree"))
	if g := ReadGit(filepath.Join(dir, "sub", "tree")); g.State != "clean" || g.Commit != git("rev-parse", "HEAD") {
		t.Errorf("in a further working tree: %+v", g)
	}
	if g := ReadGit("/"); g.Commit != "unknown" || g.State != "unknown" {
		t.Errorf("without a repository: %+v", g)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00TREE\x00\x00\x00\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := readIndex(b)
		if err == nil {
			treeID(entries, "")
		}
	})
}
