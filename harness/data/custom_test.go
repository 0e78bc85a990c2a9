package data

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/method"
)

// archive returns an npz file.
func archive(arrays map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		w, _ := z.Create(name + ".npy")
		w.Write(arrays[name])
	}
	z.Close()
	return b.Bytes()
}

// bytesNPY is an array of bytes.
func bytesNPY(values []byte, shape ...int) []byte {
	s := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	return npy("{'descr': '|u1', 'fortran_order': False, 'shape': ("+s+",)}", values)
}

// put writes files into a new directory.
func put(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// oneColour returns an encoded image.
func oneColour(format string, w, h int, c color.Color) []byte {
	var m interface {
		image.Image
		Set(x, y int, c color.Color)
	} = image.NewRGBA(image.Rect(0, 0, w, h))
	if _, ok := c.(color.Gray); ok {
		m = image.NewGray(image.Rect(0, 0, w, h))
	}
	if _, ok := c.(color.NRGBA); ok {
		m = image.NewNRGBA(image.Rect(0, 0, w, h))
	}
	for y := range h {
		for x := range w {
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if format == "png" {
		png.Encode(&b, m)
	} else {
		jpeg.Encode(&b, m, &jpeg.Options{Quality: 100})
	}
	return b.Bytes()
}

// TestCustom loads the same four training and two test images from all formats. Their digests
// must agree.
func TestCustom(t *testing.T) {
	train, trainLabels := []byte{10, 11, 20, 21, 30, 31, 40, 41}, []byte{0, 0, 1, 1}
	test, testLabels := []byte{50, 51, 60, 61}, []byte{0, 1}
	shade := func(b []byte) []byte { // a 1x2 image
		m := image.NewGray(image.Rect(0, 0, 2, 1))
		copy(m.Pix, b)
		var out bytes.Buffer
		png.Encode(&out, m)
		return out.Bytes()
	}
	dir := put(t, map[string][]byte{
		"train.npz": archive(map[string][]byte{"x": bytesNPY(train, 4, 1, 2), "y": bytesNPY(trainLabels, 4, 1)}),
		"test.npz":  archive(map[string][]byte{"x": bytesNPY(test, 2, 1, 2, 1), "y": bytesNPY(testLabels, 2)}),
		"all.npz": archive(map[string][]byte{
			"train_images": bytesNPY(train, 4, 1, 2), "train_labels": bytesNPY(trainLabels, 4),
			"test_images": bytesNPY(test, 2, 1, 2), "test_labels": bytesNPY(testLabels, 2),
		}),
		"named.npz": archive(map[string][]byte{
			"p": bytesNPY(train, 4, 1, 2), "q": bytesNPY(trainLabels, 4),
			"r": bytesNPY(test, 2, 1, 2), "s": bytesNPY(testLabels, 2),
		}),
		"a/zero/1.png": shade(train[:2]), "a/zero/2.PNG": shade(train[2:4]), "a/zero/notes.txt": nil,
		"a/one/1.png": shade(train[4:6]), "a/one/2.png": shade(train[6:]), "a/.cache/x.png": nil,
		"b/zero/1.png": shade(test[:2]), "b/one/1.png": shade(test[2:]),
	})
	names := []string{"zero", "one"}
	var first *Set
	for _, c := range []Config{
		{Format: "npz", Train: "train.npz", Test: "test.npz", Names: names, Channels: 1, Size: []int{1, 2}},
		{Format: "npz", Train: "all.npz", Names: names},
		{Format: "npz", Train: "named.npz", TrainArrays: []string{"p", "q"}, TestArrays: []string{"r", "s"}, Names: names},
		{Format: "folder", Train: "a", Test: "b", Names: names},
	} {
		s, err := c.Load(context.Background(), "mine", dir)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if first == nil {
			first = s
		}
		if s.Digest != first.Digest || s.BuiltIn || s.Verified || !slices.Equal(s.Classes, names) {
			t.Errorf("%v: %+v differs from %+v", c, s, first)
		}
	}
	// Without names the folders are taken by name, and classes choose among them.
	c := Config{Format: "folder", Train: "a", Test: "b", Classes: []int{1, 0}}
	s, err := c.Load(context.Background(), "mine", dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Classes, names) || !slices.Equal(s.Train.Labels, []int{1, 1, 0, 0}) || s.Train.Images[0] != 30 {
		t.Errorf("%+v", s)
	}
	if first != nil && (!slices.Equal(first.Train.Images, train) || !slices.Equal(first.Test.Labels, []int{0, 1})) {
		t.Errorf("%+v", first)
	}
}

func TestCustomColour(t *testing.T) {
	red, blue, grey, dark := color.RGBA{200, 10, 30, 255}, color.RGBA{20, 10, 200, 255}, color.Gray{77}, color.Gray{7}
	dir := put(t, map[string][]byte{
		"colour/a/1.png": oneColour("png", 3, 2, red), "colour/b/1.png": oneColour("png", 3, 2, red),
		"grey/a/1.jpg": oneColour("jpg", 3, 2, grey), "grey/b/1.jpeg": oneColour("jpg", 3, 2, grey),
		"mixed/a/1.png": oneColour("png", 3, 2, grey), "mixed/b/1.png": oneColour("png", 3, 2, red),
		"test/colour/a/1.png": oneColour("png", 3, 2, blue), "test/colour/b/1.png": oneColour("png", 3, 2, blue),
		"test/grey/a/1.png": oneColour("png", 3, 2, dark), "test/grey/b/1.png": oneColour("png", 3, 2, dark),
		"test/mixed/a/1.png": oneColour("png", 3, 2, blue), "test/mixed/b/1.png": oneColour("png", 3, 2, dark),
	})
	load := func(train string, channels int) (*Set, error) {
		c := Config{Format: "folder", Train: train, Test: filepath.Join("test", train), Channels: channels}
		return c.Load(context.Background(), "mine", dir)
	}
	for _, c := range []struct {
		dir        string
		channels   int
		want       []byte // of the first image, and the last
		wantSecond []byte
	}{
		{"colour", 0, []byte{200, 10, 30}, []byte{200, 10, 30}},
		{"colour", 1, []byte{69}, []byte{69}}, // 0.299 R + 0.587 G + 0.114 B
		{"grey", 0, []byte{77}, []byte{77}},
		{"mixed", 3, []byte{77, 77, 77}, []byte{200, 10, 30}},
		{"mixed", 1, []byte{77}, []byte{69}},
	} {
		s, err := load(c.dir, c.channels)
		if err != nil {
			t.Error(err)
			continue
		}
		x := s.Train.Images
		if s.H != 2 || s.W != 3 || !bytes.HasPrefix(x, c.want) || !bytes.HasSuffix(x, c.wantSecond) {
			t.Errorf("%s with %d channels: %v", c.dir, c.channels, x)
		}
	}
	if _, err := load("mixed", 0); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), filepath.Join("mixed", "b", "1.png")) {
		t.Errorf("mixed: got %v", err)
	}
}

func TestCustomErrors(t *testing.T) {
	grey := func(w, h int) []byte { return oneColour("png", w, h, color.Gray{9}) }
	x := bytesNPY([]byte{1, 2}, 2, 1, 1)
	y := bytesNPY([]byte{0, 1}, 2)
	float := npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 1)}", make([]byte, 8))
	pair := func(x, y []byte) []byte { return archive(map[string][]byte{"x": x, "y": y}) }
	dir := put(t, map[string][]byte{
		"tests.npz": archive(map[string][]byte{"x": x, "y": y, "x_test": x, "y_test": y}),
		"good.npz":  pair(x, y), "float.npz": pair(float, y), "floatlabels.npz": pair(x, float),
		"columns.npz":   pair(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1, 1)}", []byte{1, 2}), y),
		"flat.npz":      pair(bytesNPY([]byte{1, 2}, 2, 1), y),
		"fewer.npz":     pair(bytesNPY([]byte{1}, 1, 1, 1), y),
		"none.npz":      pair(bytesNPY(nil, 0, 1, 1), bytesNPY(nil, 0)),
		"planes.npz":    pair(bytesNPY(make([]byte, 2*3*4*4), 2, 3, 4, 4), y),
		"negative.npz":  pair(x, npy("{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}", []byte{0, 255})),
		"odd.npz":       archive(map[string][]byte{"a": x, "b": y}),
		"cut.npz":       pair(x, y)[:40],
		"bad.npz":       edit(pair(x, y), 60, 'Z'),
		"sizes/a/1.png": grey(3, 3), "sizes/b/1.png": grey(3, 4),
		"broken/a/1.png": []byte("no image"), "blank/a/1.png": nil, "short/a/1.png": grey(3, 3)[:40], "empty/a/x.txt": nil, "bare/x.png": grey(1, 1),
		"glass/a/1.png": oneColour("png", 2, 2, color.NRGBA{1, 2, 3, 128}),
		"giant/a/1.png": grey(2000, 1000),
		"two/a/1.png":   grey(1, 1), "two/b/1.png": grey(1, 1), "one/a/1.png": grey(1, 1),
		"single.npz":     pair(bytesNPY(make([]byte, 9), 9, 1, 1), bytesNPY(make([]byte, 9), 9)),
		"deep/a/x/1.png": grey(1, 1), "deep/a/y/1.png": grey(1, 1), "deep/b/1.png": grey(1, 1),
		"damaged/a/1.png": edit(grey(3, 3), 45, 0xff),
	})
	npzOf := func(file string) Config { return Config{Format: "npz", Train: file} }
	folder := func(dir string) Config { return Config{Format: "folder", Train: dir} }
	for _, c := range []struct {
		config Config
		want   error
		text   string
	}{
		{npzOf("nowhere.npz"), os.ErrNotExist, "relative paths start from " + dir},
		{npzOf("float.npz"), ErrFormat, "float32[2 1 1]"},
		{npzOf("floatlabels.npz"), ErrFormat, "labels must be whole numbers"},
		{npzOf("columns.npz"), ErrClass, "at least two images"}, // it is read
		{npzOf("flat.npz"), ErrShape, "[n, h, w] or [n, h, w, channel]"},
		{npzOf("fewer.npz"), ErrCount, "2 labels for 1 images"},
		{npzOf("none.npz"), ErrFormat, "no images"},
		{npzOf("planes.npz"), ErrShape, "4 channels"},
		{npzOf("negative.npz"), ErrLabel, "image 1 has label -1"},
		{npzOf("odd.npz"), ErrFormat, "no images and labels with known names among a, b"},
		{npzOf("cut.npz"), ErrMagic, "neither an NPZ nor a PyTorch file"},
		{npzOf("bad.npz"), ErrCorrupt, "bad.npz"},
		{Config{Format: "npz", Train: "good.npz", TrainArrays: []string{"x", "z"}}, ErrFormat, `no array "z"`},
		{Config{Format: "npz", Train: "good.npz", Names: []string{"only"}}, ErrLabel, "labels are 0 to 0"},
		{Config{Format: "npz", Train: "good.npz", Channels: 3}, ErrShape, "1 channels\nhint: write channels = 1"},
		{Config{Format: "npz", Train: "good.npz", Size: []int{2, 2}}, ErrShape, "size = [2, 2] requires"},
		{npzOf("good.npz"), ErrClass, "at least two images"},
		{Config{Format: "npz", Train: "tests.npz", TestFraction: 0.3}, ErrConfig, "because there are test images\nhint: leave out both"},
		{Config{Format: "npz", Train: "tests.npz", SplitSeed: 1}, ErrConfig, "because there are test images"},
		{folder("sizes"), ErrShape, filepath.Join("sizes", "b", "1.png")},
		{folder("broken"), ErrMagic, "neither PNG nor JPEG"},
		{folder("short"), ErrTruncated, filepath.Join("short", "a", "1.png")},
		{folder("blank"), ErrTruncated, "1.png: file ends early: the file is empty\nhint: replace the picture, or delete it"},
		{folder("damaged"), ErrCorrupt, filepath.Join("damaged", "a", "1.png")},
		{folder("giant"), ErrOversized, "too many"},
		{folder("empty"), ErrClass, ".png, .jpg or .jpeg"},
		{folder("bare"), ErrFormat, "its own sub-folder"},
		{folder("glass"), ErrFormat, "transparent"},
		{folder("one"), ErrClass, filepath.Join(dir, "one") + ": class not available: only one class (a); at least two are needed"},
		{npzOf("single.npz"), ErrClass, "single.npz: class not available: only one class (0)"},
		{npzOf("two"), ErrFormat, `mine: train = "two": unsupported kind of content: ` + filepath.Join(dir, "two") + ` is a folder, but format = "npz" needs a file`},
		{npzOf("two"), ErrFormat, `write format = "folder"`},
		{folder("good.npz"), ErrFormat, `write format = "npz" for a file`},
		{folder("../pictures"), os.ErrNotExist, `mine: train = "../pictures": file does not exist: looked for ` + filepath.Join(filepath.Dir(dir), "pictures")},
		{Config{Format: "npz", Train: "good.npz", Test: "nil.npz"}, os.ErrNotExist, `test = "nil.npz": file does not exist`},
		{folder("deep"), ErrClass, "no images in " + filepath.Join(dir, "deep", "a") + ", only the folder x"},
		{Config{Format: "folder", Train: "two", Test: "one"}, ErrClass, "no folder " + filepath.Join(dir, "one", "b")},
		{Config{Format: "folder", Train: "two", Names: []string{"a", "z"}}, ErrClass, "no folder " + filepath.Join(dir, "two", "z")},
	} {
		_, err := c.config.Load(context.Background(), "mine", dir)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v:\ngot  %v\nwant %v with %q", c.config, err, c.want, c.text)
			continue
		}
		if !strings.Contains(strings.SplitN(err.Error(), "\n", 2)[0], "mine") {
			t.Errorf("the name is not in %v", err)
		}
	}
}

// TestFolderFaults has nine faults in a folder. The first five are listed.
func TestFolderFaults(t *testing.T) {
	rubbish, good := []byte("no image"), oneColour("png", 2, 2, color.Gray{9})
	dir := put(t, map[string][]byte{
		"all/a/1.png": rubbish, "all/a/2.png": good, "all/a/3.png": oneColour("png", 2, 3, color.Gray{9}), "all/b/x.txt": nil, "all/c/1.png": good, "all/c/2.png": nil,
		"all/d/1.png": rubbish, "all/d/2.png": rubbish, "all/d/3.png": rubbish, "all/d/4.png": rubbish, "all/d/5.png": rubbish,
	})
	_, err := Config{Format: "folder", Train: "all"}.Load(context.Background(), "mine", dir)
	for _, kind := range []error{ErrMagic, ErrShape, ErrClass, ErrTruncated} {
		if !errors.Is(err, kind) {
			t.Errorf("%v is not %v", err, kind)
		}
	}
	var where []string
	for line := range strings.Lines(fmt.Sprint(err)) {
		if !strings.HasPrefix(line, "hint: ") {
			where = append(where, strings.NewReplacer("mine: ", "", dir+string(filepath.Separator), "", "\\", "/").Replace(line))
		}
	}
	got, want := strings.Join(where, ""), `all/a/1.png: not a file of this kind: neither PNG nor JPEG
all/a/3.png: unexpected image size: 3x2 pixels; earlier images have 2x2
class not available: no images in all/b, only x.txt
all/c/2.png: file ends early: the file is empty
all/d/1.png: not a file of this kind: neither PNG nor JPEG
and 4 more`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestCheck checks the messages for invalid settings.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		config Config
		text   string
	}{
		{Config{}, `write format = "npz" or "folder"`},
		{Config{Format: "npz"}, `write train = "PATH"`},
		{Config{Format: "npz", Train: "i", TrainArrays: []string{"x"}}, `train_arrays = ["IMAGES", "LABELS"]`},
		{Config{Format: "folder", Train: "i", TestArrays: []string{"x", "y"}}, "test_arrays"},
		{Config{Format: "folder", Train: "i", TestFraction: 1}, "must be positive and below 1, not 1"},
		{Config{Format: "folder", Train: "i", Test: "j", TestFraction: 0.1}, "test_fraction only applies without a test set"},
		{Config{Format: "folder", Train: "i", Channels: 2}, "must be 1 or 3, not 2"},
		{Config{Format: "folder", Train: "i", Size: []int{3}}, "size = [HEIGHT, WIDTH]"},
		{Config{Format: "folder", Train: "i", Names: []string{"a", "b", "a"}}, `names has "a"`},
		{Config{Format: "folder", Train: "i", Names: []string{"a", ""}}, `names has ""`},
		{Config{Format: "folder", Train: "i", Classes: []int{1}}, "classes must name at least two classes"},
	} {
		if _, err := c.config.Load(context.Background(), "mine", ""); !errors.Is(err, ErrConfig) || !strings.HasPrefix(err.Error(), "[data.mine]: ") {
			t.Errorf("%+v: %v", c.config, err)
		}
		said, joined := "", c.config.Check().(interface{ Unwrap() []error })
		for _, err := range joined.Unwrap() {
			var bad *method.BadSetting
			if errors.As(err, &bad) {
				said += bad.Error() + ": " + bad.Hint + "\n"
			}
		}
		if !strings.Contains(said, c.text) {
			t.Errorf("%+v: %s, want %q", c.config, said, c.text)
		}
	}
}

func TestDivide(t *testing.T) {
	s := Split{}
	for i := range 100 {
		s.Images = append(s.Images, byte(i))
		s.Labels = append(s.Labels, i%3)
	}
	s.Images, s.Labels = append(s.Images, 200), append(s.Labels, 3) // alone in its class
	train, test := (&Config{}).divide(s, 1, 4)
	if train.Len() != 80 || test.Len() != 21 {
		t.Errorf("%d and %d images", train.Len(), test.Len())
	}
	if !slices.IsSorted(train.Images) || !slices.IsSorted(test.Images) {
		t.Error("order was not kept")
	}
	if !bytes.Contains(train.Images, []byte{200}) {
		t.Error("a class was left without training images")
	}
	// Another class does not move the split of the first.
	var fewer Split
	for i, l := range s.Labels {
		if l == 0 {
			fewer.Images, fewer.Labels = append(fewer.Images, s.Images[i]), append(fewer.Labels, l)
		}
	}
	_, alone := (&Config{}).divide(fewer, 1, 1)
	zeros := test.pick([]int{0, -1, -1, -1}, 1)
	if !slices.Equal(alone.Images, zeros.Images) {
		t.Errorf("%v, %v", alone.Images, zeros.Images)
	}
	_, other := (&Config{SplitSeed: 1}).divide(s, 1, 4)
	if slices.Equal(other.Images, test.Images) {
		t.Error("the seed has no effect")
	}
	if want := []byte{0}; !slices.Equal(test.Images[:1], want) {
		t.Errorf("split begins with %v", test.Images)
	}
	train, test = (&Config{TestFraction: 0.9999}).divide(s, 1, 4)
	if train.Len() != 4 || test.Len() != 97 {
		t.Errorf("%d and %d images", train.Len(), test.Len())
	}
}

// TestFolderLinks reads classes and images through symbolic links, and refuses
// those that lead nowhere.
func TestFolderLinks(t *testing.T) {
	image := oneColour("png", 2, 2, color.Gray{9})
	dir := put(t, map[string][]byte{"all/a/1.png": image, "all/a/2.png": image, "far/1.png": image, "far/two.png": image})
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Skip("SKIPPED: no symbolic links here")
		}
	}
	link("far", "all/b")
	link("far/1.png", "all/a/3.png")
	c := Config{Format: "folder", Train: "all"}
	s, err := c.Load(context.Background(), "mine", dir)
	if err != nil || !slices.Equal(s.Classes, []string{"a", "b"}) || s.Train.Len()+s.Test.Len() != 5 {
		t.Errorf("%+v %v", s, err)
	}
	link("nowhere", "all/c")
	if _, err := c.Load(context.Background(), "mine", dir); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), filepath.Join(dir, "all", "c")) {
		t.Errorf("a link to nowhere: %v", err)
	}
}

// Other entries in the folder of a class give a note, and so do test images that are also
// training images.
func TestFolderNotes(t *testing.T) {
	image, other := oneColour("png", 2, 2, color.Gray{9}), oneColour("png", 2, 2, color.Gray{8})
	dir := put(t, map[string][]byte{"all/a/1.png": image, "all/a/2.png": image, "all/a/3.bmp": image, "all/a/in/4.png": image, "all/a/.hidden": image, "all/b/1.png": other, "all/b/2.png": other})
	s, err := Config{Format: "folder", Train: "all"}.Load(context.Background(), "mine", dir)
	if err != nil || len(s.Notes) != 2 || !strings.HasPrefix(s.Notes[0], filepath.Join(dir, "all", "a")+": entries skipped: 2, such as the folder in; ") || s.Notes[1] != "mine: 2 of 2 test images are also training images" {
		t.Errorf("%+v %v", s, err)
	}
	// Images outside the classes, and test images of a class without training images.
	third := oneColour("png", 2, 2, color.Gray{7})
	dir = put(t, map[string][]byte{"all/a/1.png": image, "all/b/1.png": other, "all/1.png": image, "test/a/1.png": third, "test/b/1.png": third, "test/c/1.png": image})
	s, err = Config{Format: "folder", Train: "all", Test: "test"}.Load(context.Background(), "mine", dir)
	if err != nil || len(s.Notes) != 2 || !strings.HasPrefix(s.Notes[0], filepath.Join(dir, "all")+": entries skipped: 1, such as 1.png;") || !strings.HasPrefix(s.Notes[1], filepath.Join(dir, "test")+": entries skipped: 1, such as c;") {
		t.Errorf("%+v %v", s, err)
	}
	// Records cannot hold every name that a folder may have.
	if err := os.Mkdir(filepath.Join(dir, "all", "\x1b[31m"), 0o777); err != nil {
		t.Skip("SKIPPED: no such names here")
	}
	if _, err := (Config{Format: "folder", Train: "all"}).Load(context.Background(), "mine", dir); !errors.Is(err, ErrClass) || !strings.Contains(err.Error(), `"\x1b[31m" is not UTF-8`) {
		t.Error(err)
	}
}

// A test set with the same images as the training set is refused, whatever its path.
func TestTestedOnTraining(t *testing.T) {
	image, other := oneColour("png", 2, 2, color.Gray{9}), oneColour("png", 2, 2, color.Gray{8})
	dir := put(t, map[string][]byte{"all/a/1.png": image, "all/b/1.png": other, "copy/a/9.png": image, "copy/b/9.png": other, "part/a/9.png": image, "part/b/9.png": oneColour("png", 2, 2, color.Gray{7})})
	for _, test := range []string{"all", "copy"} {
		_, err := Config{Format: "folder", Train: "all", Test: test}.Load(context.Background(), "mine", dir)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "mine: bad setting: every test image is also a training image\nhint: use") {
			t.Errorf("%s: %v", test, err)
		}
	}
	s, err := Config{Format: "folder", Train: "all", Test: "part"}.Load(context.Background(), "mine", dir)
	if err != nil || !slices.Equal(s.Notes, []string{"mine: 1 of 2 test images are also training images"}) {
		t.Errorf("%+v %v", s, err)
	}
}

// TestHugeImage reads the head of a picture of 2^31-1 pixels a side.
func TestHugeImage(t *testing.T) {
	b := oneColour("png", 2, 2, color.Gray{9})
	const head = 16 // the signature, then length and name of the first chunk
	copy(b[head:], "\x7f\xff\xff\xff\x7f\xff\xff\xff")
	binary.BigEndian.PutUint32(b[head+13:], crc32.ChecksumIEEE(b[head-4:head+13]))
	if _, err := decode(bytes.NewReader(b)); !errors.Is(err, ErrOversized) && !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	copy(b[head:], "\x00\x00\xff\xff\x00\x00\xff\xff")
	binary.BigEndian.PutUint32(b[head+13:], crc32.ChecksumIEEE(b[head-4:head+13]))
	if _, err := decode(bytes.NewReader(b)); !errors.Is(err, ErrOversized) {
		t.Error(err)
	}
}
