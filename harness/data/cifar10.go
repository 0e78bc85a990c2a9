package data

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
)

// cifarFiles are the training batches, then the test batch.
var cifarFiles = [6]string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}

const cifarArchive = "cifar-10-binary.tar.gz"

// loadCIFAR reads the six batches in dir, or the archive of them.
func loadCIFAR(ctx context.Context, s *source, dir string, wanted []bool) (*contents, error) {
	b := &batches{source: s, wanted: wanted, sums: map[string]string{}}
	for k := range b.counts {
		b.counts[k] = make([]int, len(s.classes))
	}
	var paths []string
	for _, name := range cifarFiles {
		if p := first(dir, name, name+".gz"); p != "" {
			paths = append(paths, p)
		}
	}
	if len(paths) < len(cifarFiles) {
		archive := first(dir, cifarArchive)
		if archive == "" {
			return nil, errAbsent
		}
		paths = []string{archive}
		if err := b.archive(ctx, archive); err != nil {
			return nil, at(archive, err)
		}
	} else {
		for i, p := range paths {
			if err := b.file(ctx, cifarFiles[i], p); err != nil {
				return nil, at(p, err)
			}
		}
	}
	c := &contents{names: s.classes, h: s.h, w: s.w, ch: s.ch, counts: b.counts[:], files: paths, verified: true}
	for i, name := range cifarFiles {
		split := &c.train
		if i == len(cifarFiles)-1 {
			split = &c.test
		}
		split.Images = append(split.Images, b.parts[i].Images...)
		split.Labels = append(split.Labels, b.parts[i].Labels...)
		b.parts[i] = Split{}
		c.verified = c.verified && b.sums[name] == s.files[name]
	}
	return c, nil
}

// batches gathers the parts of CIFAR-10, which an archive holds in any order.
type batches struct {
	*source
	wanted []bool
	parts  [6]Split
	counts [2][]int
	sums   map[string]string
}

func (b *batches) read(name string, r io.Reader) error {
	for i := range cifarFiles {
		if cifarFiles[i] != name {
			continue
		}
		if b.sums[name] != "" {
			return fmt.Errorf("%w: %s is there twice", ErrCorrupt, name)
		}
		sum := sha256.New()
		err := parseCIFAR(io.TeeReader(r, sum), &b.parts[i], b.wanted, b.counts[i/5])
		b.sums[name] = hex.EncodeToString(sum.Sum(nil))
		return err
	}
	return nil
}

func (b *batches) file(ctx context.Context, name, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return b.read(name, f)
}

func (b *batches) archive(ctx context.Context, file string) error {
	f, err := open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	t := tar.NewReader(f)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entry, err := t.Next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, tar.ErrHeader) {
			return fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if err != nil {
			return damage(err)
		}
		if err := b.read(path.Base(entry.Name), t); err != nil {
			return at(entry.Name, err)
		}
	}
	// What follows the archive's end must be read for gzip to compare its checksum.
	if _, err := io.Copy(io.Discard, f); err != nil {
		return damage(err)
	}
	for _, name := range cifarFiles {
		if b.sums[name] == "" {
			return fmt.Errorf("%w: it has no %s", ErrTruncated, name)
		}
	}
	return nil
}
