package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// Config describes people's own images, in a table [data.NAME] of an experiment.
//
//	format  train and test are
//	npz     archives of numpy arrays: images uint8 [n, h, w] or [n, h, w, channel], labels of
//	        an integer type. Without test, the file of train is searched for test arrays.
//	folder  directories with one sub-folder of PNG or JPEG images a class, taken by name
//
// Where there is no test set, a part of each class is set aside for it. Prefer PNG:
// what a JPEG decodes to may change with the release of Go, and the digest with it.
type Config struct {
	Format string `toml:"format" enum:"npz,folder"`
	Train  string `toml:"train"`
	Test   string `toml:"test"`

	// Names of images and labels in an npz file; without them the usual ones are
	// tried.
	TrainArrays []string `toml:"train_arrays"`
	TestArrays  []string `toml:"test_arrays"`

	// Names of the classes, in the order of their numbers. Of a folder, these
	// sub-folders are read; without them all, by name.
	Names   []string `toml:"names"`
	Classes []int    `toml:"classes"` // to use where a run names none

	TestFraction float64 `toml:"test_fraction" min:"0.001"` // of each class, without a test set; 0 means 0.2
	SplitSeed    uint64  `toml:"split_seed"`

	// What the images must be, where given. A folder of grey and coloured images
	// is converted to this number of channels.
	Channels int   `toml:"channels"`
	Size     []int `toml:"size"` // height and width

	// Characters says that mirror images belong to no class: the strategy dsa does
	// not flip such images.
	Characters bool `toml:"characters"`
}

// Load returns the dataset, under the name it has in the experiment. Relative paths
// start from the directory base.
func (c Config) Load(ctx context.Context, name, base string) (*Set, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("[data.%s]: %w: %w", name, ErrConfig, err)
	}
	set, err := c.load(ctx, name, base)
	if err != nil {
		return nil, at(name, err)
	}
	return set, nil
}

func (c *Config) load(ctx context.Context, name, base string) (*Set, error) {
	if err := c.find(base); err != nil {
		return nil, err
	}
	raw, err := c.read(ctx, base)
	if err != nil {
		return nil, err
	}
	if err := c.fits(raw); err != nil {
		return nil, err
	}
	if raw.test.Labels == nil {
		raw.train, raw.test = c.divide(raw.train, raw.dim(), len(raw.names))
		raw.divided = true
	}
	set, err := raw.choose(name, c.Classes)
	if err != nil {
		return nil, err
	}
	return set, set.apart(raw.divided)
}

// CheckValues finds settings that are wrong whatever the others are.
func (c Config) CheckValues() error {
	var errs []error
	bad := func(key, why, hint string) { errs = append(errs, &method.BadSetting{Key: key, Why: why, Hint: hint}) }
	if !(c.TestFraction >= 0 && c.TestFraction < 1) {
		bad("test_fraction", fmt.Sprintf("is %v", c.TestFraction), "the part of each class kept for testing, between 0 and 1")
	}
	if c.Channels != 0 && c.Channels != 1 && c.Channels != 3 {
		bad("channels", fmt.Sprintf("is %d", c.Channels), "1 for grey, 3 for colour, or leave it out")
	}
	if c.Size != nil && (len(c.Size) != 2 || c.Size[0] <= 0 || c.Size[1] <= 0) {
		bad("size", fmt.Sprintf("is %v", c.Size), "write size = [HEIGHT, WIDTH]")
	}
	if len(c.Classes) == 1 {
		bad("classes", "must name two classes or more", "")
	}
	for i, class := range c.Classes {
		if slices.Contains(c.Classes[:i], class) {
			bad("classes", fmt.Sprintf("names class %d twice", class), "")
			break
		}
	}
	for i, name := range c.Names {
		if name == "" || strings.Contains(name, "\n") || slices.Contains(c.Names[:i], name) {
			bad("names", fmt.Sprintf("has %q, which is empty, more than a line, or there twice", name), "each class has a name of its own")
		}
	}
	for _, a := range c.arrays() {
		if a.names != nil && len(a.names) != 2 {
			bad(a.key, fmt.Sprintf("is %q", a.names), fmt.Sprintf(`write %s = ["IMAGES", "LABELS"]`, a.key))
		}
	}
	return errors.Join(errs...)
}

// Check implements method.Checker.
func (c Config) Check() error {
	errs := []error{c.CheckValues()}
	bad := func(key, why, hint string) { errs = append(errs, &method.BadSetting{Key: key, Why: why, Hint: hint}) }
	if !slices.Contains([]string{"npz", "folder"}, c.Format) {
		bad("format", fmt.Sprintf("is %q", c.Format), `write format = "npz" or "folder"`)
		return errors.Join(errs...)
	}
	if c.Train == "" {
		bad("train", "is missing", `write train = "PATH"`)
	}
	for _, a := range c.arrays() {
		if a.names != nil && c.Format != "npz" {
			bad(a.key, "is for npz", "leave it out")
		}
	}
	if c.TestFraction > 0 && (c.Test != "" || c.TestArrays != nil) {
		bad("test_fraction", "has no place: there is a test set already", "leave test_fraction out, or the test set")
	}
	return errors.Join(errs...)
}

type arrayNames struct {
	key   string
	names []string
}

func (c *Config) arrays() []arrayNames {
	return []arrayNames{{"train_arrays", c.TrainArrays}, {"test_arrays", c.TestArrays}}
}

// resolve returns the place of a path of the settings.
func resolve(base, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// find checks that there is something of the right kind at each path.
func (c *Config) find(base string) error {
	for _, p := range []struct{ key, path string }{{"train", c.Train}, {"test", c.Test}} {
		if p.path == "" {
			continue
		}
		place, err := filepath.Abs(resolve(base, p.path))
		if err != nil {
			return err
		}
		info, err := os.Stat(place)
		folder := c.Format == "folder"
		_, missing := os.Stat(base)
		switch setting := fmt.Sprintf("%s = %q", p.key, p.path); {
		case errors.Is(err, fs.ErrNotExist):
			err = fmt.Errorf("%s: %w: looked for %s", setting, fs.ErrNotExist, place)
			if !filepath.IsAbs(p.path) && missing != nil {
				return hint(err, "%s, the folder of an experiment that the program carries, is not here: name the file by its path, -exp PATH/NAME.toml", base)
			}
			return hint(err, "relative paths start from %s, the folder of the experiment's file, and ~ is a name like any other", base)
		case err != nil:
			return fmt.Errorf("%s: %w", setting, err)
		case info.IsDir() && !folder:
			return hint(fmt.Errorf("%s: %w: %s is a folder, and format = %q reads files", setting, ErrFormat, place, c.Format),
				`write format = "folder" for a folder with a sub-folder of images for each class`)
		case !info.IsDir() && folder:
			return hint(fmt.Errorf("%s: %w: %s is a file, and format = \"folder\" reads folders", setting, ErrFormat, place),
				`write format = "npz" for a file of arrays`)
		}
	}
	return nil
}

func (c *Config) read(ctx context.Context, base string) (*contents, error) {
	train, test := resolve(base, c.Train), resolve(base, c.Test)
	if c.Format == "npz" {
		return c.readNPZ(ctx, train, test)
	}
	return c.readFolders(ctx, train, test)
}

// same checks the size of test images against that of the training images.
func (c *contents) same(s shape) error {
	if s == c.shape {
		return nil
	}
	return fmt.Errorf("%w: %v, the training images are %v", ErrShape, s, c.shape)
}

// number names classes by their numbers, up to the largest label, unless they have
// names.
func (c *Config) number(out *contents) []string {
	if len(c.Names) > 0 {
		return c.Names
	}
	top := -1
	for _, s := range []Split{out.train, out.test} {
		for _, l := range s.Labels {
			top = max(top, l)
		}
	}
	names := make([]string, top+1)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	return names
}

// fits compares images with what the settings demand of them.
func (c *Config) fits(raw *contents) error {
	kind, why, help := ErrShape, "", ""
	switch {
	case raw.train.Len() == 0 || len(raw.names) == 0 || raw.dim() == 0:
		kind, why = ErrFormat, "no images"
	case raw.ch != 1 && raw.ch != 3:
		why, help = fmt.Sprintf("%d channels", raw.ch), "images are [n, h, w], or [n, h, w, channel] with 1 or 3 channels, the last to vary fastest"
		if raw.h == 1 || raw.h == 3 {
			help = fmt.Sprintf("%dx%dx%d looks like channels first: np.transpose(x, (0, 2, 3, 1)) puts them last", raw.h, raw.w, raw.ch)
		}
	case c.Channels != 0 && raw.ch != c.Channels:
		why, help = fmt.Sprintf("%d channels", raw.ch), fmt.Sprintf("channels = %d asks for another number", c.Channels)
	case c.Size != nil && (raw.h != c.Size[0] || raw.w != c.Size[1]):
		why, help = fmt.Sprintf("%dx%d pixels", raw.h, raw.w), fmt.Sprintf("size = [%d, %d] asks for others: leave it out, or scale the images", c.Size[0], c.Size[1])
	case len(raw.names) == 1:
		kind, why = ErrClass, fmt.Sprintf("only one class (%s); two are needed at least", raw.names[0])
		if c.Format == "folder" {
			help = "each sub-folder is a class: the images of each lie in one of their own"
		}
	default:
		return nil
	}
	err := fmt.Errorf("%s: %w: %s", strings.Join(raw.files, ", "), kind, why)
	if help == "" {
		return err
	}
	return hint(err, "%s", help)
}

// divide sets a part of each class aside for testing. What it chooses in a class
// depends on the number of that class's images only, so that runs on fewer classes
// have the same split.
func (c *Config) divide(s Split, dim, classes int) (train, test Split) {
	fraction := c.TestFraction
	if fraction == 0 {
		fraction = 0.2
	}
	where := method.Images{Labels: s.Labels}.ByClass(classes)
	aside := make([]bool, s.Len())
	for l, list := range where {
		n := int(math.Round(fraction * float64(len(list))))
		n = max(min(n, len(list)-1), min(1, len(list)-1)) // one of each at least
		perm := rng.Stream(c.SplitSeed, "data", "split", strconv.Itoa(l)).Perm(len(list))
		for _, k := range perm[:max(n, 0)] {
			aside[list[k]] = true
		}
	}
	for i, l := range s.Labels {
		to := &train
		if aside[i] {
			to = &test
		}
		to.Images = append(to.Images, s.Images[i*dim:(i+1)*dim]...)
		to.Labels = append(to.Labels, l)
	}
	return train, test
}
