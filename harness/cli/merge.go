package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"dgkip/harness/report"
	"dgkip/harness/store"
)

// validateMerge reads the remaining arguments as folders of -merge.
func (f *flags) validateMerge(rest []string, given map[string]bool) ([]string, error) {
	if !given["merge"] {
		return rest, nil
	}
	f.folders = append(strings.Split(f.merge, ","), rest...)
	for _, dir := range f.folders {
		if strings.HasPrefix(dir, "-") {
			return nil, usageError(fmt.Errorf("-merge reads all further arguments as folders, including %s\nhint: put other flags before -merge", dir))
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, usageError(fmt.Errorf("-merge %q: there is no such folder\nhint: give the folder that -out named when the records were computed", dir))
		}
	}
	return nil, nil
}

// mergeRecords copies the records of other folders into the folder of -out.
func (f *flags) mergeRecords(ctx context.Context, out io.Writer) error {
	s := store.Open(f.out)
	s.Tidy()
	var problems []error
	code := exitUsage
	for _, dir := range f.folders {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		merged, err := s.Merge(ctx, dir)
		if err != nil {
			problems = append(problems, fmt.Errorf("-merge: %w", err))
		}
		switch {
		case errors.Is(err, store.ErrStorage):
			return errors.Join(problems...)
		case err != nil && ctx.Err() != nil:
			return err
		case errors.Is(err, store.ErrNothing):
		default:
			if err != nil {
				code = exitCheck
			}
			text := fmt.Sprintf("%s: %s added, %d already here", dir, report.Count(merged.Added, "record", "records"), merged.Same)
			if merged.Completed > 0 {
				text += fmt.Sprintf(", of these completed: %d", merged.Completed)
			}
			fmt.Fprintln(out, text)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return coded{err, code}
	}
	return nil
}
