package data

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// tiny returns a dataset of 2x1 images. Their first value is the class, and the second the position.
func tiny() *Set {
	c := &Set{Name: "tiny", Classes: []string{"a", "b", "c", "d"}, Shape: Shape{2, 1, 1}}
	for i, l := range []int{2, 0, 1, 2, 1, 0, 0} {
		c.Train.Images = append(c.Train.Images, byte(l), byte(i))
		c.Train.Labels = append(c.Train.Labels, l)
	}
	for i, l := range []int{1, 2, 0, 1, 3} {
		c.Test.Images = append(c.Test.Images, byte(l), byte(i))
		c.Test.Labels = append(c.Test.Labels, l)
	}
	return c
}

func TestChoose(t *testing.T) {
	s, err := tiny().choose([]int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Classes, []string{"c", "a"}) || !slices.Equal(s.Numbers, []int{2, 0}) {
		t.Errorf("classes %v %v", s.Classes, s.Numbers)
	}
	if !slices.Equal(s.Train.Labels, []int{0, 1, 0, 1, 1}) || !slices.Equal(s.Test.Labels, []int{0, 1}) {
		t.Errorf("labels %v %v", s.Train.Labels, s.Test.Labels)
	}
	if !slices.Equal(s.Train.Images, []byte{2, 0, 0, 1, 2, 3, 0, 5, 0, 6}) {
		t.Errorf("images %v", s.Train.Images)
	}
}

func TestFirst(t *testing.T) {
	all, err := tiny().choose([]int{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	s, err := all.First(1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Train.Labels, []int{0, 1}) || !slices.Equal(s.Train.Images, []byte{2, 0, 0, 1}) {
		t.Errorf("labels %v, images %v", s.Train.Labels, s.Train.Images)
	}
	if s.Digest == all.Digest || s.Test.Len() != all.Test.Len() || all.Train.Len() != 5 {
		t.Error("the digest did not change, or other images were removed")
	}
	if _, err := all.First(3); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "class c has only 2") {
		t.Error(err)
	}
}

func TestChooseErrors(t *testing.T) {
	for _, c := range []struct {
		classes []int
		text    string
	}{
		{nil, "no training images of class 3 (d)"},
		{[]int{0, 3}, "hint: choose among the classes with images: 0 (a), 1 (b), 2 (c)"},
		{[]int{0, 4}, "there is no class 4"},
		{[]int{-1}, "hint: classes go from 0 (a) to 3 (d)"},
		{[]int{1, 1}, "class 1 is listed twice"},
		{[]int{}, "the list is empty"},
	} {
		_, err := tiny().choose(c.classes)
		if !errors.Is(err, ErrClass) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: got %v, want %q", c.classes, err, c.text)
		}
	}
}

// TestDigest checks what is part of a set's identity, and what is not.
func TestDigest(t *testing.T) {
	digest := func(change func(c *Set), classes ...int) string {
		c := tiny()
		change(c)
		s, err := c.choose(classes)
		if err != nil {
			t.Fatal(err)
		}
		return s.Digest
	}
	none := func(*Set) {}
	want := digest(none, 0, 1)
	same := map[string]string{
		"names":        digest(func(c *Set) { c.Classes = []string{"w", "x", "y", "z"} }, 0, 1),
		"other images": digest(func(c *Set) { c.Train.Images[1] = 99 }, 0, 1),
		"files":        digest(func(c *Set) { c.Files, c.Verified = []string{"f"}, true }, 0, 1),
		"a cut": digest(func(c *Set) {
			c.Train, c.Test = c.Train.pick([]int{0, 1, -1, -1}, 2), c.Test.pick([]int{0, 1, -1, -1}, 2)
		}, 0, 1),
	}
	for name, got := range same {
		if got != want {
			t.Errorf("%s changed the digest", name)
		}
	}
	other := map[string]string{
		"order of classes": digest(none, 1, 0),
		"more classes":     digest(none, 0, 1, 2),
		"a pixel":          digest(func(c *Set) { c.Train.Images[3] = 99 }, 0, 1),
		"a test pixel":     digest(func(c *Set) { c.Test.Images[1] = 99 }, 0, 1),
		"a label":          digest(func(c *Set) { c.Train.Labels[1] = 1 }, 0, 1),
		"shape":            digest(func(c *Set) { c.H, c.W = 1, 2 }, 0, 1),
		"channels":         digest(func(c *Set) { c.H, c.Ch = 1, 2 }, 0, 1),
	}
	for name, got := range other {
		if got == want {
			t.Errorf("%s did not change the digest", name)
		}
	}
}

// TestGoldenDigest freezes the encoding that the digest is computed from.
func TestGoldenDigest(t *testing.T) {
	s, err := tiny().choose([]int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := "f0ec5b7f6bb62735dc481f784a091fd5bca8eafac7276a478ae00ad3b4b35062"; s.Digest != want {
		t.Errorf("digest %s", s.Digest)
	}
}
