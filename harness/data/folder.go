package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dgkip/harness/sets"
)

// pixelLimit is the largest number of pixels of an image. It is checked before decoding.
const pixelLimit = 1 << 20

func (c *Config) readFolders(ctx context.Context, train, test string) (*Set, error) {
	out := &Set{Classes: c.Names, Shape: Shape{Ch: c.Channels}, Files: []string{train}}
	if len(c.Names) == 0 {
		folders, others, err := list(train)
		if err != nil {
			return nil, err
		}
		if len(folders) == 0 {
			return nil, hint(fmt.Errorf("%s: %w: no sub-folders", train, ErrFormat), "put the images of each class into its own sub-folder")
		}
		for _, name := range folders { // records hold UTF-8 only, and a terminal would execute control characters
			if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
				return nil, hint(fmt.Errorf("%s: %w: the name of the folder %q is not UTF-8 or has control characters", train, ErrClass, name), "rename the folder")
			}
		}
		out.Classes = folders
		out.skipped(train, others)
	}
	var err error
	if out.Train, err = c.folder(ctx, out, train); err != nil {
		return nil, err
	}
	if test == "" {
		return out, nil
	}
	out.Files = append(out.Files, test)
	if out.Test, err = c.folder(ctx, out, test); err != nil {
		return nil, err
	}
	if len(c.Names) == 0 {
		folders, others, err := list(test)
		if err != nil {
			return nil, err
		}
		more := slices.DeleteFunc(folders, func(name string) bool { return slices.Contains(out.Classes, name) })
		out.skipped(test, append(more, others...))
	}
	return out, nil
}

// skipped adds a note on entries of a folder that were not read.
func (s *Set) skipped(dir string, entries []string) {
	if len(entries) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s: entries skipped: %d, such as %s; images are .png, .jpg or .jpeg files directly in the folder of a training class", dir, len(entries), entries[0]))
	}
}

// list returns the names of the folders in dir, and links to folders, and of its other entries. It
// leaves out hidden entries.
func list(dir string) (folders, others []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries { // in order of name
		folder, path := e.IsDir(), filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(path)
			if err != nil {
				return nil, nil, hint(fmt.Errorf("%s: %w: broken link: %v", path, ErrFormat, err), "delete or repair the link")
			}
			folder = info.IsDir()
		}
		if folder {
			folders = append(folders, e.Name())
		} else {
			others = append(others, e.Name())
		}
	}
	return folders, others, err
}

// folder reads the images of all classes under dir. The first image determines the size and, unless
// the settings do, the number of channels. The error lists the first few faults and counts the rest.
func (c *Config) folder(ctx context.Context, out *Set, dir string) (s Split, err error) {
	var faults []error
	for label, name := range out.Classes {
		paths, others, err := images(filepath.Join(dir, name))
		if err != nil {
			faults = append(faults, err)
		}
		out.skipped(filepath.Join(dir, name), others)
		for _, p := range paths {
			if err := ctx.Err(); err != nil {
				return s, err
			}
			if err := c.image(out, &s, p); err != nil {
				faults = append(faults, at(p, err))
				continue
			}
			s.Labels = append(s.Labels, label)
		}
	}
	const most = 5
	if more := len(faults) - most; more > 0 {
		faults = append(faults[:most], fmt.Errorf("and %d more", more))
	}
	return s, errors.Join(faults...)
}

// images lists the image files of a directory in the order of their names, and its other entries,
// folders first.
func images(dir string) (paths, others []string, err error) {
	folders, files, err := list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, hint(fmt.Errorf("%w: no folder %s", ErrClass, dir), "each class needs a folder in the training set, and in the test set if there is one")
	}
	if err != nil {
		return nil, nil, err
	}
	for _, name := range folders {
		others = append(others, "the folder "+name)
	}
	for _, name := range files {
		if slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(filepath.Ext(name))) {
			paths = append(paths, filepath.Join(dir, name))
		} else {
			others = append(others, name)
		}
	}
	if len(paths) > 0 {
		return paths, others, nil
	}
	err = fmt.Errorf("%w: no images in %s", ErrClass, dir)
	if len(others) > 0 {
		err = fmt.Errorf("%w, only %s", err, others[0])
	}
	return nil, nil, hint(err, "images are .png, .jpg or .jpeg files directly in the folder of their class; if the folder is not a class, delete it, or list the classes: names = [...]")
}

// image appends the pixels of a file to s.
func (c *Config) image(out *Set, s *Split, path string) error {
	f, _, err := sets.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := decode(f)
	if err != nil {
		return err
	}
	size := m.Bounds().Size()
	if out.H == 0 {
		out.H, out.W = size.Y, size.X
	}
	if size.Y != out.H || size.X != out.W {
		err := fmt.Errorf("%w: %dx%d pixels; earlier images have %dx%d", ErrShape, size.Y, size.X, out.H, out.W)
		return hint(err, "all images need the same size: crop or scale them")
	}
	ch := 3
	switch m.ColorModel() {
	case color.GrayModel, color.Gray16Model:
		ch = 1
	}
	if out.Ch == 0 {
		out.Ch = ch
	}
	if out.Ch != ch && c.Channels == 0 {
		err := fmt.Errorf("%w: %d channels; earlier images have %d", ErrShape, ch, out.Ch)
		return hint(err, "write channels = 1 or channels = 3 to convert them")
	}
	return appendPixels(s, m, out.Ch)
}

const replacePicture = "replace the picture, or delete it"

// decode checks the size of an image and then reads it.
func decode(r io.Reader) (image.Image, error) {
	var head bytes.Buffer
	config, _, err := image.DecodeConfig(io.TeeReader(r, &head))
	if head.Len() == 0 {
		return nil, hint(fmt.Errorf("%w: the file is empty", ErrTruncated), replacePicture)
	}
	if err == nil && config.Width*config.Height > pixelLimit {
		return nil, hint(fmt.Errorf("%w: %dx%d pixels are too many", ErrOversized, config.Height, config.Width), "at most %d pixels are allowed; scale the images down", pixelLimit)
	}
	var m image.Image
	if err == nil {
		m, _, err = image.Decode(io.MultiReader(&head, r))
	}
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, image.ErrFormat):
		err = fmt.Errorf("%w: neither PNG nor JPEG", ErrMagic)
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: %w", ErrTruncated, err)
	default:
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil, hint(err, replacePicture)
}

// appendPixels appends an image as bytes. Colour becomes grey by the luma of ITU-R BT.601, as in
// image/color.
func appendPixels(s *Split, m image.Image, ch int) error {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			p := m.At(x, y)
			r, g, bl, a := p.RGBA()
			if a != 0xffff {
				return hint(fmt.Errorf("%w: the image is transparent", ErrFormat), "put the image on an opaque background")
			}
			if ch == 1 {
				s.Images = append(s.Images, color.GrayModel.Convert(p).(color.Gray).Y)
			} else {
				s.Images = append(s.Images, byte(r>>8), byte(g>>8), byte(bl>>8))
			}
		}
	}
	return nil
}
