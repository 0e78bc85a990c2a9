package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dgkip/harness/engine"
	"dgkip/harness/report"
	"dgkip/harness/sets"
	"dgkip/harness/store"
)

// exportFormats are the file formats for other programs.
var exportFormats = []string{"pt", "npz", "half", "png"}

// exportSets writes the sets of the selected records, one file for each, and a card.
func (f *flags) exportSets(ctx context.Context, out, errOut io.Writer, wanted request) error {
	plan, err := onRecord(ctx, wanted.Store, wanted.Specs, wanted.Only) // without runs that only supply times
	if err != nil {
		return err
	}
	printGone(errOut, plan)
	runs := distinct(plan.Runs, func(r *engine.Run) bool {
		_, err := f.convert(wanted.Store, r)
		return err == nil
	})
	names := exportNames(runs)
	write := func(name string, content []byte) error {
		file := filepath.Join(f.exportDir, name)
		if err := report.WriteNew(file, content); err != nil {
			return fmt.Errorf("-export: %s: %w", file, err)
		}
		return nil
	}
	var damaged []error
	var written []setFile
	without, missing := 0, 0
	for i, r := range runs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		set, err := f.convert(wanted.Store, r)
		absent := errors.Is(err, fs.ErrNotExist)
		switch {
		case absent && !wanted.Store.Has(r.Key):
			missing++
			continue
		case absent:
			if !r.Method().Info().IgnoresIPC { // no record has the whole training set
				without++
			}
			continue
		case err != nil:
			damaged = append(damaged, err)
			continue
		}
		if err := os.MkdirAll(f.exportDir, 0o777); err != nil {
			return fmt.Errorf("-export: %w\nhint: choose another folder", err)
		}
		set.name = names[i] + "." + f.export
		if f.export == "half" {
			set.name = names[i] + ".npz"
		}
		if err := write(set.name, set.content); err != nil {
			return err
		}
		set.content = nil // large
		written = append(written, set)
	}
	if len(written) == 0 && damaged == nil {
		return usageError(errors.New("-export: none of the selected runs has a record with a set\nhint: run the experiment first; the whole training set is not exported, and the records in this repository do not contain large sets"))
	}
	fmt.Fprintf(out, "%s written to %s", report.Count(len(written), "set", "sets"), f.exportDir)
	if missing > 0 {
		fmt.Fprintf(out, "; not run: %d", missing)
	}
	if without > 0 {
		fmt.Fprintf(out, "; without the set in the record: %d\nhint: for records without a set, compute the runs again by -exp with -only and -force", without)
	}
	fmt.Fprintln(out)
	if f.export != "png" && len(written) > 0 {
		text, err := f.card(wanted.Specs, written)
		if err == nil {
			err = write("README.md", text)
		}
		damaged = append(damaged, err)
	}
	return errors.Join(damaged...)
}

// setFile is the set of a record in the chosen format.
type setFile struct {
	name       string
	content    []byte
	run        *engine.Run
	record     *store.Record
	kind, loss string // of the labels; empty for pictures
}

// convert returns the set of a run's record in the chosen format.
func (f *flags) convert(s *store.Store, r *engine.Run) (out setFile, err error) {
	out.run = r
	if out.record, err = s.Get(r.Key); err != nil {
		return out, err
	}
	if f.export == "png" {
		out.content, err = out.record.File("preview.png")
		return out, err
	}
	if out.content, err = out.record.File(store.SetFile); err != nil {
		return out, err
	}
	arrays, err := sets.Unpack(store.SetFile, out.content)
	if err != nil {
		return out, err
	}
	out.kind, out.loss = textIn(arrays, "label_kind"), textIn(arrays, "loss")
	switch f.export {
	case "pt":
		out.content, err = sets.Torch(arrays)
	case "half":
		out.content, err = sets.Encode(sets.Half(arrays))
	}
	return out, err
}

// distinct returns one run for each distilled set. Runs that only differ in their protocol share a
// set. It prefers a run whose record keeps the set.
func distinct(runs []*engine.Run, keeps func(*engine.Run) bool) []*engine.Run {
	var out []*engine.Run
	at := map[string]int{}
	for _, r := range runs {
		set := r.Set().Key()
		i, there := at[set]
		switch {
		case !there:
			at[set] = len(out)
			out = append(out, r)
		case !keeps(out[i]) && keeps(r):
			out[i] = r
		}
	}
	return out
}

// exportNames returns dataset-method-model-ipc-seed for each run. It adds the values on other axes if
// several runs have the same name.
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

// plain replaces characters that file names should not have by _.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._+", r) {
			return r
		}
		return '_'
	}, s)
}
