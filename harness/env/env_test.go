package env

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
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

// Modules are listed unless the sources equal a commit.
func TestModules(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "a", Version: "v1"}, {Path: "b", Version: "v1", Replace: &debug.Module{Path: "c", Version: "v2"}},
	}}
	for _, state := range []string{"modified", "unknown"} {
		if got := modules(Git{State: state}, info); len(got) != 2 || got["a"] != "v1" || got["c"] != "v2" {
			t.Errorf("%s: %v", state, got)
		}
	}
	if got := modules(Git{State: "clean"}, info); got != nil {
		t.Errorf("clean: %v", got)
	}
}

// TestTreeGit uses a repository that git itself creates.
func TestTreeGit(t *testing.T) {
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
	main := filepath.Join(dir, "sub", "main.go")
	expect := func(when, state string, changed int) {
		t.Helper()
		g := treeGit(main)
		if g.State != state || g.Changed != changed {
			t.Errorf("%s: %+v, want %s, %d changed", when, g, state, changed)
		}
		if want := git("rev-parse", "HEAD"); g.Commit != want {
			t.Errorf("%s: commit %s, want %s", when, g.Commit, want)
		}
	}
	git("init", "-q", "-b", "main")
	write("sub/main.go", "package sub\n")
	if g := treeGit(main); g != unknown {
		t.Errorf("with a source that git does not track: %+v", g)
	}
	write("results/table.md", "1\n")
	git("add", ".")
	if g := treeGit(main); g != unknown {
		t.Errorf("before the first commit: %+v", g)
	}
	git("commit", "-q", "-m", "first")
	expect("after a commit", "clean", 0)
	if g := treeGit(main); g.Branch != "main" {
		t.Errorf("branch %q", g.Branch)
	}
	write("results/table.md", "2\n")
	write("notes.txt", "x")
	expect("with a rewritten table", "clean", 0)
	write("sub/new.go", "package sub\n")
	write("experiments/mine.toml", "schema = 1\n")
	expect("with new sources", "modified", 2)
	git("add", ".")
	git("commit", "-q", "-m", "second")
	expect("after the second commit", "clean", 0)
	write("results/table.md", "3\n")
	program := filepath.Join(t.TempDir(), "program")
	second := git("rev-parse", "HEAD")
	built := func(when string, want bool) {
		t.Helper()
		if err := os.WriteFile(program, nil, 0o777); err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(time.Hour)
		if when == "before the sources were written" {
			later = time.Now().Add(-time.Hour)
		}
		if err := os.Chtimes(program, later, later); err != nil {
			t.Fatal(err)
		}
		if got := unmodified(second, main, program); got != want {
			t.Errorf("built %s: unmodified returns %v", when, got)
		}
	}
	built("with a rewritten table", true)
	built("before the sources were written", false)
	git("commit", "-q", "-a", "-m", "table")
	built("before the table was committed", true)
	write("sub/main.go", "package sub // changed\n")
	expect("with a changed source", "modified", 1)
	built("with a changed source", false)
	git("commit", "-q", "-a", "-m", "third")
	built("before other sources were committed", false)
	git("checkout", "-q", "--detach")
	expect("without a branch", "clean", 0)
	asked := filepath.Join(dir, ".git", "asked")
	git("config", "core.fsmonitor", "touch '"+asked+"'; false")
	expect("with a file system monitor", "clean", 0)
	git("config", "--unset", "core.fsmonitor")
	if _, err := os.Stat(asked); err == nil {
		t.Error("git ran the file system monitor")
	}
	if g := treeGit(filepath.Join(t.TempDir(), "main.go")); g != unknown {
		t.Errorf("without a repository: %+v", g)
	}
}

// ProgramGit does not depend on the current folder.
func TestProgramGit(t *testing.T) {
	here := programGit()
	t.Chdir(t.TempDir())
	if g := programGit(); g != here {
		t.Errorf("in another folder: %+v, not %+v", g, here)
	}
	g, ok := stamped([]debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}})
	if !ok || g.Commit != "abc" || g.State != "modified" {
		t.Errorf("a stamp: %+v", g)
	}
	if _, ok := stamped(nil); ok {
		t.Error("missing build settings count as a stamp")
	}
}
