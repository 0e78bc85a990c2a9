package data

import (
	"context"
	"fmt"
	"strings"
)

// mnistFiles are images and labels, training then test.
var mnistFiles = [4]string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}

// loadMNIST reads the four idx files in dir.
func loadMNIST(ctx context.Context, s *source, dir string, _ []bool) (*contents, error) {
	var paths [4]string
	for i, name := range mnistFiles {
		dotted := strings.Replace(name, "-idx", ".idx", 1) // some unpackers rename so
		if paths[i] = first(dir, name+".gz", name, dotted+".gz", dotted); paths[i] == "" {
			return nil, errAbsent
		}
	}
	c := &contents{names: s.classes, h: s.h, w: s.w, ch: s.ch, files: paths[:]}
	sums := map[string]string{}
	for i, split := range []*Split{&c.train, &c.test} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var h, w, ch int
		var err error
		if *split, h, w, ch, err = loadIDX(paths[2*i], paths[2*i+1], len(s.classes), sums); err != nil {
			return nil, err
		}
		if h != s.h || w != s.w || ch != s.ch {
			return nil, at(paths[2*i], fmt.Errorf("%w: %dx%dx%d, expected %dx%dx%d", ErrShape, h, w, ch, s.h, s.w, s.ch))
		}
	}
	c.verified = true
	for i, name := range mnistFiles {
		c.verified = c.verified && sums[paths[i]] == s.files[name]
	}
	return c, nil
}
