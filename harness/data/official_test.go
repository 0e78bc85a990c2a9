package data

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/rng"
)

// somePixels are n bytes that differ by name.
func somePixels(name string, n int) []byte {
	r, b := rng.Stream(1, "pixels", name), make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return b
}

var parcel = []download{{name: "parcel", sha: "abc", size: 7, urls: []string{"http://far/parcel", "http://near/parcel"}}}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// fakeMNIST returns a published dataset with the loader of MNIST and its files,
// unpacked.
func fakeMNIST(t *testing.T, name string) (*source, map[string][]byte) {
	t.Helper()
	labels, testLabels := []byte{2, 0, 1, 1, 0, 2, 0, 1}, []byte{1, 0, 2, 1}
	files := map[string][]byte{
		mnistFiles[0]: idx(somePixels(name+" train", 8*6), 8, 3, 2), mnistFiles[1]: idx(labels, 8),
		mnistFiles[2]: idx(somePixels(name+" test", 4*6), 4, 3, 2), mnistFiles[3]: idx(testLabels, 4),
	}
	s := &source{
		Info: Info{Name: name, Classes: []string{"zero", "one", "two"}, Shape: Shape{3, 2, 1}}, standIn: "symbols",
		folders: []string{name, ""}, load: loadMNIST, files: map[string]string{}, byClass: map[int]string{}, downloads: parcel,
	}
	for file, b := range files {
		s.files[file] = sumOf(b)
	}
	s.vouch(t, files)
	return s, files
}

// vouch fills in the checksums of the classes.
func (s *source) vouch(t *testing.T, files map[string][]byte) {
	t.Helper()
	set, err := s.find(context.Background(), put(t, files), nil)
	if err != nil || !set.Verified {
		t.Fatalf("%+v %v", set, err)
	}
	for l := range s.Classes {
		s.byClass[l] = set.classSum(l)
	}
}

// cutIDX keeps the images of some classes.
func cutIDX(files map[string][]byte, dim int, classes ...byte) map[string][]byte {
	out := map[string][]byte{}
	for k := 0; k < 4; k += 2 {
		images, labels := files[mnistFiles[k]], files[mnistFiles[k+1]][8:]
		var x, y []byte
		for i, l := range labels {
			if slices.Contains(classes, l) {
				x, y = append(x, images[16+i*dim:16+(i+1)*dim]...), append(y, l)
			}
		}
		out[mnistFiles[k]] = slices.Concat(idx(nil, len(y)), images[8:16], x)
		out[mnistFiles[k]][3] = 3
		out[mnistFiles[k+1]] = idx(y, len(y))
	}
	return out
}

// TestPackaging loads a dataset in all forms of packaging, whole and with two classes only.
func TestPackaging(t *testing.T) {
	s, files := fakeMNIST(t, "fake")
	gz, flat, dotted := map[string][]byte{}, map[string][]byte{}, map[string][]byte{}
	for name, b := range files {
		gz["fake/"+name+".gz"] = packed(b)
		flat[name] = b
		dotted[strings.Replace(name, "-idx", ".idx", 1)] = b
	}
	want, err := s.find(context.Background(), put(t, files), []int{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(want.Train.Labels, []int{1, 0, 0, 1, 1, 0}) {
		t.Errorf("labels %v", want.Train.Labels)
	}
	for name, files := range map[string]map[string][]byte{"gz": gz, "flat": flat, "dotted": dotted, "cut": cutIDX(files, 6, 0, 1)} {
		got, err := s.find(context.Background(), put(t, files), []int{1, 0})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Digest != want.Digest || !got.Verified || len(got.Files) != 4 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	_, err = s.find(context.Background(), put(t, cutIDX(files, 6, 0, 1)), []int{0, 2})
	if !errors.Is(err, ErrClass) || !strings.Contains(err.Error(), "0 (zero), 1 (one)") {
		t.Errorf("a class that was cut away: %v", err)
	}
}

func TestPublishedErrors(t *testing.T) {
	s, files := fakeMNIST(t, "fake")
	other, otherFiles := fakeMNIST(t, "other")
	was := sources
	sources = []source{*s, *other}
	defer func() { sources = was }()
	images, labels := files[mnistFiles[0]], files[mnistFiles[1]]
	for _, c := range []struct {
		name   string
		change map[string][]byte
		want   error
		text   string
	}{
		{"changed pixel", map[string][]byte{mnistFiles[0]: edit(images, 20, images[20]+1)}, ErrChecksum, "of class 2 (two) are not the published ones\nhint: describe changed files"},
		{"other dataset", otherFiles, ErrChecksum, "they belong to other: put the files into a folder other"},
		{"truncated", map[string][]byte{mnistFiles[0]: images[:40]}, ErrTruncated, "24 bytes instead of 48\nhint: replace the file"},
		{"too long", map[string][]byte{mnistFiles[2]: append(slices.Clone(files[mnistFiles[2]]), 0)}, ErrOversized, mnistFiles[2]},
		{"label", map[string][]byte{mnistFiles[1]: edit(labels, 10, 3)}, ErrLabel, "image 2 has label 3; labels are 0 to 2"},
		{"count", map[string][]byte{mnistFiles[1]: idx([]byte{0, 1}, 2)}, ErrCount, "2 labels for the 8 images of"},
		{"size", map[string][]byte{mnistFiles[0]: idx(images[16:], 8, 2, 3)}, ErrShape, "2x3x1, expected 3x2x1"},
		{"swapped", map[string][]byte{mnistFiles[0]: labels, mnistFiles[1]: images}, ErrMagic, "images have 3, and labels 1"},
		{"no idx", map[string][]byte{mnistFiles[1]: []byte("<!DOCTYPE html>")}, ErrMagic, " from http://far/ or http://near/ into DIR/fake, and pass -data DIR"},
	} {
		f := maps.Clone(files)
		maps.Copy(f, c.change)
		_, err := s.find(context.Background(), put(t, f), []int{2, 0})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s:\ngot  %v\nwant %v with %q", c.name, err, c.want, c.text)
		}
	}
	changed := put(t, map[string][]byte{
		mnistFiles[0]: edit(images, 20, images[20]+1), mnistFiles[1]: labels,
		mnistFiles[2]: files[mnistFiles[2]], mnistFiles[3]: files[mnistFiles[3]],
	})
	delete(s.byClass, 0) // class 2 still has a checksum
	if _, err := s.find(context.Background(), changed, []int{0, 2}); !errors.Is(err, ErrChecksum) {
		t.Error(err)
	}
	// Without checksums of its classes, a changed set is accepted as not verified.
	s.byClass = nil
	set, err := s.find(context.Background(), changed, nil)
	if err != nil || set.Verified {
		t.Errorf("%v %v", set, err)
	}
}

// fakeCIFAR is a dataset with the loader of CIFAR-10 and its files, unpacked.
func fakeCIFAR(t *testing.T) (*source, map[string][]byte) {
	t.Helper()
	s := &source{
		Info:    Info{Name: "fake", Classes: []string{"a", "b", "c"}, Shape: Shape{32, 32, 3}},
		folders: []string{"fake", ""}, load: cifar10Form.load, files: map[string]string{}, byClass: map[int]string{}, downloads: parcel,
	}
	files := map[string][]byte{}
	for i, name := range cifarFiles {
		for k := range 6 {
			files[name] = append(files[name], byte((i+k)%3))
			files[name] = append(files[name], somePixels(name+string(rune('0'+k)), 3072)...)
		}
		s.files[name] = sumOf(files[name])
	}
	s.vouch(t, files)
	return s, files
}

// cutCIFAR keeps the records of some classes.
func cutCIFAR(files map[string][]byte, classes ...byte) map[string][]byte {
	out := map[string][]byte{}
	for name, b := range files {
		for ; len(b) > 0; b = b[cifarRecord:] {
			if slices.Contains(classes, b[0]) {
				out[name] = append(out[name], b[:cifarRecord]...)
			}
		}
	}
	return out
}

// tarOf packs files into an archive, in the order of the names given.
func tarOf(files map[string][]byte, names ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		w.WriteHeader(&tar.Header{Name: "cifar-10-batches-bin/" + name, Size: int64(len(files[name])), Mode: 0o644})
		w.Write(files[name])
	}
	w.Close()
	return b.Bytes()
}

func TestPackagingCIFAR(t *testing.T) {
	s, files := fakeCIFAR(t)
	want, err := s.find(context.Background(), put(t, files), []int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	if want.Train.Len() != 20 || want.Test.Len() != 4 || want.Train.Labels[0] != 1 || want.Train.Labels[1] != 0 {
		t.Errorf("%v %v", want.Train.Labels, want.Test.Labels)
	}
	cut, gz, folder := cutCIFAR(files, 0, 2), map[string][]byte{}, map[string][]byte{}
	for name, b := range files {
		gz[name+".gz"] = packed(cut[name])
		folder["fake/"+name] = b
	}
	order := slices.Clone(cifarFiles)
	slices.Reverse(order)
	files["readme.html"] = []byte("<html>")
	for name, files := range map[string]map[string][]byte{
		"folder": folder, "cut": cut, "cut and packed": gz,
		"archive": {"fake/" + cifarArchive: packed(tarOf(files, append(order, "readme.html")...))},
	} {
		got, err := s.find(context.Background(), put(t, files), []int{2, 0})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Digest != want.Digest || !got.Verified {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	_, err = s.find(context.Background(), put(t, gz), []int{0, 1})
	if !errors.Is(err, ErrClass) || !strings.Contains(err.Error(), "with images: 0 (a), 2 (c)") {
		t.Errorf("a class that was cut away: %v", err)
	}
}

func TestArchiveErrors(t *testing.T) {
	s, files := fakeCIFAR(t)
	names := cifarFiles
	good := tarOf(files, names...)
	for _, c := range []struct {
		name    string
		archive []byte
		want    error
		text    string
	}{
		{"a batch missing", packed(tarOf(files, names[:5]...)), ErrTruncated, "it has no test_batch.bin"},
		{"a batch twice", packed(tarOf(files, append([]string{names[0]}, names...)...)), ErrCorrupt, "data_batch_1.bin appears twice"},
		{"half", packed(good)[:30000], ErrTruncated, cifarArchive},
		{"half inside", packed(good[:30000]), ErrTruncated, cifarArchive},
		{"no tar", packed([]byte(strings.Repeat("no tar", 1000))), ErrCorrupt, "invalid tar header"},
		{"checksum", edit(packed(good), len(packed(good))-6, 1), ErrCorrupt, "invalid checksum"},
		{"a label", packed(tarOf(map[string][]byte{"data_batch_2.bin": record(9, 0)}, "data_batch_2.bin")), ErrLabel, "data_batch_2.bin: label out of range"},
	} {
		_, err := s.find(context.Background(), put(t, map[string][]byte{cifarArchive: c.archive}), nil)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s:\ngot  %v\nwant %v with %q", c.name, err, c.want, c.text)
		}
	}
}

// TestOpen searches for a dataset, fails without a network, downloads it, and finds it in the cache.
func TestOpen(t *testing.T) {
	s, files := fakeMNIST(t, "fake")
	online, requests := false, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		b := files[strings.TrimSuffix(path.Base(r.URL.Path), ".gz")]
		if !online || strings.HasPrefix(r.URL.Path, "/gone/") || b == nil {
			http.NotFound(w, r)
			return
		}
		w.Write(packed(b))
	}))
	defer server.Close()
	s.downloads = nil
	for _, name := range mnistFiles {
		d := described(packed(files[name]), server.URL+"/gone/"+name+".gz", server.URL+"/"+name+".gz")
		d.name = name + ".gz"
		s.downloads = append(s.downloads, d)
	}
	first, second, cache := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("DGKIP_DATA", second)
	o := &Options{Dir: first, CacheDir: cache, Offline: true}
	ctx := context.Background()

	_, err := s.open(ctx, nil, o)
	for _, text := range []string{
		"files not found: searched " + first + " (-data), " + second + " (DGKIP_DATA), " + cache + " (cache), and in each fake; downloading is switched off",
		"hint: download train-images-idx3-ubyte.gz, ",
		" from " + server.URL + "/gone/ or " + server.URL + "/ into DIR/fake, and pass -data DIR",
		`or use "symbols", a built-in dataset`,
	} {
		if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), text) {
			t.Errorf("offline: %q is not in\n%v", text, err)
		}
	}
	if requests > 0 {
		t.Error("a request was made while offline")
	}

	o.Offline = false
	if _, err = s.open(ctx, []int{0, 7}, o); !errors.Is(err, ErrClass) || requests > 0 {
		t.Errorf("a bad class: %v after %d requests", err, requests)
	}
	_, err = s.open(ctx, nil, o)
	if !errors.Is(err, ErrFetch) || !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "404 Not Found") || !strings.Contains(err.Error(), "symbols") {
		t.Errorf("no server: %v", err)
	}

	online = true
	seen := map[string]int64{}
	o.Progress = func(file string, done, total int64) { seen[file] = total - done }
	set, err := s.open(ctx, nil, o)
	if err != nil || !set.Verified || len(seen) != 4 || seen["t10k-labels-idx1-ubyte.gz"] != 0 {
		t.Fatalf("%+v %v %v", set, err, seen)
	}

	requests = 0
	o.Offline = true
	again, err := s.open(ctx, nil, o)
	if err != nil || again.Digest != set.Digest || requests > 0 {
		t.Errorf("from the cache: %v after %d requests", err, requests)
	}

	// The directories are searched in order. A damaged file is an error, and ends the search.
	os.WriteFile(filepath.Join(second, mnistFiles[0]), []byte{0, 0}, 0o666)
	if _, err := s.open(ctx, nil, o); err != nil {
		t.Errorf("with a part of the files in %s: %v", second, err)
	}
	for _, name := range mnistFiles[1:] {
		os.WriteFile(filepath.Join(second, name), files[name], 0o666)
	}
	if _, err := s.open(ctx, nil, o); !errors.Is(err, ErrTruncated) || !strings.Contains(err.Error(), second) {
		t.Errorf("with a damaged file in %s: %v", second, err)
	}
	for name, b := range files {
		os.WriteFile(filepath.Join(first, name), b, 0o666)
	}
	if got, err := s.open(ctx, nil, o); err != nil || filepath.Dir(got.Files[0]) != first {
		t.Errorf("with the files in %s: %v", first, err)
	}

	// Only what is missing is downloaded.
	t.Setenv("DGKIP_DATA", "")
	os.Remove(filepath.Join(cache, "fake", mnistFiles[1]+".gz"))
	requests = 0
	if _, err := s.open(ctx, nil, &Options{CacheDir: cache}); err != nil || requests != 2 {
		t.Errorf("%d requests, %v", requests, err)
	}

	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.open(stopped, nil, o); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

func TestNames(t *testing.T) {
	want := []string{"mnist", "fashion-mnist", "cifar-10", "symbols", "colour-symbols"}
	if !slices.Equal(Names(), want) {
		t.Errorf("%v", Names())
	}
	for i, name := range want {
		info, err := Describe(name)
		if err != nil || info.Name != name || info.BuiltIn != (i >= 3) || info.Text == "" || info.Title == "" {
			t.Errorf("%+v %v", info, err)
		}
	}
	for _, s := range sources {
		if stand, err := Describe(s.standIn); err != nil || !stand.BuiltIn {
			t.Errorf("%s: %v", s.Name, err)
		}
		for _, d := range s.downloads {
			if len(d.sha) != 64 || d.size == 0 || len(d.urls) < 2 {
				t.Errorf("%+v", d)
			}
		}
	}
	_, err := Describe("minst")
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "hint: known are mnist, ") {
		t.Errorf("%v", err)
	}
	_, err = Load(context.Background(), "minst", nil, Options{})
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "[data.minst]") {
		t.Errorf("%v", err)
	}
}
