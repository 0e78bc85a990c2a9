package sets

import (
	"archive/zip"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// npyOf returns an NPY file, version 1.0.
func npyOf(header string, values ...byte) []byte {
	b := append([]byte(magic+"\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return slices.Concat(b, []byte(header), values)
}

func edit(b []byte, at int, v byte) []byte {
	b = slices.Clone(b)
	b[at] = v
	return b
}

// zipped packs NPY files, compressed.
func zipped(t testing.TB, files ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i].(string))
		if err == nil {
			_, err = w.Write(files[i+1].([]byte))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func opened(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := New("set.npz", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func numpyArrays() []Array {
	return []Array{
		Of("f4", []int{2, 3}, []float32{1, -2, 0.5, 3, float32(math.Inf(1)), 0}),
		Of("f8", []int{1}, []float64{math.Pi}),
		Of("i8", []int{0, 7}, []int64{}),
		Of("u1", []int{4}, []uint8{0, 1, 254, 255}),
		Of("b1", nil, []bool{true}),
		half("f2", []int{2}, []float32{0.1, 65519}),
		Text("text", "öne\ntwo"),
		Text("empty", ""),
	}
}

func TestRoundTrip(t *testing.T) {
	b, err := Encode(numpyArrays())
	if err != nil {
		t.Fatal(err)
	}
	z := opened(t, b)
	for _, want := range numpyArrays() {
		got, err := z.Read(want.Name, 100)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: %v %v, want %v", want.Name, got, err, want)
		}
	}
	a, _ := z.Read("f4", 6)
	if x, ok := values[float32](a); !ok || !slices.Equal(x, []float32{1, -2, 0.5, 3, float32(math.Inf(1)), 0}) || a.String() != "float32[2 3]" {
		t.Errorf("%v %v", a, x)
	}
	a, _ = z.Read("text", 7)
	if s, ok := a.Texts(); !ok || !slices.Equal(s, []string{"öne\ntwo"}) {
		t.Errorf("%q", s)
	}
	if _, ok := a.Float64s(); ok {
		t.Error("a text as numbers")
	}
	if _, ok := (Array{}).Float64s(); ok {
		t.Error("nothing as numbers")
	}
}

// TestGolden freezes the bytes of a file and its digest, which records hold.
func TestGolden(t *testing.T) {
	b, err := Encode([]Array{Text("b", ""), Of("a", []int{3}, []uint8{1, 2, 3})})
	if err != nil {
		t.Fatal(err)
	}
	const head = "504b03040000000000000000" // stored, and no time
	if got := hex.EncodeToString(b[:12]); got != head {
		t.Errorf("the file starts with %s", got)
	}
	digest := func(b []byte) string {
		arrays, err := Unpack("set.npz", b)
		if err != nil {
			t.Fatal(err)
		}
		return Digest(arrays, "b")
	}
	if got := digest(b); got[:15] != "sha256:dfb70c01" {
		t.Errorf("digest %s", got)
	}
	repacked := zipped(t, "b.npy", npy(Text("b", "other")), "a.npy", npy(Of("a", []int{3}, []uint8{1, 2, 3})))
	if digest(repacked) != digest(b) {
		t.Error("packed differently: another digest")
	}
}

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		descr, shape string
		data         []byte
		want         []float64
	}{
		{"|u1", "(2L,)", []byte{7, 255}, []float64{7, 255}},
		{"|i1", "(2,)", []byte{7, 255}, []float64{7, -1}},
		{"|b1", "(2,)", []byte{0, 1}, []float64{0, 1}},
		{"<i2", "(2,)", []byte{1, 2, 254, 255}, []float64{513, -2}},
		{">u2", "(2,)", []byte{1, 2, 254, 255}, []float64{258, 65279}},
		{"<i8", "()", []byte{3, 0, 0, 0, 0, 0, 0, 0x80}, []float64{3 - 0x1p63}},
		{">u8", "()", []byte{0, 0, 0, 0, 0, 0, 0, 3}, []float64{3}},
		{"<u4", "()", []byte{0, 0, 0, 1}, []float64{1 << 24}},
		{">i4", "()", []byte{255, 255, 255, 254}, []float64{-2}},
		{">f4", "()", []byte{0x3f, 0x80, 0, 0}, []float64{1}},
		{"=f8", "()", []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, []float64{1}},
		{"<f2", "(2,)", []byte{0, 0x3c, 0, 0xc0}, []float64{1, -2}},
	} {
		b := npyOf("{'descr': '"+c.descr+"', 'fortran_order': True, 'shape': "+c.shape+"}", c.data...)
		a, err := parseNPY(b)
		if got, _ := a.Float64s(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v %v, want %v", c.descr, got, err, c.want)
		}
	}
	b := npyOf("{'shape': (2,), 'descr': '>U2', 'fortran_order': False}\n", 0, 0, 0, 'a', 0, 0, 0, 'b', 0, 1, 0xf6, 0, 0, 0, 0, 0)
	a, err := parseNPY(b)
	if s, ok := a.Texts(); err != nil || !ok || !slices.Equal(s, []string{"ab", "\U0001f600"}) {
		t.Errorf("%q %v", s, err)
	}
	// Columns of [2, 3, 2] come out as rows, of values of any width.
	b = npyOf("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3, 2)}", 0, 0, 100, 0, 10, 0, 110, 0, 20, 0, 120, 0, 1, 0, 101, 0, 11, 0, 111, 0, 21, 0, 121, 0)
	a, err = parseNPY(b)
	if x, _ := a.Float64s(); err != nil || !slices.Equal(x, []float64{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}) {
		t.Errorf("%v %v", x, err)
	}
}

func TestBadNPY(t *testing.T) {
	const head = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }      \n"
	file := npyOf(head, 1, 2, 3, 4, 5, 6)
	if a, err := parseNPY(file); err != nil || a.String() != "uint8[2 3]" {
		t.Fatalf("%+v %v", a, err)
	}
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, ErrTruncated},
		{"half a header", file[:30], ErrTruncated},
		{"a value too few", file[:len(file)-1], ErrTruncated},
		{"a byte too many", append(slices.Clone(file), 0), ErrOversized},
		{"another magic number", edit(file, 1, 'X'), ErrMagic},
		{"another version", edit(file, 6, 9), ErrFormat},
		{"a huge header", []byte(magic + "\x02\x00\xff\xff\xff\xff{}"), ErrTruncated},
		{"no dictionary", npyOf("[1, 2]"), ErrCorrupt},
		{"no shape", npyOf("{'descr': '|u1', 'fortran_order': False}"), ErrCorrupt},
		{"a key twice", npyOf("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': ()}"), ErrCorrupt},
		{"another key", npyOf("{'descr': '|u1', 'fortran_order': False, 'order': 1, 'shape': ()}"), ErrCorrupt},
		{"negative shape", npyOf("{'descr': '|u1', 'fortran_order': False, 'shape': (-2,)}"), ErrCorrupt},
		{"records", npyOf("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,)}"), ErrCorrupt},
		{"objects", npyOf("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}"), ErrFormat},
		{"strange type", npyOf("{'descr': '|z1', 'fortran_order': False, 'shape': (2,)}"), ErrFormat},
		{"complex numbers", npyOf("{'descr': '<c16', 'fortran_order': False, 'shape': (2,)}"), ErrFormat},
		{"huge shape", npyOf("{'descr': '<u8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"), ErrOversized},
		{"overflowing shape", npyOf("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 99999999999999999999)}"), ErrCorrupt},
		{"many texts of nothing", npyOf("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000,)}"), ErrFormat},
		{"many dimensions", npyOf("{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 1), ErrCorrupt},
	} {
		if _, err := parseNPY(c.file); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	one := npy(Of("x", []int{2}, []uint8{1, 2}))
	stored, err := Encode([]Array{Of("x", []int{2}, []uint8{1, 2})})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		file []byte
		want error
		text string
	}{
		{"no archive", []byte("rubbish"), ErrMagic, "set.npz: not a file of this kind: it is neither an NPZ nor a PyTorch file"},
		{"cut", stored[:60], ErrMagic, "or its end is missing"},
		{"twice", zipped(t, "x.npy", one, "x.npy", one), ErrCorrupt, `the array "x" appears twice`},
		{"another array", zipped(t, "y.npy", one, "notes.txt", []byte("x")), ErrFormat, `there is no array "x", only y`},
		{"changed", edit(stored, 163, 9), ErrCorrupt, `set.npz: array "x": damaged file`},
		{"no array", zipped(t, "x.npy", []byte("PK")), ErrTruncated, `set.npz: array "x": file ends early`},
	} {
		z, err := New("set.npz", bytes.NewReader(c.file), int64(len(c.file)))
		if err == nil {
			_, err = z.Read("x", 100)
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want %v with %q", c.name, err, c.want, c.text)
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "a folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.npz")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestBombs reads small files that claim large arrays. None may take much memory.
func TestBombs(t *testing.T) {
	zeros := func(header string, n int) []byte { return append(npyOf(header), make([]byte, n)...) }
	lying, err := Encode([]Array{Of("x", []int{2}, []uint8{1, 2})})
	if err != nil {
		t.Fatal(err)
	}
	directory := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	for k := range 3 {
		lying[directory+24+k], lying[directory+20+k] = 0xff, 0xff
	}
	for name, b := range map[string][]byte{
		"200 MB of zeros":         zipped(t, "x.npy", zeros("{'descr': '<f8', 'fortran_order': False, 'shape': (25000, 1000)}", 200_000_000)),
		"a shape of 10^12 values": zipped(t, "x.npy", zeros("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}", 8)),
		"a directory that lies":   lying,
	} {
		for _, most := range []int{1000, math.MaxInt} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			z := opened(t, b)
			_, err := z.Read("x", most)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), `array "x"`) {
				t.Errorf("%s: %v", name, err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
				t.Errorf("%s, %d bytes: %d bytes were allocated", name, len(b), used)
			}
		}
	}
}

func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		v := fromHalf(uint16(h))
		if math.IsNaN(v) {
			continue
		}
		if got := toHalf(float32(v)); got != uint16(h) {
			t.Fatalf("%#04x is %v, which becomes %#04x", h, v, got)
		}
	}
	for x, want := range map[float32]float64{1 + 0x1p-11: 1, 1 + 3*0x1p-11: 1 + 0x1p-9, 65519: 65504, 65520: math.Inf(1), 0x1p-25: 0} {
		if got := fromHalf(toHalf(x)); got != want {
			t.Errorf("%v becomes %v, want %v", x, got, want)
		}
	}
}

func FuzzNPY(f *testing.F) {
	for _, a := range numpyArrays() {
		f.Add(npy(a))
	}
	f.Add([]byte(magic + "\x02\x00\x10\x00\x00\x00{'descr': '|u1'}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseNPY(b)
		if err != nil {
			for _, known := range []error{ErrMagic, ErrCorrupt, ErrTruncated, ErrOversized, ErrFormat} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("unexpected error %v", err)
		}
		sound(t, a)
	})
}

// sound checks that an array that was read is complete, and is the same after writing and reading.
func sound(t *testing.T, a Array) {
	t.Helper()
	n, _ := Count(a.Shape, math.MaxInt)
	x, isNumbers := a.Float64s()
	s, isTexts := a.Texts()
	if isNumbers == isTexts || isNumbers && len(x) != n || isTexts && len(s) != n {
		t.Fatalf("%v with %d numbers and %d texts", a, len(x), len(s))
	}
	b := npy(a)
	again, err := parseNPY(b)
	if err != nil || !slices.Equal(again.Shape, a.Shape) || again.Type != a.Type || !bytes.Equal(again.Data, a.Data) {
		t.Fatalf("%v was written and came back as %v, %v", a, again, err)
	}
}

// TestCommitted reads the sets of committed records and writes them again.
func TestCommitted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "results", "runs", "*", "*", "distilled.npz"))
	if err != nil || len(files) == 0 {
		t.Skip("SKIPPED: no records here")
	}
	for _, file := range files[:min(len(files), 20)] {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		z := opened(t, want)
		var arrays []Array
		for _, name := range z.Names() {
			a, err := z.Read(name, 1<<24)
			if err != nil {
				t.Fatal(err)
			}
			arrays = append(arrays, a)
		}
		if got, err := Encode(arrays); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: written again, its bytes differ (%v)", file, err)
		}
	}
}
