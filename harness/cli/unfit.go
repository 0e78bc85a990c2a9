package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/engine"
)

const shownCells = 10 // cells named for one mistake

// alike joins equal errors of several cells, which differ only in values that do not affect the
// error, such as ipc.
func alike(err error) error {
	type fault struct{ file, cause string }
	var others []error
	var faults []fault // in the order of the grid
	cells := map[fault][]string{}
	for _, e := range each(err) {
		unfit := new(engine.Unfit)
		if !errors.As(e, &unfit) {
			others = append(others, e)
			continue
		}
		for _, cause := range each(unfit.Err) {
			f := fault{unfit.File, cause.Error()}
			if cells[f] == nil {
				faults = append(faults, f)
			}
			if !slices.Contains(cells[f], unfit.Cell) {
				cells[f] = append(cells[f], unfit.Cell)
			}
		}
	}
	for _, f := range faults {
		others = append(others, errors.New(f.file+": "+cellsText(cells[f], f.cause)))
	}
	if len(faults) > 0 {
		others = append(others, errors.New("hint: to leave cells out of the grid, add an [[exclude]] with when = { ... } and a reason"))
	}
	return errors.Join(others...)
}

// each returns the errors that errors.Join has joined. Errors with several causes by fmt.Errorf
// stay one error, because they have a text of their own.
func each(err error) []error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		if all := errors.Join(several.Unwrap()...); all != nil && all.Error() == err.Error() {
			return several.Unwrap()
		}
	}
	return []error{err}
}

// cellsText describes an error of cells. The name of a single cell is in front of the error;
// several names are below it.
func cellsText(cells []string, cause string) string {
	if len(cells) == 1 {
		return cells[0] + ": " + cause
	}
	message, hint, hinted := strings.Cut(cause, "\n")
	lines := []string{fmt.Sprintf("%d cells: %s", len(cells), message)}
	for i, cell := range cells {
		if i == shownCells {
			lines = append(lines, fmt.Sprintf("  and %d more", len(cells)-i))
			break
		}
		lines = append(lines, "  "+cell)
	}
	if hinted {
		lines = append(lines, hint)
	}
	return strings.Join(lines, "\n")
}
