package sets

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// shown opens a file and returns an array as text.
func shown(t *testing.T, file, name string) string {
	t.Helper()
	s, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := s.Read(name, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if texts, ok := a.Texts(); ok {
		return fmt.Sprintf("%v %q", a.Shape, texts)
	}
	x, _ := a.Float64s()
	return fmt.Sprint(a, " ", x)
}

// The files in testdata were written by PyTorch.
func TestTorch(t *testing.T) {
	for name, want := range map[string]string{
		"turned":     "float32[2 2 2 3] [0 0.125 0.25 0.03125 0.15625 0.28125 0.0625 0.1875 0.3125 0.09375 0.21875 0.34375 0.375 0.5 0.625 0.40625 0.53125 0.65625 0.4375 0.5625 0.6875 0.46875 0.59375 0.71875]",
		"part":       "float32[1 2 2] [0.5 0.53125 0.5625 0.59375]",
		"strided":    "float32[5] [0.09375 0.25 0.40625 0.5625 0.71875]",
		"spread":     "float32[3] [7 7 7]",
		"brain":      "float32[2] [0 0.375]",
		"half":       "float16[2] [0.03125 0.40625]",
		"bytes":      "uint8[2] [0 255]",
		"flag":       "bool[2] [1 0]",
		"parameter":  "float32[2] [0 0.03125]",
		"nothing":    "float32[0 3] []",
		"mean":       "float64[2] [0.5 0.25]",
		"classes":    `[2] ["a" "bé"]`,
		"pair.1":     `[] ["x"]`,
		"inner.deep": "int64[2] [1 0]",
	} {
		if got := shown(t, "testdata/kinds.pt", name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{"data.0.1": "int64[2] [1 0]", "data.1.1": "int64[2] [1 0]"} {
		if got := shown(t, "testdata/dc.pt", name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := shown(t, "testdata/bare.pt", "."); !strings.HasPrefix(got, "float32[2 3 2 2] [0 0.03125 ") {
		t.Error(got)
	}
	s, err := Open("testdata/dc.pt")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if want := []string{"data.0.0", "data.0.1", "data.1.0", "data.1.1"}; !slices.Equal(s.Names(), want) {
		t.Errorf("%v, want %v", s.Names(), want)
	}
	if _, err := s.Read("data.0.0", 23); err == nil || !strings.Contains(err.Error(), "float32[2 3 2 2] has more than 23 values") {
		t.Error(err)
	}
	if _, err := s.Read("images", 23); err == nil || !strings.Contains(err.Error(), "only data.0.0, data.0.1") {
		t.Error(err)
	}
}

func some() []Array {
	classes := Text("classes", "öne")
	classes.Shape = []int{1}
	return []Array{
		Of("images", []int{1, 3}, []float32{1, -2, 0.5}), Of("labels", []int{1}, []int64{-1}), Of("extra.rates", []int{2}, []float64{0.1, 3}),
		half("pixels", []int{1}, []float32{0.5}), Of("empty", []int{0, 7}, []int64{}), Of("one", nil, []uint8{9}),
		Text("kind", "häkchen ✓"), classes,
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for name, encode := range map[string]func([]Array) ([]byte, error){"set.pt": Torch, "set.npz": Encode} {
		b, err := encode(some())
		if err != nil {
			t.Fatal(err)
		}
		again, err := encode(some())
		if err != nil || !bytes.Equal(b, again) {
			t.Errorf("%s: other bytes the second time (%v)", name, err)
		}
		s, err := New(name, bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range some() {
			got, err := s.Read(want.Name, 100)
			if err != nil {
				t.Error(err)
				continue
			}
			x, _ := got.Float64s()
			y, _ := want.Float64s()
			tx, _ := got.Texts()
			ty, _ := want.Texts()
			if !slices.Equal(x, y) || !slices.Equal(tx, ty) || x != nil && fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %s is %v %v %q, want %v %v %q", name, want.Name, got, x, tx, want, y, ty)
			}
		}
	}
}

// python returns an interpreter that has a module, or skips the test.
func python(t *testing.T, module string) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "import "+module).Run() == nil {
			return path
		}
	}
	t.Skipf("SKIPPED: no Python with %s here", module)
	return ""
}

func TestTorchReadsIt(t *testing.T) {
	program := python(t, "torch")
	t.Log("RUN: reading and writing with PyTorch")
	b, err := Torch(some())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "set.pt")
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-c", `
import sys, torch
d = torch.load(sys.argv[1], weights_only=True)
print(d["images"], d["labels"], d["extra.rates"], d["pixels"].dtype, d["empty"].shape, d["one"], d["kind"], d["classes"])
torch.save(d, sys.argv[1])
`, file).CombinedOutput()
	const want = "tensor([[ 1.0000, -2.0000,  0.5000]]) tensor([-1]) tensor([0.1000, 3.0000], dtype=torch.float64) torch.float16 torch.Size([0, 7]) tensor(9, dtype=torch.uint8) häkchen ✓ ['öne']\n"
	if err != nil || string(out) != want {
		t.Fatalf("PyTorch says %s, want %s (%v)", out, want, err)
	}
	if got := shown(t, file, "images"); got != "float32[1 3] [1 -2 0.5]" {
		t.Error(got)
	}
	if got := shown(t, file, "classes"); got != `[1] ["öne"]` {
		t.Error(got)
	}
}

// archived returns a file like PyTorch's, with a pickle and a storage.
func archived(pickle string, names ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, body := range map[string]string{"set/data.pkl": pickle, "set/data/0": "12345678", "set/version": "3\n"} {
		w, _ := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		w.Write([]byte(body))
	}
	for _, name := range names {
		w, _ := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		w.Write([]byte("x"))
	}
	z.Close()
	return b.Bytes()
}

// tensorOf returns the pickle of a float32 tensor. It claims count values for the storage, which has
// 8 bytes.
func tensorOf(count string, shape, stride string) string {
	return "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu" +
		count + "tQK\x00" + shape + stride + "\x89ccollections\nOrderedDict\n)RtR."
}

const million = 1_000_000

// hostileFiles are files that try to run code or to take memory.
var hostileFiles = []struct {
	name string
	file func() []byte
	want string
}{
	{"a call of the system", func() []byte { return archived("\x80\x02cposix\nsystem\nX\x02\x00\x00\x00ls\x85R.") }, `the pickle asks for "posix.system"`},
	{"another call", func() []byte { return archived("\x80\x02cbuiltins\neval\nX\x02\x00\x00\x00ls\x85R.") }, `the pickle asks for "builtins.eval"`},
	{"an old class", func() []byte { return archived("\x80\x02(iposix\nsystem\n.") }, "the instruction 0x69"},
	{"an object", func() []byte { return archived("\x80\x02ctorch\nFloatStorage\n)\x81.") }, "the instruction 0x81"},
	{"a class that is called", func() []byte { return archived("\x80\x02ctorch\nFloatStorage\n)R.") }, "calls torch.FloatStorage, which is not an allowed function"},
	{"a later protocol", func() []byte { return archived("\x80\x04\x95.") }, "protocol 4"},
	{"a storage twice", func() []byte { return archived("\x80\x02}.", "set/data/0") }, `"set/data/0" appears twice`},
	{"10^12 elements, strides 0", func() []byte {
		return archived(tensorOf("K\x02", "J\x40\x42\x0f\x00J\x40\x42\x0f\x00\x86", "K\x00K\x00\x86"))
	}, "bytes may unpack to"},
	{"10^12 elements of storage", func() []byte {
		return archived(tensorOf("\x8a\x06\x00\x10\xa5\xd4\xe8\x00", "\x8a\x06\x00\x10\xa5\xd4\xe8\x00\x85", "K\x01\x85"))
	}, "bytes may unpack to"},
	{"a storage that is shorter", func() []byte { return archived(tensorOf("J\x40\x42\x0f\x00", "J\x40\x42\x0f\x00\x85", "K\x01\x85")) }, "beyond its storage"},
	{"a view past the end", func() []byte { return archived(tensorOf("K\x02", "K\x02\x85", "K\x02\x85")) }, "beyond its storage"},
	{"a view far apart", func() []byte {
		return archived(tensorOf("K\x02", "K\x02\x85", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85"))
	}, "beyond its storage"},
	{"a negative size", func() []byte { return archived(tensorOf("K\x02", "J\xff\xff\xff\xff\x85", "K\x01\x85")) }, "an invalid tensor"},
	{"lists in lists", func() []byte {
		return archived("\x80\x02" + strings.Repeat("]", million/2) + strings.Repeat("a", million/2-1) + ".")
	}, "nested too deep"},
	{"tuples in tuples", func() []byte { return archived("\x80\x02)" + strings.Repeat("\x85", million) + ".") }, "nested too deep"},
	{"a pickle of 2 MB", func() []byte { return archived("\x80\x02" + strings.Repeat("(", 2*million) + ".") }, "at most 1048576 are read"},
	{"a dictionary in itself", func() []byte { return archived("\x80\x02}q\x00" + pickledText("") + "h\x00s.") }, "nested too deep"},
	{"no tensor", func() []byte { return archived(tensorOf("K\x02", "K\x02\x85", "K\x02")) }, "makes no sense"},
	{"a list of itself", func() []byte { return archived("\x80\x02]q\x00h\x00a.") }, "nested too deep"},
	{"lists that double", func() []byte {
		return archived("\x80\x02]q\x00K\x01aNa" + strings.Repeat("]q\x01(h\x00h\x00eq\x00", 40) + ".")
	}, "nested too deep"},
	{"a long name in each other", func() []byte {
		return archived("\x80\x02}" + pickledText(strings.Repeat("k", million)) + "q\x00" + strings.Repeat("}h\x00", 60) + "N" + strings.Repeat("s", 61) + ".")
	}, "too long names"},
	{"a long text among others", func() []byte {
		return archived("\x80\x02](" + pickledText(strings.Repeat("k", million/2)) + strings.Repeat(pickledText(""), 700) + "e.")
	}, "at most 1048576 values"},
	{"half a pickle", func() []byte { return archived("\x80\x02}(X\xff\xff\xff\x7fab") }, "ends early"},
	{"an empty stack", func() []byte { return archived("\x80\x02a.") }, "makes no sense"},
	{"an NPZ of 10^12 elements", func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.Create("images.npy")
		head := "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000)}"
		w.Write([]byte("\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head))
		z.Close()
		return b.Bytes()
	}, "at most"},
	{"the old form of PyTorch", func() []byte { return []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.") }, "from before PyTorch 1.6"},
	{"a pickle of Python", func() []byte { return []byte("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}.") }, "it is a Python pickle"},
}

// A hostile file is refused with a message, before it takes memory.
func TestHostileFiles(t *testing.T) {
	for _, c := range hostileFiles {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "set")
			if err := os.WriteFile(file, c.file(), 0o666); err != nil {
				t.Fatal(err)
			}
			watched(t, func() {
				if err := readAll(file); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), file) {
					t.Errorf("got %.200v, want %q", err, c.want)
				}
			})
		})
	}
}

// readAll reads every array of a file.
func readAll(file string) error {
	s, err := Open(file)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, name := range s.Names() {
		if _, err := s.Read(name, 50000*3072); err != nil {
			return err
		}
	}
	return nil
}

// watched reports an error if do allocates more memory than reading a file may.
func watched(t *testing.T, do func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100e6 {
		t.Errorf("%d MB were allocated", used/1e6)
	}
}

// fuzzed reads the arrays of a file.
func fuzzed(t *testing.T, b []byte) {
	t.Helper()
	watched(t, func() {
		s, err := New("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, name := range s.Names()[:min(len(s.Names()), 100)] {
			a, err := s.Read(name, 10000)
			if err != nil {
				continue
			}
			if _, ok := Count(a.Shape, 10000); !ok {
				t.Errorf("%s: %v has more values than were asked for", name, a)
			}
			if len(a.Shape) <= 8 { // as NPY files have
				sound(t, a)
			}
		}
	})
}

func FuzzFile(f *testing.F) {
	npz, err := Encode(numpyArrays())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(npz)
	f.Add(zipped(f, "x.npy", npyOf("{'shape': (2, 1), 'descr': '>i4', 'fortran_order': True}", 1, 2, 3, 4, 5, 6, 7, 8)))
	for _, name := range []string{"dc.pt", "bare.pt", "kinds.pt"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, c := range hostileFiles {
		if b := c.file(); len(b) < 1000 {
			f.Add(b)
		}
	}
	f.Fuzz(fuzzed)
}

// FuzzPickle adds the archive around a pickle, because a fuzzer cannot guess its checksum.
func FuzzPickle(f *testing.F) {
	for _, name := range []string{"dc", "bare", "kinds"} {
		z, err := zip.OpenReader("testdata/" + name + ".pt")
		if err != nil {
			f.Fatal(err)
		}
		defer z.Close()
		t := &torchFile{root: name, size: 1 << 20, entries: map[string]*zip.File{}}
		for _, e := range z.File {
			t.entries[e.Name] = e
		}
		b, err := t.entry(pickleName)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzed(t, archived(string(b)))
	})
}
