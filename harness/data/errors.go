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

// The kinds of errors. An error in the content of a file or in a setting wraps one of them; errors of
// the file system do not. Lines that start with "hint: " are instructions.
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
	ErrCount     = Fault("numbers of images and labels differ")
	ErrShape     = Fault("unexpected image size")
	ErrClass     = Fault("class not available")
	ErrConfig    = Fault("bad setting")
)

// hint adds a line of advice to err.
func hint(err error, format string, args ...any) error {
	return fmt.Errorf("%w\nhint: %s", err, fmt.Sprintf(format, args...))
}

// at prefixes err with a place, unless err already names it.
func at(place string, err error) error {
	var file *fs.PathError
	if errors.As(err, &file) && file.Path == place || strings.HasPrefix(err.Error(), place+":") {
		return err
	}
	return fmt.Errorf("%s: %w", place, err)
}
