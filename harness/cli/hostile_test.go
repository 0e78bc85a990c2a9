package cli

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"dgkip/harness/env"
)

// modestly runs dgkip, and exits with 1 if it used more memory than a hostile file should cause.
func modestly() {
	code := run(context.Background(), newLibrary(fstest.MapFS{}), os.Args[1:], os.Stdout, os.Stderr)
	if held := env.PeakMemory(); held > 100e6 {
		fmt.Fprintf(os.Stderr, "%d MB were held\n", held/1e6)
		code = 1
	}
	os.Exit(code)
}

// hostile DIR writes files that look like sets, but try to run commands or to allocate much memory.
func hostile(ts *testscript.TestScript, _ bool, args []string) {
	const million = 1_000_000
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000)}"
	npy := "\x93NUMPY\x01\x00" + string(rune(len(header))) + "\x00" + header
	// A tensor of 10^6 x 10^6 values in a storage of two.
	large := "ctorch._utils\n_rebuild_tensor_v2\n" +
		"((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00" +
		"J\x40\x42\x0f\x00J\x40\x42\x0f\x00\x86K\x00K\x00\x86\x89ccollections\nOrderedDict\n)RtR"
	for file, entries := range map[string]map[string]string{
		"call.pt":   {"set/data.pkl": "\x80\x02cposix\nsystem\nX\x0a\x00\x00\x00touch evil\x85R."},
		"nested.pt": {"set/data.pkl": "\x80\x02" + strings.Repeat("]", million/2) + strings.Repeat("a", million/2-1) + "."},
		"large.npz": {"images.npy": npy, "labels.npy": npy},
		"large.pt":  {"set/data.pkl": "\x80\x02}(X\x06\x00\x00\x00images" + large + "X\x06\x00\x00\x00labels" + large + "u.", "set/data/0": "12345678"},
	} {
		name := filepath.Join(ts.MkAbs(args[0]), file)
		ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
		f, err := os.Create(name)
		ts.Check(err)
		z := zip.NewWriter(f)
		for _, entry := range slices.Sorted(maps.Keys(entries)) {
			w, err := z.CreateHeader(&zip.FileHeader{Name: entry, Method: zip.Store})
			ts.Check(err)
			_, err = w.Write([]byte(entries[entry]))
			ts.Check(err)
		}
		ts.Check(z.Close())
		ts.Check(f.Close())
	}
}

// Control characters in files and flags are shown, but do not reach the terminal.
func TestControlCharacters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.toml")
	for _, c := range []struct{ text, only, want string }{
		{text: "\x1b[31mschema = 1\n", want: "\t\ufffd[31mschema = 1\n\t^\n"},
		{text: "schema = 1\nname = \"\u009b31m\"\n", want: "name = \"\ufffd31m\""},
		{text: "schema = \"\x00\"\n", want: "schema = \"\ufffd\""},
		{only: "dataset:\x01é", want: `dataset:\x01é`},
		{only: "dataset:\xff", want: `dataset:\xff`},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		args := []string{"-exp", file}
		if c.only != "" {
			args = []string{"-exp", "x", "-only", c.only}
		}
		var out, errOut strings.Builder
		run(context.Background(), newLibrary(fstest.MapFS{"experiments/x.toml": {Data: []byte("schema = 1\nname = \"x\"\ntitle = \"X\"\ngrid = { dataset = [\"symbols\"], ipc = [1], method = [\"random\"] }\n")}}), args, &out, &errOut)
		said := out.String() + errOut.String()
		if !strings.Contains(said, c.want) {
			t.Errorf("%q: %q, want %q", c, said, c.want)
		}
		if i := strings.IndexFunc(said, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }); i >= 0 || !utf8.ValidString(said) {
			t.Errorf("%q: %q", c, said)
		}
	}
}

func TestUnexpectedArgument(t *testing.T) {
	for arg, want := range map[string]string{"tiny": "did you mean -exp tiny?", "../x": "write the value of a flag", "small": "write the value of a flag"} {
		_, err := parseFlags(library{fstest.MapFS{"experiments/tiny.toml": {}}}, []string{arg})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
}

// Errors of the system get a hint, unless they already have one.
func TestMessage(t *testing.T) {
	of := func(err error) error { return &fs.PathError{Op: "open", Path: "file", Err: err} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{usageError(of(syscall.EMFILE)), "open file: too many open files\nhint: raise the limit of open files: ulimit -n 256 is enough"},
		{of(syscall.EACCES), "open file: permission denied\nhint: change the permissions of that file or folder, or run the program as its owner"},
		{fmt.Errorf("%w\nhint: a", of(syscall.EACCES)), "open file: permission denied\nhint: a"},
		{errors.New("\na\nhint: b\nhint: b"), "a\nhint: b"},
		{errors.New(strings.Repeat("é", 10_000)), strings.Repeat("é", 300) + " ... " + strings.Repeat("é", 300)},
	} {
		if got := message(c.err); got != c.want && runtime.GOOS != "windows" {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
