package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dgkip/baselines/file"
	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/sets"
	"dgkip/harness/store"
)

// evaluation is a run that scores the file, and the run whose protocol it uses.
type evaluation struct{ run, as *engine.Run }

// evalFile scores a distilled set from a file as the experiment scores its own sets, once for every
// protocol of the selected runs. The results are records of method file.
func (f *flags) evalFile(ctx context.Context, out io.Writer, wanted request, board *progress.Board) error {
	all, err := f.evaluations(wanted.Plan)
	if err != nil {
		return err
	}
	s, plan := wanted.Store, &engine.Plan{Opened: wanted.Plan.Opened}
	for _, e := range all {
		plan.Runs = append(plan.Runs, e.run)
	}
	options := f.options(board)
	options.Retry, options.Disk = time.Now(), f.openCache(wanted, board)
	_, err = engine.Execute(ctx, plan, s, options)
	board.Close()
	if err != nil {
		return err
	}
	scored, unfit := 0, []error(nil)
	for _, e := range all {
		if failure := s.Failed(e.run.Key); failure != nil { // this protocol does not suit the set, but another one may
			why := failure.Message
			if failure.Kind != "error" {
				why = failure.Kind + ": " + why
			}
			unfit = append(unfit, fmt.Errorf("-eval %s on %s with the protocol of %s: %s", f.eval, e.run.Cell.Dataset, e.as.Cell.Column, why))
			s.ClearFailed(e.run.Key)
			continue
		}
		record, err := s.Get(e.run.Key)
		if err != nil {
			return err
		}
		scored++
		f.printScores(out, e, record)
	}
	if scored == 0 {
		return errors.Join(unfit...)
	}
	for _, err := range unfit {
		message, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(out, "left out: %s\n", message)
	}
	return nil
}

// evaluations reads the file, and returns the runs that score it.
func (f *flags) evaluations(p *engine.Plan) (all []evaluation, err error) {
	seen, alone := map[string]bool{}, columnOfFiles(p)
	for _, r := range p.Runs {
		id := r.Identity
		way := string(experiment.Canonical([]any{id.Dataset, id.Model, id.Eval, id.Seed}))
		if seen[way] {
			continue
		}
		seen[way] = true
		var like *file.File
		if alone {
			like = r.Method().(*file.File)
		}
		m, ipc, err := file.Any(f.eval, r.Data.Outline(), like)
		if errors.Is(err, sets.ErrMagic) || errors.Is(err, sets.ErrCorrupt) || errors.Is(err, sets.ErrTruncated) {
			return nil, usageError(fmt.Errorf("-eval: %w", err))
		}
		if err != nil {
			return nil, usageError(fmt.Errorf("-eval for %s: %w\nhint: if the file belongs to another dataset, select that dataset by -only dataset:NAME\nhint: a [method.NAME] with use = \"file\" in an experiment can supply what the file lacks; -only method:NAME then reads this file with its settings", r.Cell.Dataset, err))
		}
		all = append(all, evaluation{r.Instead(filepath.Base(f.eval), m, ipc), r})
	}
	if len(all) == 0 {
		return nil, usageError(fmt.Errorf("-eval %s: no cell is selected\nhint: use -exp and -only to choose a cell, whose protocol then scores the set", f.eval))
	}
	return all, nil
}

// columnOfFiles reports whether all selected runs belong to one column of files. Its settings then
// also apply to the new file.
func columnOfFiles(p *engine.Plan) bool {
	return !slices.ContainsFunc(p.Runs, func(r *engine.Run) bool {
		_, files := r.Method().(*file.File)
		return !files || r.Cell.Column != p.Runs[0].Cell.Column
	})
}

// printScores prints the scores of a set from a file, and warnings about the comparison with the run.
func (f *flags) printScores(out io.Writer, e evaluation, record *store.Record) {
	id, c, result := e.as.Identity, e.as.Cell, record.Result
	fmt.Fprintf(out, "%s, %s, protocol %s of %s, seed %d: %d images, %.2f %%, %s of %d test images wrong\n", c.Dataset, c.Model, id.Eval.Name, c.Column, e.as.Seed,
		result.Images, 100*result.Metrics["test_acc"], strings.Trim(fmt.Sprint(result.Counts["test_errors"]), "[]"), result.Counts["test_images"][0])
	fmt.Fprintf(out, "    %s; the networks of the cell are %s\n", scoring(e.run, record), experiment.Canonical(id.Model))
	for _, name := range slices.Sorted(maps.Keys(result.Metrics)) { // the record holds all metrics
		if name != "test_acc" && method.IsScore(name) || name == "draws_sd" {
			fmt.Fprintf(out, "    %-28s %.6g\n", name, result.Metrics[name])
		}
	}
	for _, note := range result.Notes {
		fmt.Fprintf(out, "    note: %s\n", note)
	}
	fmt.Fprintf(out, "    record: %s\n", filepath.ToSlash(record.Dir))
	made, ok := store.ReadRecipe(f.eval)
	if ok && (made.Dataset.Name != id.Dataset.Name || !slices.Equal(made.Dataset.Classes, id.Dataset.Classes)) {
		fmt.Fprintf(out, "    note: the set was distilled from %s, classes %s, not from these images\n", made.Dataset.Name, strings.Join(made.Dataset.Classes, ", "))
	}
	if ok && (made.Seed != id.Seed || !bytes.Equal(experiment.Canonical(made.Model), experiment.Canonical(id.Model))) {
		fmt.Fprintf(out, "    note: the set was distilled with seed %d and the networks %s; solved labels belong to those networks\n", made.Seed, experiment.Canonical(made.Model))
	}
}

// scoring describes how a set was scored: the family of the number and the protocol's settings.
func scoring(r *engine.Run, record *store.Record) string {
	family := method.FamilyOf("test_acc", r.Method(), r.Cell.Protocol)
	return fmt.Sprintf("protocol family %s (%s), with %s", family, family.Known().About, experiment.Canonical(record.Result.Identity.Eval.Settings))
}
