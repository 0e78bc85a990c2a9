package env

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Git identifies the commit that the program was built from.
type Git struct {
	Commit string `json:"commit"` // "unknown" if unknown
	Branch string `json:"branch,omitempty"`

	// State is "clean", "modified" if the sources differed from the commit, or
	// "unknown".
	State   string `json:"state"`
	Changed int    `json:"changed,omitempty"` // number of source files that differ, if known
}

var unknown = Git{Commit: "unknown", State: "unknown"}

// programGit reads the commit that the toolchain stamped into the program. "go run" and "go test"
// stamp nothing, but they have just compiled the sources. In that case programGit asks git about
// the sources.
func programGit() Git {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	_, source, _, _ := runtime.Caller(0) // git fails if this is not the path of a file
	stamp, ok := stamped(info.Settings)
	if !ok {
		return treeGit(source)
	}
	program, err := os.Executable()
	if stamp.State == "modified" && err == nil && unmodified(stamp.Commit, source, program) {
		stamp.State = "clean"
	}
	return stamp
}

// unmodified reports whether a program was built from a commit although its stamp is "modified". The
// stamp has that state even if only a table was rewritten. The sources must equal the commit and be
// older than the program: a restored source is equal again, but newer.
func unmodified(commit, source, program string) bool {
	dir := filepath.Dir(source)
	built, err := os.Stat(program)
	if err != nil || treeGit(source).State != "clean" {
		return false
	}
	_, differs := git(dir, append([]string{"diff", "--quiet", commit, "--"}, sources...)...)
	top, unknown := git(dir, "rev-parse", "--show-toplevel")
	list, unlisted := git(dir, append([]string{"ls-files", "-z", "--full-name", "--"}, sources...)...)
	if differs != nil || unknown != nil || unlisted != nil {
		return false
	}
	older := func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && info.ModTime().Before(built.ModTime())
	}
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		file := filepath.Join(top, name)
		// The time of a folder changes when sources appear or disappear. The top folder
		// also contains the program, so its time is not checked.
		if folder := filepath.Dir(file); !older(file) || folder != filepath.Clean(top) && !older(folder) {
			return false
		}
	}
	return true
}

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

// sources are the paths of the program's sources. Tables and records are excluded: writing them
// does not change the code.
var sources = []string{":/*.go", ":/*.s", ":/go.mod", ":/go.sum", ":/experiments"}

// git runs git in a folder and returns its output. It disables the file system monitor, because the
// settings of the repository could name any program. It keeps the filters, without which filtered
// files would count as changed.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir, "--no-optional-locks", "-c", "core.fsmonitor=false"}, args...)...)
	out, err := cmd.Output()
	return strings.TrimRight(string(out), "\n"), err
}

// treeGit asks git about the repository that contains a source file. If git does not track the
// file, the repository belongs to another project.
func treeGit(file string) Git {
	dir := filepath.Dir(file)
	if _, err := git(dir, "ls-files", "--error-unmatch", "--", filepath.Base(file)); err != nil {
		return unknown
	}
	commit, err := git(dir, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return unknown
	}
	g := Git{Commit: commit, State: "clean"}
	g.Branch, _ = git(dir, "symbolic-ref", "--quiet", "--short", "HEAD")
	changes, err := git(dir, append([]string{"status", "--porcelain", "--untracked-files=all", "--"}, sources...)...)
	switch {
	case err != nil:
		g.State = "unknown"
	case changes != "":
		g.State, g.Changed = "modified", strings.Count(changes, "\n")+1
	}
	return g
}
