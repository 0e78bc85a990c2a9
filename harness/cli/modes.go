package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"dgkip/harness/engine"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// verifyRecords makes recorded runs again, apart from the records and with the lines
// that their traces have, and compares the files byte for byte.
func (f *flags) verifyRecords(ctx context.Context, out io.Writer, p *engine.Plan, s *store.Store, board *progress.Board) error {
	var done []*engine.Run
	differ := 0
	for _, r := range p.Runs {
		record, err := s.Get(r.Key)
		if err == nil {
			again := *r
			again.Trace = record.Provenance.Trace
			done = append(done, &again)
		} else if err := s.Damaged(r.Key); err != nil {
			fmt.Fprintf(out, "%s: DAMAGED: %s\n", r.Name(), oneLine(err))
			differ++
		}
	}
	if len(done)+differ == 0 {
		return usageError(errors.New("-verify: none of the selected runs has a record\nhint: run the experiment first"))
	}
	// Spread over the plan, so that few runs see many methods.
	n := min(f.verify, len(done))
	all := n + differ
	again := &engine.Plan{Specs: p.Specs}
	for i := range n {
		again.Runs = append(again.Runs, done[i*len(done)/n])
	}
	dir, err := os.MkdirTemp("", "dgkip-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := store.Open(dir)
	outcome, err := engine.Execute(ctx, again, fresh, f.options(board))
	board.Close()
	if err != nil {
		return err
	}
	for _, r := range again.Runs {
		verdict := verifyOne(s, fresh, r.Key)
		if verdict != sameBytes {
			differ++
		}
		fmt.Fprintf(out, "%s: %s\n", r.Name(), verdict)
	}
	fmt.Fprintf(out, "%d of %s verified\n", all-differ, count(all, "record", "records"))
	if differ > 0 || outcome.Failed > 0 {
		return coded{errors.New("records could not be verified"), exitCheck}
	}
	return nil
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

const sameBytes = "same bytes"

// verifyOne compares a record with the one that was made again.
func verifyOne(s, fresh *store.Store, key string) string {
	was, err := s.Get(key)
	if err == nil {
		err = was.Verify()
	}
	if err != nil {
		return "DAMAGED: " + oneLine(err)
	}
	if failure := fresh.Failed(key); failure != nil {
		return "FAILED: " + failure.Message
	}
	is, err := fresh.Get(key)
	if err != nil {
		return "FAILED: " + oneLine(err)
	}
	// The set, which may be left out, is compared by its digest in the result.
	for _, name := range []string{"result.json", "trace.csv", "preview.png"} {
		a, errA := was.File(name)
		b, errB := is.File(name)
		if name == "preview.png" && (errors.Is(errA, fs.ErrNotExist) || errors.Is(errB, fs.ErrNotExist)) {
			continue
		}
		if err := cmp.Or(errA, errB); err != nil {
			return "FAILED: " + oneLine(err)
		}
		if !bytes.Equal(a, b) {
			return "DIFFERS: " + filepath.Join(was.Dir, name)
		}
	}
	return sameBytes
}

// evalFile scores a distilled set from a file as the experiment scores its own:
// once for every different way of scoring among the selected runs.
func (f *flags) evalFile(ctx context.Context, out io.Writer, p *engine.Plan, board *progress.Board) error {
	seen := map[string]bool{}
	scored, unfit := 0, []error(nil)
	for _, r := range p.Runs {
		id := r.Identity
		way := string(spec.Canonical([]any{id.Dataset, id.Model, id.Eval, id.Seed}))
		if seen[way] {
			continue
		}
		seen[way] = true
		set, scores, err := f.scoreAs(ctx, r, board)
		switch {
		case err == nil:
			scored++
			f.printScores(out, r, set, scores)
		case set == nil || ctx.Err() != nil:
			return err
		default: // this way of scoring does not suit the set; another may
			unfit = append(unfit, err)
		}
	}
	if scored > 0 {
		for _, err := range unfit {
			message, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Fprintf(out, "left out: %s\n", message)
		}
		return nil
	}
	if len(unfit) > 0 {
		return errors.Join(unfit...)
	}
	return usageError(fmt.Errorf("-eval %s: no cell is selected to score it\nhint: -exp and -only choose the cell whose scoring is meant", f.eval))
}

// scoreAs reads the file and scores it as a run's own set. There is no set if the
// file cannot be read.
func (f *flags) scoreAs(ctx context.Context, r *engine.Run, board *progress.Board) (*method.Distilled, *method.Scores, error) {
	data, test, err := r.Data.Images(ctx)
	if err != nil {
		return nil, nil, err
	}
	set, err := store.ReadDistilled(f.eval, data)
	if errors.Is(err, store.ErrNotNPZ) {
		return nil, nil, usageError(fmt.Errorf("-eval %s: %w", f.eval, err))
	}
	if err != nil {
		return nil, nil, usageError(fmt.Errorf("-eval for %s: %w\nhint: if the file is of another dataset, -only dataset:NAME selects that", r.Cell.Dataset, err))
	}
	line := board.Start(fmt.Sprintf("%s on %s %s seed %d", filepath.Base(f.eval), r.Cell.Dataset, r.Cell.Model, r.Seed))
	defer line.Done(false, "")
	scores, err := score(ctx, r.Cell.Protocol, method.Trial{
		Data: data, Test: test, Set: set, Model: r.Cell.Net, Seed: r.Seed,
		Shared: new(method.Shared), Own: new(method.Shared), Final: true, Phase: line.Task,
	}, func(s method.Step) { line.Step(s.Update, s.Of, s.Loss, s.HasLoss) })
	if err != nil {
		err = fmt.Errorf("-eval %s on %s as for %s: %w", f.eval, r.Cell.Dataset, r.Cell.Column, err)
	}
	return set, scores, err
}

// printScores prints what a set from a file scores, and what speaks against a
// comparison with the run.
func (f *flags) printScores(out io.Writer, r *engine.Run, set *method.Distilled, scores *method.Scores) {
	id := r.Identity
	fmt.Fprintf(out, "%s, %s, protocol %s as for %s, seed %d: %d images, %.2f %%, errors %v of %v\n", r.Cell.Dataset, r.Cell.Model, id.Eval.Name, r.Cell.Column, r.Seed,
		set.Len(), 100*scores.Metrics["test_acc"], scores.Counts["test_errors"], scores.Counts["test_images"])
	for _, name := range slices.Sorted(maps.Keys(scores.Metrics)) {
		if name != "test_acc" {
			fmt.Fprintf(out, "    %-28s %.6g\n", name, scores.Metrics[name])
		}
	}
	for _, note := range scores.Notes {
		fmt.Fprintf(out, "    note: %s\n", note)
	}
	made, ok := store.ReadRecipe(f.eval)
	if ok && (made.Dataset.Name != id.Dataset.Name || !slices.Equal(made.Dataset.Classes, id.Dataset.Classes)) {
		fmt.Fprintf(out, "    note: it was made of %s, classes %s, and not of these images\n", made.Dataset.Name, strings.Join(made.Dataset.Classes, ", "))
	}
	if ok && (made.Seed != id.Seed || !bytes.Equal(spec.Canonical(made.Model), spec.Canonical(id.Model))) {
		fmt.Fprintf(out, "    note: it was made with seed %d and the networks %s; labels that were solved for belong to those\n", made.Seed, spec.Canonical(made.Model))
	}
}

// score scores a set. A panic is an error here as it is in a run.
func score(ctx context.Context, p method.Protocol, t method.Trial, observe func(method.Step)) (scores *method.Scores, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the protocol %s panicked, which is a mistake in the program: %v\n%s", p.Info().Name, v, debug.Stack())
		}
	}()
	return p.Score(ctx, t, observe)
}
