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

	H, W, Ch    int
	Train, Test Split

	Digest   string   // SHA-256 of shape, images and labels, in hexadecimal
	Verified bool     // pixels and labels are known to be the published ones
	Files    []string // the files that were read
	Notes    []string // remarks, such as how many files of a folder were not read
}

// Split is the training or the test part of a Set.
type Split struct {
	Images []byte // [n, h, w, channel]
	Labels []int  // [n]
}

// Len returns the number of images.
func (s Split) Len() int { return len(s.Labels) }

// Dim returns the number of values of an image.
func (s *Set) Dim() int { return s.H * s.W * s.Ch }

// shape is the size of an image.
type shape struct{ h, w, ch int }

func (s shape) dim() int { return s.h * s.w * s.ch }

func (s shape) String() string { return fmt.Sprintf("%dx%dx%d", s.h, s.w, s.ch) }

// contents is a dataset as read, before classes are chosen. To save memory, it may have the images of
// the wanted classes only.
type contents struct {
	names []string
	shape
	train, test Split
	counts      [][]int // numbers of images by split and class, if train and test lack some
	convert     bool    // convert images to ch channels while reading
	drawn       bool    // drawn by this package
	verified    bool
	files       []string
	divided     bool     // the test images were set aside from the training images
	notes       []string // as in Set
}

// choose returns the Set of the given classes, or of all classes if the list is nil.
func (c *contents) choose(name string, classes []int) (*Set, error) {
	s := &Set{Name: name, BuiltIn: c.drawn, H: c.h, W: c.w, Ch: c.ch, Verified: c.verified, Files: c.files, Notes: c.notes}
	label, err := relabel(c.names, classes)
	if err != nil {
		return nil, err
	}
	if s.Numbers = slices.Clone(classes); classes == nil {
		s.Numbers = label
	}
	for _, number := range s.Numbers {
		s.Classes = append(s.Classes, c.names[number])
	}
	for part, where := range []string{"training", "test"} {
		for _, number := range s.Numbers {
			if c.count(part, number) == 0 {
				err := fmt.Errorf("%w: no %s images of class %d (%s)", ErrClass, where, number, c.names[number])
				if list := c.present(); len(list) > 0 {
					err = hint(err, "choose among the classes with images: %s", strings.Join(list, ", "))
				}
				if part == 1 && c.divided {
					err = hint(err, "without a test set, each class needs at least two images")
				}
				return nil, err
			}
		}
	}
	s.Train, s.Test = c.train.pick(label, c.dim()), c.test.pick(label, c.dim())
	s.Digest = s.digest()
	return s, nil
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

// present lists the classes that have images in both splits.
func (c *contents) present() []string {
	var list []string
	for k, name := range c.names {
		if c.count(0, k) > 0 && c.count(1, k) > 0 {
			list = append(list, fmt.Sprintf("%d (%s)", k, name))
		}
	}
	return list
}

// count returns the number of images of class k in the training (0) or test (1) split.
func (c *contents) count(split, k int) int {
	if c.counts != nil {
		return c.counts[split][k]
	}
	n := 0
	for _, l := range [2]Split{c.train, c.test}[split].Labels {
		if l == k {
			n++
		}
	}
	return n
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
