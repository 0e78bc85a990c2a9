package cli

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dgkip/harness/arrays"
	"dgkip/harness/deflate"
	"dgkip/harness/engine"
	"dgkip/harness/npz"
	"dgkip/harness/report"
	"dgkip/harness/sets"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// exportFormats are the forms in which sets are written for other programs.
var exportFormats = []string{"pt", "npz", "png"}

// exportSets writes the sets of the selected records, a file for each.
func (f *flags) exportSets(ctx context.Context, out io.Writer, wanted request) error {
	var specs []*spec.Spec // without those of times: sets that were made for these alone are of no use
	for _, s := range wanted.Specs {
		specs = append(specs, s.Spec)
	}
	plan, err := onRecord(ctx, wanted.Store, specs, wanted.Only)
	if err != nil {
		return err
	}
	kept := func(r *engine.Run) (set []byte, list []npz.Array, err error) {
		record, err := wanted.Store.Get(r.Key)
		if err != nil {
			return nil, nil, err
		}
		if set, err = record.File(store.SetFile); err != nil {
			return nil, nil, err
		}
		list, err = sets.Unpack(store.SetFile, set)
		return set, list, err
	}
	runs := distinct(plan.Runs, func(r *engine.Run) bool {
		_, _, err := kept(r)
		return err == nil
	})
	names := exportNames(runs)
	written, without, missing := 0, 0, 0
	var damaged []error
	for i, r := range runs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !wanted.Store.Has(r.Key) {
			if err := wanted.Store.Damaged(r.Key); err != nil {
				damaged = append(damaged, err)
			} else {
				missing++
			}
			continue
		}
		set, list, err := kept(r)
		if errors.Is(err, fs.ErrNotExist) {
			without++
			why := "its record keeps no set; -force, with -only for this run, makes it again"
			if r.Method().Info().IgnoresIPC {
				why = "the whole training set is no distilled one"
			}
			fmt.Fprintf(out, "%s: %s\n", names[i], why)
			continue
		}
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		if err := os.MkdirAll(f.exportDir, 0o777); err != nil {
			return fmt.Errorf("-export: %w\nhint: choose another folder", err)
		}
		file := filepath.Join(f.exportDir, names[i])
		if f.export != "png" {
			file += "." + f.export
		}
		if err := exportSet(set, list, file, f.export); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		written++
		fmt.Fprintln(out, file)
	}
	if written == 0 && damaged == nil {
		return usageError(errors.New("-export: none of the selected runs has a record with a set\nhint: run the experiment first; the whole training set is no distilled one, and the records that come along leave large sets out"))
	}
	fmt.Fprintf(out, "%s written; records without a set: %d, runs without a record: %d\n", report.Count(written, "set", "sets"), without, missing)
	return errors.Join(damaged...)
}

// distinct returns one run for each distilled set, which those share that differ in their
// scoring alone: one whose record keeps the set, if there is any.
func distinct(runs []*engine.Run, keeps func(*engine.Run) bool) []*engine.Run {
	var out []*engine.Run
	at := map[string]int{}
	for _, r := range runs {
		i, there := at[r.Makes()]
		switch {
		case !there:
			at[r.Makes()] = len(out)
			out = append(out, r)
		case !keeps(out[i]) && keeps(r):
			out[i] = r
		}
	}
	return out
}

// exportNames returns dataset-method-model-ipc-seed for each run, with the values on
// other axes behind it where that is the name of several.
func exportNames(runs []*engine.Run) []string {
	base, count := make([]string, len(runs)), map[string]int{}
	for i, r := range runs {
		c := r.Cell
		base[i] = strings.Join([]string{c.Dataset, c.Column, c.Model, strconv.Itoa(c.IPC), strconv.FormatUint(r.Seed, 10)}, "-")
		count[base[i]]++
	}
	seen := map[string]bool{}
	for i, r := range runs {
		if count[base[i]] > 1 {
			for _, axis := range slices.Sorted(maps.Keys(r.Cell.Point)) {
				if !slices.Contains([]string{"dataset", "method", "model", "ipc"}, axis) {
					base[i] += "-" + plain(r.Cell.Point[axis])
				}
			}
		}
		if seen[base[i]] {
			base[i] += "-" + r.Key[:8]
		}
		seen[base[i]] = true
	}
	return base
}

// plain writes _ for what has no place in the name of a file.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._+", r) {
			return r
		}
		return '_'
	}, s)
}

// exportSet writes a record's set in another form.
func exportSet(set []byte, list []npz.Array, file, format string) error {
	switch format {
	case "png":
		return exportPictures(list, file)
	case "pt":
		var err error
		if set, err = arrays.Torch(forTorch(list)); err != nil {
			return err
		}
	}
	return report.WriteFile(file, set)
}

// forTorch returns the arrays of a set as PyTorch has them: images as [n, c, h, w] and
// float32, texts of several lines as lists.
func forTorch(list []npz.Array) []npz.Array {
	var out []npz.Array
	for _, a := range list {
		switch a.Name {
		case "images", "pixels":
			x, _ := a.Float32s()
			n, h, w, c := a.Shape[0], a.Shape[1], a.Shape[2], a.Shape[3]
			a = npz.Of(a.Name, []int{n, c, h, w}, sets.ChannelsLast(x, n, h*w, c)) // its own inverse
		case "classes", "notes":
			text, _ := a.Texts()
			a = npz.Texts(a.Name, strings.Split(text[0], "\n"))
		}
		out = append(out, a)
	}
	return out
}

// exportPictures writes a set as a folder of PNG files to look at, whose names say the class,
// and whose values are rounded to bytes.
func exportPictures(list []npz.Array, dir string) error {
	find := func(name string) (a npz.Array, x []float32) {
		for _, one := range list {
			if one.Name == name {
				a = one
			}
		}
		x, _ = a.Float32s()
		return a, x
	}
	pixels, x := find("pixels")
	_, of := find("of")
	n, h, w, c := pixels.Shape[0], pixels.Shape[1], pixels.Shape[2], pixels.Shape[3]
	if c != 1 && c != 3 {
		return fmt.Errorf("images of %d channels are no pictures\nhint: -export pt or npz keeps them", c)
	}
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("%04d-class-%d.png", i, int(of[i])))
		if err := report.WriteFile(name, deflate.PNG(picture(x[i*h*w*c:][:h*w*c], h, w, c))); err != nil {
			return err
		}
	}
	return nil
}

// picture draws an image, grey or in colour.
func picture(x []float32, h, w, c int) image.Image {
	frame := image.Rect(0, 0, w, h)
	shade := func(i int) uint8 { return uint8(math.Round(255 * min(max(float64(x[i]), 0), 1))) }
	if c == 1 {
		grey := image.NewGray(frame)
		for i := range grey.Pix {
			grey.Pix[i] = shade(i)
		}
		return grey
	}
	colour := image.NewNRGBA(frame)
	for i := range h * w {
		colour.SetNRGBA(i%w, i/w, color.NRGBA{shade(3 * i), shade(3*i + 1), shade(3*i + 2), 255})
	}
	return colour
}
