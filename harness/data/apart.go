package data

import (
	"crypto/sha256"
	"fmt"
)

// apart holds the test images against the training images. A test set that is a part of
// the training set tests nothing; some twins are only noted, as people's pictures often
// have them.
func (s *Set) apart(divided bool) error {
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
	case twins == s.Test.Len() && !divided:
		err := fmt.Errorf("%w: every test image is a training image, too", ErrConfig)
		return hint(err, "give test images of their own, or none: then a part of each class is set aside")
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%s: %d of %d test images are training images, too", s.Name, twins, s.Test.Len()))
	return nil
}
