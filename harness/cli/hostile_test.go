package cli

import (
	"archive/zip"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"

	"dgkip/harness/env"
)

// modestly is dgkip, and exits with 1 if that took more memory than a hostile file may.
func modestly() {
	code := run(context.Background(), newLibrary(fstest.MapFS{}), os.Args[1:], os.Stdout, os.Stderr)
	if held := env.PeakMemory(); held > 100e6 {
		fmt.Fprintf(os.Stderr, "%d MB were held\n", held/1e6)
		code = 1
	}
	os.Exit(code)
}

// hostile DIR writes files that are like sets, and want to run something, to have a lot of
// memory, or to be unpacked somewhere else.
func hostile(ts *testscript.TestScript, _ bool, args []string) {
	const million = 1_000_000
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000)}"
	npy := "\x93NUMPY\x01\x00" + string(rune(len(header))) + "\x00" + header
	// A tensor of 10^6 times 10^6 values, all of them in a storage of two.
	large := "ctorch._utils\n_rebuild_tensor_v2\n" +
		"((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQK\x00" +
		"J\x40\x42\x0f\x00J\x40\x42\x0f\x00\x86K\x00K\x00\x86\x89ccollections\nOrderedDict\n)RtR"
	for file, entries := range map[string]map[string]string{
		"call.pt":     {"set/data.pkl": "\x80\x02cposix\nsystem\nX\x0a\x00\x00\x00touch evil\x85R."},
		"nested.pt":   {"set/data.pkl": "\x80\x02" + strings.Repeat("]", million) + strings.Repeat("a", million-1) + "."},
		"outside.pt":  {"set/data.pkl": "\x80\x02}.", "../../evil": "x"},
		"outside.npz": {"../../evil.npy": "x"},
		"large.npz":   {"images.npy": npy, "labels.npy": npy},
		"large.pt":    {"set/data.pkl": "\x80\x02}(X\x06\x00\x00\x00images" + large + "X\x06\x00\x00\x00labels" + large + "u.", "set/data/0": "12345678"},
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
