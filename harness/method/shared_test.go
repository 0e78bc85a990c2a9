package method

import (
	"io"
	"testing"
)

// shelf is a disk that keeps nothing.
type shelf struct{}

func (shelf) Load(string, func(io.Reader) error) bool   { return false }
func (shelf) Save(string, int64, func(io.Writer) error) {}

func TestSharedDisk(t *testing.T) {
	if (*Shared)(nil).Disk() != nil {
		t.Error("a nil Shared has a disk")
	}
	s := new(Shared)
	if s.Disk() != nil {
		t.Error("a new Shared has a disk")
	}
	s = s.With(shelf{})
	s.Clear()
	if s.Disk() != (shelf{}) {
		t.Error("Clear removed the disk")
	}
	if s.With(nil).Disk() != nil {
		t.Error("With(nil) did not remove the disk")
	}
}
