package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

const limitForm = "write it like 55m or 3h30m"

// validateWorkers checks the flags of workers.
func (f *flags) validateWorkers(given map[string]bool) error {
	if given["submit"] && f.submit != "slurm" {
		return usageError(fmt.Errorf("-submit %q: the only batch system is slurm", f.submit))
	}
	if given["submit"] && !given["workers"] {
		return usageError(errors.New("-submit needs -workers N\nhint: such as -workers 10"))
	}
	if given["workers"] && !given["submit"] && !given["worker"] {
		return usageError(errors.New("-workers has no effect without -submit or -worker\nhint: -worker makes this process one of several"))
	}
	if given["for"] && f.limit <= 0 {
		return usageError(fmt.Errorf("-for %v: must be positive\nhint: %s", f.limit, limitForm))
	}
	return nil
}

// spread waits for a random time if several workers start together, so that they do not all read
// the folder at once.
func (f *flags) spread(ctx context.Context) error {
	if !f.worker || f.workers < 2 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(rand.N(min(time.Duration(f.workers)*2*time.Second, 2*time.Minute))):
		return nil
	}
}

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
