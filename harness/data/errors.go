package data

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"dgkip/harness/sets"
)

// Fault is the type of the errors below.
type Fault = sets.Fault

// The kinds of errors of data. Errors of this package wrap one of these, name the
// file, and end with lines that start with "hint: " and give instructions.
const (
	ErrUnknown   = Fault("no such dataset")
	ErrMissing   = Fault("files not found")
	ErrFetch     = Fault("download failed")
	ErrChecksum  = Fault("wrong checksum")
	ErrCorrupt   = sets.ErrCorrupt
	ErrTruncated = sets.ErrTruncated
	ErrOversized = sets.ErrOversized
	ErrMagic     = sets.ErrMagic
	ErrFormat    = sets.ErrFormat
	ErrLabel     = Fault("label out of range")
	ErrCount     = Fault("number of images and labels differ")
	ErrShape     = Fault("unexpected size of images")
	ErrClass     = Fault("class not available")
	ErrConfig    = Fault("bad setting")
)

// hint adds a line of advice to err.
func hint(err error, format string, args ...any) error {
	return fmt.Errorf("%w\nhint: %s", err, fmt.Sprintf(format, args...))
}

// at puts a place in front of err, unless it is there already.
func at(place string, err error) error {
	var file *fs.PathError
	if errors.As(err, &file) && file.Path == place || strings.HasPrefix(err.Error(), place+":") {
		return err
	}
	return fmt.Errorf("%s: %w", place, err)
}
