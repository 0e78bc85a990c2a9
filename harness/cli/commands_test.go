package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"dgkip/harness/store"
)

// The commands of the scripts in testdata.

// code N command... runs a command, which must exit with N.
func code(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// spoil PATTERN overwrites the files that match.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) == 0 {
		ts.Fatalf("nothing matches %s", args[0])
	}
	for _, name := range names {
		ts.Check(os.WriteFile(name, []byte("junk"), 0o666))
	}
}

// breaks replaces \n in arguments of scripts by line breaks.
var breaks = strings.NewReplacer(`\n`, "\n")

// edit FILE OLD NEW replaces text in a file; \n means a line break.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	b, err := os.ReadFile(file)
	ts.Check(err)
	old := breaks.Replace(args[1])
	if !bytes.Contains(b, []byte(old)) {
		ts.Fatalf("%s has no %q", args[0], old)
	}
	ts.Check(os.WriteFile(file, bytes.Replace(b, []byte(old), []byte(breaks.Replace(args[2])), 1), 0o666))
}

// waitfor PATTERN waits until a matching file exists.
func waitfor(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(await(ts.MkAbs(args[0])))
}

func await(pattern string) error {
	for range 1000 {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%s did not appear", pattern)
}

// lines FILE N counts lines.
func lines(ts *testscript.TestScript, _ bool, args []string) {
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); fmt.Sprint(got) != args[1] {
		ts.Fatalf("%s has %d lines, want %s:\n%s", args[0], got, args[1], ts.ReadFile(args[0]))
	}
}

// records reads the records of a folder.
func records(ts *testscript.TestScript, dir string) []*store.Record {
	s := store.Open(ts.MkAbs(dir))
	keys, err := s.Keys()
	ts.Check(err)
	var all []*store.Record
	for _, key := range keys {
		r, err := s.Get(key)
		ts.Check(err)
		all = append(all, r)
	}
	return all
}

// sessions DIR N COUNT expects COUNT records that took N sessions of work. More than one session
// means that the run continued from a checkpoint.
func sessions(ts *testscript.TestScript, _ bool, args []string) {
	got := 0
	for _, r := range records(ts, args[0]) {
		if fmt.Sprint(len(r.Provenance.Sessions)) == args[1] {
			got++
		}
	}
	if fmt.Sprint(got) != args[2] {
		ts.Fatalf("%d records of %s took %s sessions, want %s", got, args[0], args[1], args[2])
	}
}

// shared DIR N expects N records whose processor time and memory include several runs.
func shared(ts *testscript.TestScript, _ bool, args []string) {
	got := 0
	for _, r := range records(ts, args[0]) {
		if r.Provenance.Shared {
			got++
		}
	}
	if fmt.Sprint(got) != args[1] {
		ts.Fatalf("%d records of %s have shared usage, want %s", got, args[0], args[1])
	}
}

// recorded DIR expects that a command just printed the score of the only record in DIR.
func recorded(ts *testscript.TestScript, _ bool, args []string) {
	all := records(ts, args[0])
	if len(all) != 1 {
		ts.Fatalf("%d records in %s, want one", len(all), args[0])
	}
	r := all[0].Result
	want := fmt.Sprintf(": %d images, %.2f %%, %s of %d test images wrong\n", r.Images, 100*r.Metrics["test_acc"], strings.Trim(fmt.Sprint(r.Counts["test_errors"]), "[]"), r.Counts["test_images"][0])
	if got := ts.ReadFile("stdout"); !strings.Contains(got, want) {
		ts.Fatalf("printed %q, but recorded is %q", got, want)
	}
}

// resave PATTERN loads files in PyTorch and saves them again, if PyTorch is installed.
func resave(ts *testscript.TestScript, _ bool, args []string) {
	program := ""
	if !testing.Short() {
		program = pythonWithTorch()
	}
	if program == "" {
		ts.Logf("SKIPPED: no PyTorch here to save sets with")
		return
	}
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	before := readAll(ts, names)
	ts.Check(ts.Exec(program, append([]string{"-c", "import sys, torch\nfor name in sys.argv[1:]: torch.save(torch.load(name, weights_only=True), name)"}, names...)...))
	for i, after := range readAll(ts, names) {
		if bytes.Equal(before[i], after) {
			ts.Fatalf("PyTorch did not write %s", names[i])
		}
		ts.Logf("RUN: %s saved by PyTorch", names[i])
	}
}

func readAll(ts *testscript.TestScript, names []string) [][]byte {
	out := make([][]byte, len(names))
	for i, name := range names {
		var err error
		out[i], err = os.ReadFile(name)
		ts.Check(err)
	}
	return out
}

// samescore A COLUMN B COLUMN expects that the sets of two columns in two folders have the same
// scores for each dataset, protocol and seed.
func sameScore(ts *testscript.TestScript, _ bool, args []string) {
	scores := func(dir, name string) map[string]string {
		out := map[string]string{}
		for _, r := range records(ts, dir) {
			if id := r.Result.Identity; r.Provenance.Cell["method"] == name {
				out[fmt.Sprint(id.Dataset.Name, " ", id.Dataset.Preprocess, " ", id.Eval.Name, " seed ", id.Seed)] = fmt.Sprint(r.Result.Metrics["test_acc"], r.Result.Counts, r.Result.Digests)
			}
		}
		return out
	}
	a, b := scores(args[0], args[1]), scores(args[2], args[3])
	if len(a) == 0 || !maps.Equal(a, b) {
		ts.Fatalf("%s of %s scores %v, %s of %s %v", args[1], args[0], a, args[3], args[2], b)
	}
}

// signal INT|TERM|USR1 PATTERN dgkip args... starts the program, and sends it the signal when the
// file exists. It expects exit code 130, or 75 after USR1.
func signalled(ts *testscript.TestScript, _ bool, args []string) {
	if runtime.GOOS == "windows" {
		ts.Logf("SKIPPED: no interrupts can be sent here")
		return
	}
	send := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "USR1": comeAgain[0]}[args[0]]
	code, said := 130, "interrupted"
	if args[0] == "USR1" {
		code, said = 75, "stopped early"
	}
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, args[2])); err == nil {
			path = filepath.Join(dir, args[2])
			break
		}
	}
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "SLOW_MS="+ts.Getenv("SLOW_MS"), "CHECKPOINT_MS="+ts.Getenv("CHECKPOINT_MS"), "REPORT_MS="+ts.Getenv("REPORT_MS"))
	var out bytes.Buffer
	cmd.Stderr = &out
	ts.Check(cmd.Start())
	waiting := await(ts.MkAbs(args[1]))
	ts.Check(cmd.Process.Signal(send))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != code {
		ts.Fatalf("%v, want exit code %d:\n%s", err, code, &out)
	}
	ts.Check(waiting)
	said += "; the same command continues from here"
	if slices.Contains(args, "-force") {
		said = "interrupted; the same command continues the run in progress and computes all others again"
	}
	if !strings.Contains(out.String(), said) {
		ts.Fatalf("the output is\n%s", &out)
	}
}

// files PATTERN N counts files.
func files(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if fmt.Sprint(len(found)) != args[1] {
		ts.Fatalf("%d files %s, want %s: %q", len(found), args[0], args[1], found)
	}
}

// samerecords A B expects the same results, traces and sets in two folders.
func sameRecords(ts *testscript.TestScript, _ bool, args []string) {
	read := func(dir string) map[string]string {
		all := map[string]string{}
		for _, name := range []string{"result.json", "trace.csv", "distilled.npz"} {
			found, err := filepath.Glob(filepath.Join(ts.MkAbs(dir), "runs", "*", "*", name))
			ts.Check(err)
			for _, f := range found {
				b, err := os.ReadFile(f)
				ts.Check(err)
				rel, err := filepath.Rel(ts.MkAbs(dir), f)
				ts.Check(err)
				all[rel] = string(b)
			}
		}
		return all
	}
	a, b := read(args[0]), read(args[1])
	if len(a) == 0 || len(a) != len(b) {
		ts.Fatalf("%d and %d files", len(a), len(b))
	}
	for name := range a {
		if a[name] != b[name] {
			ts.Fatalf("%s differs", name)
		}
	}
}

// canMount reports whether small file systems can be mounted.
var canMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir).Run() != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
})

// mount mounts a file system on a folder.
func mount(ts *testscript.TestScript, dir, options string) {
	abs := ts.MkAbs(dir)
	ts.Check(os.MkdirAll(abs, 0o777))
	ts.Check(exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", abs).Run())
	ts.Defer(func() { exec.Command("umount", "-l", abs).Run() })
}

// tmpfs DIR SIZE mounts a small disk on a folder.
func tmpfs(ts *testscript.TestScript, _ bool, args []string) {
	mount(ts, args[0], "size="+args[1])
}

// grow DIR SIZE enlarges the disk.
func grow(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(exec.Command("mount", "-o", "remount,size="+args[1], ts.MkAbs(args[0])).Run())
}

// readonly DIR makes a folder read-only. It mounts a read-only disk, because the superuser may
// write to any folder.
func readonly(ts *testscript.TestScript, _ bool, args []string) {
	if os.Geteuid() == 0 {
		mount(ts, args[0], "ro")
		return
	}
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o555))
}

// tamper DIR OLD NEW [listed [FILE]] changes the first result in a folder of records, or another
// file. With listed it also corrects the checksum.
func tamper(ts *testscript.TestScript, _ bool, args []string) {
	name := "result.json"
	if len(args) > 4 {
		name = args[4]
	}
	found, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "runs", "*", "*", name))
	ts.Check(err)
	b, err := os.ReadFile(found[0])
	ts.Check(err)
	changed := bytes.Replace(b, []byte(breaks.Replace(args[1])), []byte(breaks.Replace(args[2])), 1)
	ts.Check(os.WriteFile(found[0], changed, 0o666))
	if len(args) > 3 {
		file := filepath.Join(filepath.Dir(found[0]), "SHA256SUMS")
		sums, err := os.ReadFile(file)
		ts.Check(err)
		sum := func(b []byte) []byte { return fmt.Appendf(nil, "%x", sha256.Sum256(b)) }
		ts.Check(os.WriteFile(file, bytes.Replace(sums, sum(b), sum(changed), 1), 0o666))
	}
}

// copyset DIR FILE copies a distilled set from the records.
func copySet(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "runs", "*", "*", "distilled.npz"))
	ts.Check(err)
	b, err := os.ReadFile(found[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}
