package env

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Git names the commit that the program was built from.
type Git struct {
	Commit string `json:"commit"` // "unknown" where nothing says
	Branch string `json:"branch,omitempty"`

	// State is "clean", "modified" when the sources differed from the commit, or
	// "unknown".
	State   string `json:"state"`
	Changed int    `json:"changed,omitempty"` // source files that differ, where they can be counted
	Why     string `json:"why,omitempty"`     // of an unknown state
}

// programGit reads what the toolchain stamped into the program. "go run" and "go
// test" stamp nothing; their programs were compiled just now from the tree that
// their file names point to, so git is asked about that tree. Of any other program
// without a stamp, the tree may have changed since, and nothing is claimed.
func programGit() Git {
	if info, ok := debug.ReadBuildInfo(); ok {
		if g, ok := stamped(info.Settings); ok {
			return g
		}
	}
	file, err := os.Executable()
	if err != nil || !strings.Contains(filepath.ToSlash(file), "/go-build") {
		return unknown("the program was built without version control stamps")
	}
	_, source, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(source) {
		return unknown("the program does not say where its sources are")
	}
	return treeGit(source)
}

func unknown(why string) Git { return Git{Commit: "unknown", State: "unknown", Why: why} }

// stamped reads the build settings that "go build" takes from version control.
func stamped(settings []debug.BuildSetting) (Git, bool) {
	g := Git{State: "unknown"}
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			g.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			g.State = "modified"
		case s.Key == "vcs.modified":
			g.State = "clean"
		}
	}
	return g, g.Commit != ""
}

// sources are the paths that make the program. Tables and records are not among
// them: to write one does not change the code that writes the next.
var sources = []string{":/*.go", ":/*.s", ":/go.mod", ":/go.sum", ":/experiments"}

// treeGit asks git about the tree that holds a source file. A tree that does not
// track the file is another project's.
func treeGit(file string) Git {
	dir := filepath.Dir(file)
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"-C", dir, "--no-optional-locks"}, args...)...)
		var out bytes.Buffer
		cmd.Stdout = &out
		err := cmd.Run()
		return strings.TrimRight(out.String(), "\n"), err
	}
	if _, err := git("ls-files", "--error-unmatch", "--", filepath.Base(file)); err != nil {
		return unknown("git does not track the program's sources")
	}
	commit, err := git("rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return unknown("git knows no commit of the program's sources")
	}
	g := Git{Commit: commit, State: "clean"}
	g.Branch, _ = git("symbolic-ref", "--quiet", "--short", "HEAD")
	changes, err := git(append([]string{"status", "--porcelain", "--untracked-files=all", "--"}, sources...)...)
	switch {
	case err != nil:
		g.State, g.Why = "unknown", "git status failed"
	case changes != "":
		g.State, g.Changed = "modified", strings.Count(changes, "\n")+1
	}
	return g
}
