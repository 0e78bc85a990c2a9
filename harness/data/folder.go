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

	"dgkip/harness/sets"
)

// pixelLimit bounds an image before it is decoded.
const pixelLimit = 1 << 20

func (c *Config) readFolders(ctx context.Context, train, test string) (*contents, error) {
	out := &contents{names: c.Names, shape: shape{ch: c.Channels}, convert: c.Channels != 0, files: []string{train}}
	if len(out.names) == 0 {
		entries, err := os.ReadDir(train)
		if err != nil {
			return nil, err
		}
		for _, e := range entries { // by name
			is, err := isFolder(train, e)
			if err != nil {
				return nil, err
			}
			if is {
				out.names = append(out.names, e.Name())
			}
		}
		if len(out.names) == 0 {
			return nil, hint(fmt.Errorf("%s: %w: no sub-folders", train, ErrFormat), "put the images of each class into a folder of their own")
		}
	}
	var err error
	if out.train, err = out.folder(ctx, train); err != nil {
		return nil, err
	}
	if test != "" {
		out.files = append(out.files, test)
		if out.test, err = out.folder(ctx, test); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isFolder reports whether an entry of dir is a folder, or a link to one, that is
// not hidden.
func isFolder(dir string, e fs.DirEntry) (bool, error) {
	if strings.HasPrefix(e.Name(), ".") {
		return false, nil
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir(), nil
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	if err != nil {
		return false, hint(fmt.Errorf("%s: %w: a link that leads nowhere: %w", filepath.Join(dir, e.Name()), ErrFormat, err), "delete the link, or mend it")
	}
	return info.IsDir(), nil
}

// folder reads the images of all classes under dir. The first one read fixes the
// size and, unless it is given, the number of channels.
//
// What is wrong with several images or classes is reported at once, up to a limit.
func (c *contents) folder(ctx context.Context, dir string) (s Split, err error) {
	var errs []error
	what := "several things are wrong with " + dir
	for label, name := range c.names {
		paths, passed, err := images(filepath.Join(dir, name))
		if err != nil {
			errs = append(errs, err)
		}
		if len(passed) > 0 {
			c.notes = append(c.notes, fmt.Sprintf("%s: %d not read, such as %s: images are .png, .jpg or .jpeg files directly in the folder of their class", filepath.Join(dir, name), len(passed), passed[0]))
		}
		for _, p := range paths {
			if err := ctx.Err(); err != nil {
				return s, err
			}
			if len(errs) >= faultLimit {
				return s, gather(what+", and the rest was not looked at", errs)
			}
			if err := c.image(&s, p); err != nil {
				errs = append(errs, at(p, err))
				continue
			}
			s.Labels = append(s.Labels, label)
		}
	}
	if more := len(errs) - faultLimit; more > 0 {
		what += fmt.Sprintf(", of which %d are not listed", more)
		errs = errs[:faultLimit]
	}
	return s, gather(what, errs)
}

// faultLimit is how many faults of a folder are reported.
const faultLimit = 5

// images lists the image files of a directory by name, and what else is in it.
func images(dir string) (paths, passed []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, hint(fmt.Errorf("%w: no folder %s", ErrClass, dir), "each class has its folder, in the training set and in the test set")
	}
	if err != nil {
		return nil, nil, err
	}
	var inner []string
	for _, e := range entries {
		folder, err := isFolder(dir, e)
		if err != nil {
			return nil, nil, err
		}
		ext := strings.ToLower(filepath.Ext(e.Name()))
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case !folder && slices.Contains([]string{".png", ".jpg", ".jpeg"}, ext):
			paths = append(paths, filepath.Join(dir, e.Name()))
		default:
			if folder {
				inner = append(inner, e.Name())
				passed = slices.Insert(passed, 0, "the folder "+e.Name())
			} else {
				passed = append(passed, e.Name())
			}
		}
	}
	if len(paths) == 0 && len(inner) > 0 {
		shown := strings.Join(inner[:min(len(inner), 3)], ", ")
		if len(inner) > 3 {
			shown += ", ..."
		}
		return nil, nil, hint(fmt.Errorf("%w: no images in %s, only sub-folders (%s)", ErrClass, dir, shown),
			"images lie directly in the folder of their class; folders inside it are not read")
	}
	if len(paths) == 0 {
		return nil, nil, hint(fmt.Errorf("%w: no images in %s", ErrClass, dir), "images are .png, .jpg or .jpeg files; if the folder is no class, delete it, or list those that are: names = [...]")
	}
	return paths, passed, nil
}

// image appends the pixels of a file to s.
func (c *contents) image(s *Split, path string) error {
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
	if c.h == 0 {
		c.h, c.w = size.Y, size.X
	}
	if size.Y != c.h || size.X != c.w {
		err := fmt.Errorf("%w: %dx%d pixels; those before it have %dx%d", ErrShape, size.Y, size.X, c.h, c.w)
		return hint(err, "all images need one size: crop or scale them")
	}
	ch := 3
	switch m.ColorModel() {
	case color.GrayModel, color.Gray16Model:
		ch = 1
	}
	if c.ch == 0 {
		c.ch = ch
	}
	if c.ch != ch && !c.convert {
		err := fmt.Errorf("%w: %d channels; the images before it have %d", ErrShape, ch, c.ch)
		return hint(err, "write channels = 1 or channels = 3 to convert them")
	}
	return appendPixels(s, m, c.ch)
}

const replacePicture = "replace the picture, or delete it"

// decode reads an image after a look at its size.
func decode(r io.Reader) (image.Image, error) {
	var head bytes.Buffer
	config, _, err := image.DecodeConfig(io.TeeReader(r, &head))
	if head.Len() == 0 {
		return nil, hint(fmt.Errorf("%w: the file is empty", ErrTruncated), replacePicture)
	}
	if err == nil && config.Width*config.Height > pixelLimit {
		return nil, hint(fmt.Errorf("%w: %dx%d pixels are too many", ErrOversized, config.Height, config.Width), "at most %d pixels are read; scale the images down", pixelLimit)
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

// appendPixels appends an image as bytes. Grey from colour is the luma of ITU-R
// BT.601, as in image/color.
func appendPixels(s *Split, m image.Image, ch int) error {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			p := m.At(x, y)
			r, g, bl, a := p.RGBA()
			if a != 0xffff {
				return hint(fmt.Errorf("%w: the image is transparent", ErrFormat), "lay it on a background")
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
