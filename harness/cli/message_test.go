package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

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
