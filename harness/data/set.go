package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Set is a dataset restricted to some of its classes. Its slices must not be changed, because other
// Sets may share them.
type Set struct {
	Name    string
	BuiltIn bool     // drawn by this package; tables must say so
	Classes []string // names of the classes with labels 0, 1, ...
	Numbers []int    // numbers of these classes in the whole dataset

	Shape
	Train, Test Split

	Digest   string   // SHA-256 of shape, images and labels, in hexadecimal
	Verified bool     // pixels and labels are known to be the published ones
	Files    []string // the files that were read
	Notes    []string // remarks, such as how many files of a folder were not read

	divided bool // the test images were set aside from the training images
}

// Split is the training or the test part of a Set.
type Split struct {
	Images []byte // [n, h, w, channel]
	Labels []int  // [n]
}

// Len returns the number of images.
func (s Split) Len() int { return len(s.Labels) }

// counts returns the number of images of each class.
func (s Split) counts(classes int) []int {
	n := make([]int, classes)
	for _, l := range s.Labels {
		n[l]++
	}
	return n
}

// Shape is the size of an image: height, width and channels.
type Shape struct{ H, W, Ch int }

// Dim returns the number of values of an image.
func (s Shape) Dim() int { return s.H * s.W * s.Ch }

func (s Shape) text() string { return fmt.Sprintf("%dx%dx%d", s.H, s.W, s.Ch) }

// choose returns the part of a whole dataset with the given classes, or with all classes if the list is nil.
func (s *Set) choose(classes []int) (*Set, error) {
	label, err := relabel(s.Classes, classes)
	if err != nil {
		return nil, err
	}
	out := *s
	if out.Numbers = slices.Clone(classes); classes == nil {
		out.Numbers = label
	}
	out.Classes = nil
	train, test := s.Train.counts(len(s.Classes)), s.Test.counts(len(s.Classes))
	for _, number := range out.Numbers {
		if train[number] == 0 || test[number] == 0 {
			return nil, s.lacks(number, train, test)
		}
		out.Classes = append(out.Classes, s.Classes[number])
	}
	out.Train, out.Test = s.Train.pick(label, s.Dim()), s.Test.pick(label, s.Dim())
	out.Digest = out.digest()
	return &out, nil
}

// lacks returns the error for a class without training images or test images. train and test are the
// numbers of images of each class.
func (s *Set) lacks(number int, train, test []int) error {
	where := "training"
	if train[number] > 0 {
		where = "test"
	}
	err := fmt.Errorf("%w: no %s images of class %d (%s)", ErrClass, where, number, s.Classes[number])
	var present []string
	for k, name := range s.Classes {
		if train[k] > 0 && test[k] > 0 {
			present = append(present, fmt.Sprintf("%d (%s)", k, name))
		}
	}
	if len(present) > 0 {
		err = hint(err, "choose among the classes with images: %s", strings.Join(present, ", "))
	}
	if train[number] > 0 && s.divided {
		err = hint(err, "without a test set, each class needs at least two images")
	}
	return err
}

// First returns the set with the first n training images of each class, and all its test images. It
// returns an error if a class has fewer.
func (s *Set) First(n int) (*Set, error) {
	out, seen := *s, make([]int, len(s.Classes))
	out.Train = Split{}
	for i, l := range s.Train.Labels {
		if seen[l]++; seen[l] <= n {
			out.Train.Images = append(out.Train.Images, s.Train.Images[i*s.Dim():(i+1)*s.Dim()]...)
			out.Train.Labels = append(out.Train.Labels, l)
		}
	}
	for l, have := range seen {
		if have < n {
			err := fmt.Errorf("%w: images = %d, but class %s has only %d training images", ErrConfig, n, s.Classes[l], have)
			return nil, at(s.Name, hint(err, "lower images, or leave it out to use all"))
		}
	}
	out.Digest = out.digest()
	return &out, nil
}

// relabel returns the new label of each class of a dataset, its place among the chosen classes, or -1.
func relabel(names []string, classes []int) ([]int, error) {
	label := make([]int, len(names))
	for k := range label {
		if label[k] = -1; classes == nil {
			label[k] = k
		}
	}
	for l, k := range classes {
		if k < 0 || k >= len(names) {
			err := fmt.Errorf("%w: there is no class %d", ErrClass, k)
			return nil, hint(err, "classes go from 0 (%s) to %d (%s)", names[0], len(names)-1, names[len(names)-1])
		}
		if label[k] >= 0 {
			return nil, hint(fmt.Errorf("%w: class %d is listed twice", ErrClass, k), "name each class once")
		}
		label[k] = l
	}
	if classes != nil && len(classes) == 0 {
		return nil, hint(fmt.Errorf("%w: the list is empty", ErrClass), "leave out classes to use all %d", len(names))
	}
	return label, nil
}

// pick keeps the images whose class l has label[l] >= 0, and relabels them label[l].
func (s Split) pick(label []int, dim int) Split {
	n, same := 0, true
	for _, l := range s.Labels {
		if label[l] >= 0 {
			n++
		}
		same = same && label[l] == l
	}
	if same {
		return s
	}
	out := Split{make([]byte, 0, n*dim), make([]int, 0, n)}
	for i, l := range s.Labels {
		if label[l] >= 0 {
			out.Images = append(out.Images, s.Images[i*dim:(i+1)*dim]...)
			out.Labels = append(out.Labels, label[l])
		}
	}
	return out
}

// digest computes the field Digest. All numbers are encoded with a fixed width, counts first, so that no two
// sets have the same encoding.
func (s *Set) digest() string {
	b := []byte("dgkip/data/1")
	for _, n := range []int{s.H, s.W, s.Ch, len(s.Classes), s.Train.Len(), s.Test.Len()} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	h := sha256.New()
	h.Write(b)
	for _, split := range []Split{s.Train, s.Test} {
		h.Write(split.Images)
		b = b[:0]
		for _, l := range split.Labels {
			b = binary.BigEndian.AppendUint32(b, uint32(l))
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}
