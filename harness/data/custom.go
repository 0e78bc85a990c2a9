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

// Config describes your own images, in a table [data.NAME] of an experiment. Format is the kind of
// Train and Test:
//
//	npz     files of numpy arrays: images uint8 [n, h, w] or [n, h, w, channel], and labels of an
//	        integer type. Without Test, the file of Train may also hold the test arrays.
//	folder  folders with one sub-folder of PNG or JPEG images for each class
//
// Without a test set, a part of each class is set aside for testing. Prefer PNG: another release of
// Go may decode a JPEG to other pixels, which changes the digest.
type Config struct {
	Format string `toml:"format" enum:"npz,folder"`
	Train  string `toml:"train"`
	Test   string `toml:"test"`

	// Names of the arrays of images and labels in an npz file. By default the usual names
	// are tried.
	TrainArrays []string `toml:"train_arrays"`
	TestArrays  []string `toml:"test_arrays"`

	// Names of the classes, in the order of their numbers. With folders, only these
	// sub-folders are read, or by default all in the order of their names.
	Names   []string `toml:"names"`
	Classes []int    `toml:"classes"` // numbers of the classes to use, by default all

	TestFraction float64 `toml:"test_fraction" min:"0.001"` // part of each class to set aside if there is no test set; the default is 0.2
	SplitSeed    uint64  `toml:"split_seed"`                // seed of that choice

	// Channels, if given, is the number of channels that arrays must have and that pictures
	// in folders are converted to.
	Channels int   `toml:"channels"`
	Size     []int `toml:"size"` // if given, the height and width that images must have

	// Characters means that a mirror image no longer belongs to its class, as with letters.
	// The strategy dsa then does not flip images.
	Characters bool `toml:"characters"`
}

// Load returns the dataset that the experiment calls name. Relative paths start from the directory
// base.
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
	read := c.readFolders
	if c.Format == "npz" {
		read = c.readNPZ
	}
	raw, err := read(ctx, resolve(base, c.Train), resolve(base, c.Test))
	if err != nil {
		return nil, err
	}
	if err := c.fits(raw); err != nil {
		return nil, err
	}
	if raw.Test.Labels == nil {
		raw.Train, raw.Test = c.divide(raw.Train, raw.Dim(), len(raw.Classes))
		raw.divided = true
	} else if c.TestFraction > 0 || c.SplitSeed > 0 {
		err := fmt.Errorf("%s: %w: test_fraction and split_seed have no effect, because there are test images", strings.Join(raw.Files, ", "), ErrConfig)
		return nil, hint(err, "leave out both settings, or the test images")
	}
	raw.Name = name
	set, err := raw.choose(c.Classes)
	if err != nil {
		return nil, err
	}
	return set, set.apart()
}

// CheckValues returns an error for settings that are wrong whatever the other settings are.
func (c Config) CheckValues() error {
	var errs []error
	bad := func(key, why, hint string) { errs = append(errs, &method.BadSetting{Key: key, Why: why, Hint: hint}) }
	if !(c.TestFraction >= 0 && c.TestFraction < 1) {
		bad("test_fraction", fmt.Sprintf("must be positive and below 1, not %v", c.TestFraction), "write the part of each class to set aside for testing, such as 0.2")
	}
	if c.Channels != 0 && c.Channels != 1 && c.Channels != 3 {
		bad("channels", fmt.Sprintf("must be 1 or 3, not %d", c.Channels), "write 1 for grey, 3 for colour, or leave it out")
	}
	if c.Size != nil && (len(c.Size) != 2 || c.Size[0] <= 0 || c.Size[1] <= 0) {
		bad("size", fmt.Sprintf("must be two positive integers, not %v", c.Size), "write size = [HEIGHT, WIDTH]")
	}
	if len(c.Classes) == 1 {
		bad("classes", "must name at least two classes", "")
	}
	for i, class := range c.Classes {
		if slices.Contains(c.Classes[:i], class) {
			bad("classes", fmt.Sprintf("names class %d twice", class), "")
			break
		}
	}
	for i, name := range c.Names {
		if name == "" || strings.Contains(name, "\n") || slices.Contains(c.Names[:i], name) {
			bad("names", fmt.Sprintf("has %q, which is empty, has a line break, or appears twice", name), "give each class its own name")
		}
	}
	for _, a := range c.arrays() {
		if a.names != nil && len(a.names) != 2 {
			bad(a.key, fmt.Sprintf("must be two names, not %q", a.names), fmt.Sprintf(`write %s = ["IMAGES", "LABELS"]`, a.key))
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
			bad(a.key, `only applies to format = "npz"`, "leave it out")
		}
	}
	if c.TestFraction > 0 && (c.Test != "" || c.TestArrays != nil) {
		bad("test_fraction", "only applies without a test set", "leave out test_fraction, or the test set")
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

// resolve returns a path of the settings, with relative paths starting from base.
func resolve(base, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// find returns an error unless every path leads to what the format needs, a file or a folder.
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
				return hint(err, "the experiment is built into this program, and its folder %s does not exist here: name your own file by its path, -exp PATH/NAME.toml", base)
			}
			return hint(err, "relative paths start from %s, the folder of the experiment's file; ~ is not expanded", base)
		case err != nil:
			return fmt.Errorf("%s: %w", setting, err)
		case info.IsDir() && !folder:
			return hint(fmt.Errorf("%s: %w: %s is a folder, but format = %q needs a file", setting, ErrFormat, place, c.Format),
				`write format = "folder" for a folder with a sub-folder of images for each class`)
		case !info.IsDir() && folder:
			return hint(fmt.Errorf("%s: %w: %s is a file, but format = \"folder\" needs a folder", setting, ErrFormat, place),
				`write format = "npz" for a file of arrays`)
		}
	}
	return nil
}

// number returns the names of the classes: those in the settings, or else the numbers up to the
// largest label.
func (c *Config) number(out *Set) []string {
	if len(c.Names) > 0 {
		return c.Names
	}
	top := -1
	for _, s := range []Split{out.Train, out.Test} {
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

// fits returns an error unless the images have a usable form, and the form that the settings require.
func (c *Config) fits(raw *Set) error {
	kind, why, help := ErrShape, "", ""
	switch {
	case raw.Train.Len() == 0 || len(raw.Classes) == 0 || raw.Dim() == 0:
		kind, why = ErrFormat, "no images"
	case raw.Ch != 1 && raw.Ch != 3:
		why, help = fmt.Sprintf("%d channels", raw.Ch), "images must be [n, h, w], or [n, h, w, channel] with 1 or 3 channels"
		if raw.H == 1 || raw.H == 3 {
			help = fmt.Sprintf("%dx%dx%d looks like channels first: np.transpose(x, (0, 2, 3, 1)) moves them last", raw.H, raw.W, raw.Ch)
		}
	case c.Channels != 0 && raw.Ch != c.Channels:
		why, help = fmt.Sprintf("%d channels", raw.Ch), fmt.Sprintf("write channels = %d, or leave it out", raw.Ch)
	case c.Size != nil && (raw.H != c.Size[0] || raw.W != c.Size[1]):
		why, help = fmt.Sprintf("%dx%d pixels", raw.H, raw.W), fmt.Sprintf("size = [%d, %d] requires another size: leave it out, or scale the images", c.Size[0], c.Size[1])
	case len(raw.Classes) == 1:
		kind, why = ErrClass, fmt.Sprintf("only one class (%s); at least two are needed", raw.Classes[0])
		if c.Format == "folder" {
			help = "put the images of each class into its own sub-folder"
		}
	default:
		return nil
	}
	err := fmt.Errorf("%s: %w: %s", strings.Join(raw.Files, ", "), kind, why)
	if help == "" {
		return err
	}
	return hint(err, "%s", help)
}

// divide sets a part of each class aside for testing. Its choice in a class does not depend on the
// other classes, so that runs on fewer classes have the same split.
func (c *Config) divide(s Split, dim, classes int) (train, test Split) {
	fraction := c.TestFraction
	if fraction == 0 {
		fraction = 0.2
	}
	where := method.Images{Labels: s.Labels}.ByClass(classes)
	aside := make([]bool, s.Len())
	for l, list := range where {
		n := int(math.Round(fraction * float64(len(list))))
		n = max(min(n, len(list)-1), min(1, len(list)-1)) // at least one image on each side, if there are two
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
