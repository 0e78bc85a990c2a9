package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"dgkip/harness/report"
	"dgkip/harness/store"
)

// mergeRecords copies the records of other folders into the folder of -out.
func (f *flags) mergeRecords(ctx context.Context, out io.Writer) error {
	s := store.Open(f.out)
	s.Tidy()
	var problems []error
	code := exitCheck
	for _, dir := range f.folders {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		added, same, err := s.Merge(ctx, dir)
		if err != nil {
			problems = append(problems, fmt.Errorf("-merge: %w", err))
		}
		switch {
		case errors.Is(err, store.ErrStorage):
			return errors.Join(problems...)
		case err != nil && ctx.Err() != nil:
			return err
		case errors.Is(err, store.ErrNothing):
			code = exitUsage
		default:
			fmt.Fprintf(out, "%s: %s added, %d already here\n", dir, report.Count(added, "record", "records"), same)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return coded{err, code}
	}
	return nil
}
