package data

import (
	"crypto/sha256"
	"fmt"
)

// apart compares the test images with the training images. It returns an error if every test
// image is also a training image, unless the test set was split off the training set. If only some
// are, the set gets a note.
func (s *Set) apart() error {
	dim, seen := s.Dim(), map[[sha256.Size]byte]bool{}
	for i := range s.Train.Len() {
		seen[sha256.Sum256(s.Train.Images[i*dim:(i+1)*dim])] = true
	}
	twins := 0
	for i := range s.Test.Len() {
		if seen[sha256.Sum256(s.Test.Images[i*dim:(i+1)*dim])] {
			twins++
		}
	}
	switch {
	case twins == 0:
		return nil
	case twins == s.Test.Len() && !s.divided:
		err := fmt.Errorf("%w: every test image is also a training image", ErrConfig)
		return hint(err, "use other test images, or leave out test: a part of each class is then set aside")
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%s: %d of %d test images are also training images", s.Name, twins, s.Test.Len()))
	return nil
}
