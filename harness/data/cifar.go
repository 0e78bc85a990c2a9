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
	"slices"

	"dgkip/harness/sets"
)

var cifar10 = source{
	Info: Info{
		Name: "cifar-10", Title: "CIFAR-10", Text: "CIFAR-10, photographs of objects and animals, 32x32 colour (Krizhevsky)",
		Terms:   "by A. Krizhevsky, V. Nair and G. Hinton, who state no licence and ask to be cited: A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009",
		Classes: []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
		Shape:   Shape{32, 32, 3},
	},
	standIn: "colour-symbols",
	folders: []string{"cifar-10", "", "cifar-10/cifar-10-batches-bin", "cifar-10-batches-bin"},
	load:    cifar10Form.load,
	downloads: []download{{
		name: cifarArchive, size: 170052171,
		sha: "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
		urls: []string{
			"https://www.cs.toronto.edu/~kriz/" + cifarArchive,
			"https://cave.cs.toronto.edu/kriz/" + cifarArchive,
			"https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/notebook/datasets/" + cifarArchive,
		},
	}},
	files: map[string]string{
		"data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
		"data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
		"data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
		"data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
		"data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
		"test_batch.bin":   "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
	},
	byClass: map[int]string{
		0: "6cc4a017b63a60bd4de7bb18521eefa9f999efb08bc7b9f7a77e5d982979c829",
		1: "ae17e5fae6caaf1389c8f3e929ea88a26869d97bbb4744fb3b50000f19d6a14c",
	},
}

// cifarFiles lists the training batches and then the test batch.
var cifarFiles = []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}

const cifarArchive = "cifar-10-binary.tar.gz"

var cifar10Form = cifarForm{archive: cifarArchive, files: cifarFiles, labels: 1, most: 10000}

// cifarForm describes the files of a dataset in the form of CIFAR-10, such as CIFAR-100, which has two
// labels.
type cifarForm struct {
	archive string
	files   []string // the training batches, then the test batch
	labels  int      // bytes of a record before its pixels; the last one is the class
	most    int      // records of a batch; fewer if classes were left out
}

// load reads the batches in dir, or else their archive.
func (f cifarForm) load(ctx context.Context, s *source, dir string) (*Set, error) {
	b := &batches{form: f, classes: len(s.Classes), parts: make([]Split, len(f.files)), sums: map[string]string{}}
	var paths []string
	for _, name := range f.files {
		if p := first(dir, name, name+".gz"); p != "" {
			paths = append(paths, p)
		}
	}
	if len(paths) < len(f.files) {
		archive := first(dir, f.archive)
		if archive == "" {
			return nil, errAbsent
		}
		paths = []string{archive}
		if err := b.archive(ctx, archive); err != nil {
			return nil, at(archive, err)
		}
	} else {
		for i, p := range paths {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := b.file(f.files[i], p); err != nil {
				return nil, at(p, err)
			}
		}
	}
	set := s.set(paths)
	for i, name := range f.files {
		split := &set.Train
		if i == len(f.files)-1 {
			split = &set.Test
		}
		split.Images = append(split.Images, b.parts[i].Images...)
		split.Labels = append(split.Labels, b.parts[i].Labels...)
		b.parts[i] = Split{}
		set.Verified = set.Verified && b.sums[name] == s.files[name]
	}
	return set, nil
}

// batches collects the batches of the dataset, which an archive may hold in any order.
type batches struct {
	form    cifarForm
	classes int
	parts   []Split
	sums    map[string]string
}

func (b *batches) read(name string, r io.Reader) error {
	i := slices.Index(b.form.files, name)
	if i < 0 {
		return nil
	}
	if b.sums[name] != "" {
		return fmt.Errorf("%w: %s appears twice", ErrCorrupt, name)
	}
	sum := sha256.New()
	err := b.form.parse(io.TeeReader(r, sum), &b.parts[i], b.classes)
	b.sums[name] = hex.EncodeToString(sum.Sum(nil))
	return err
}

func (b *batches) file(name, path string) error {
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
			return sets.Damage(err)
		}
		if err := b.read(path.Base(entry.Name), t); err != nil {
			return at(entry.Name, err)
		}
	}
	// gzip only compares its checksum at the end of the file, which is after the end of the archive.
	if _, err := io.Copy(io.Discard, f); err != nil {
		return sets.Damage(err)
	}
	for _, name := range b.form.files {
		if b.sums[name] == "" {
			return fmt.Errorf("%w: it has no %s", ErrTruncated, name)
		}
	}
	return nil
}

// parse reads a binary batch: records of labels and three planes of pixels, red, green and blue.
// It appends the images to s, as [h, w, channel].
func (f cifarForm) parse(r io.Reader, s *Split, classes int) error {
	const plane = 32 * 32
	record := make([]byte, f.labels+3*plane)
	for i := 0; ; i++ {
		n, err := io.ReadFull(r, record)
		switch {
		case err == io.EOF && i > 0:
			return nil
		case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%w: record %d has %d of %d bytes", ErrTruncated, i, n, len(record))
		case err != nil:
			return sets.Damage(err)
		case i == f.most:
			return fmt.Errorf("%w: more than %d records", ErrOversized, f.most)
		}
		label := int(record[f.labels-1])
		if label >= classes {
			return badLabel(i, float64(label), classes)
		}
		s.Labels = append(s.Labels, label)
		at, pixels := len(s.Images), record[f.labels:]
		s.Images = append(s.Images, pixels...)
		for c := range 3 {
			for p, v := range pixels[c*plane : (c+1)*plane] {
				s.Images[at+3*p+c] = v
			}
		}
	}
}
