package data

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// What can be wrong with data. Errors of this package wrap one of these, name the
// file, and say on lines of their own, each starting with "hint: ", what to do.
var (
	ErrUnknown   = errors.New("no such dataset")
	ErrMissing   = errors.New("files not found")
	ErrFetch     = errors.New("download failed")
	ErrChecksum  = errors.New("wrong checksum")
	ErrCorrupt   = errors.New("damaged file")
	ErrTruncated = errors.New("file ends early")
	ErrOversized = errors.New("file is longer than it should be")
	ErrMagic     = errors.New("not a file of this kind")
	ErrFormat    = errors.New("unsupported kind of content")
	ErrLabel     = errors.New("label out of range")
	ErrCount     = errors.New("number of images and labels differ")
	ErrShape     = errors.New("unexpected size of images")
	ErrClass     = errors.New("class not available")
	ErrConfig    = errors.New("bad setting")
)

// hinted is an error with advice.
type hinted struct {
	err   error
	hints []string
}

func (h *hinted) Error() string {
	var b strings.Builder
	b.WriteString(h.err.Error())
	for _, line := range h.hints {
		b.WriteString("\nhint: " + line)
	}
	return b.String()
}

func (h *hinted) Unwrap() error { return h.err }

// hint adds a line of advice to err.
func hint(err error, format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	if h, ok := err.(*hinted); ok {
		h.hints = append(h.hints, line)
		return h
	}
	return &hinted{err, []string{line}}
}

// at puts a place in front of err, unless it is there already.
func at(place string, err error) error {
	var file *fs.PathError
	if errors.As(err, &file) && file.Path == place {
		return err
	}
	if h, ok := err.(*hinted); ok {
		return &hinted{fmt.Errorf("%s: %w", place, h.err), h.hints}
	}
	return fmt.Errorf("%s: %w", place, err)
}

// several is more than one error of one kind.
type several struct {
	what string
	errs []error
}

func (s *several) Error() string {
	text := s.what + ":"
	for _, err := range s.errs {
		text += "\n  " + strings.ReplaceAll(err.Error(), "\n", "\n  ")
	}
	return text
}

func (s *several) Unwrap() []error { return s.errs }

// gather makes one error of several, with each piece of advice once.
func gather(what string, errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	if len(errs) == 1 {
		return errs[0]
	}
	all := &several{what: what}
	var hints []string
	for _, err := range errs {
		if h, ok := err.(*hinted); ok {
			err = h.err
			for _, line := range h.hints {
				if !slices.Contains(hints, line) {
					hints = append(hints, line)
				}
			}
		}
		all.errs = append(all.errs, err)
	}
	if hints == nil {
		return all
	}
	return &hinted{all, hints}
}
