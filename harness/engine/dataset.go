package engine

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"sync"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/store"
)

// Source opens datasets.
type Source interface {
	Open(ctx context.Context, d experiment.Data) (*Dataset, error)
}

// Dataset is an open dataset, or one known from earlier runs.
type Dataset struct {
	store.Known
	Title string
	Files []string

	// Load returns the normalised training and test images. Images calls it when a run needs them,
	// and again only after release. It is nil if the dataset is not open.
	Load func(ctx context.Context) (*method.Data, method.Images, error)

	mu   sync.Mutex
	sum  uint64       // checksum of the training images and labels as loaded
	data *method.Data // nil while the images are not in memory
	test method.Images
}

// Images returns the images. It calls Load if they are not in memory.
func (d *Dataset) Images(ctx context.Context) (*method.Data, method.Images, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.data == nil {
		data, test, err := d.Load(ctx)
		if err != nil {
			return nil, test, err
		}
		d.data, d.test, d.sum = data, test, sum(data.Train)
	}
	return d.data, d.test, nil
}

// errChanged stops all runs, because other runs may have used the changed images.
var errChanged = errors.New("the training images were changed, by this method or by one that ran at the same time; all runs are stopped")

// intact returns errChanged unless the training images are as they were loaded.
func (d *Dataset) intact(data *method.Data) error {
	d.mu.Lock()
	loaded := d.sum
	d.mu.Unlock()
	if sum(data.Train) != loaded {
		return errChanged
	}
	return nil
}

// sum returns a checksum of images and labels. Four independent lanes make it fast.
func sum(images method.Images) uint64 {
	const prime = 1099511628211 // of FNV-1a
	var a, b, c, d uint64
	x := images.X
	for ; len(x) >= 4; x = x[4:] {
		a = (a ^ uint64(math.Float32bits(x[0]))) * prime
		b = (b ^ uint64(math.Float32bits(x[1]))) * prime
		c = (c ^ uint64(math.Float32bits(x[2]))) * prime
		d = (d ^ uint64(math.Float32bits(x[3]))) * prime
	}
	for _, v := range x {
		a = (a ^ uint64(math.Float32bits(v))) * prime
	}
	for _, y := range images.Labels {
		b = (b ^ uint64(y)) * prime
	}
	return a ^ bits.RotateLeft64(b, 16) ^ bits.RotateLeft64(c, 32) ^ bits.RotateLeft64(d, 48)
}

// Outline returns the data without images and moments, to check whether a set fits.
func (d *Dataset) Outline() *method.Data {
	s := d.Shape
	out := &method.Data{Name: d.Name, Classes: d.Classes, Prep: method.Preprocessing{Name: d.Preprocess}, Train: method.Images{H: s.Height, W: s.Width, C: s.Channels}}
	if d.Preprocess != "standard" {
		out.Prep.Restore = func(x []float32) []float32 { return x }
		out.Prep.Whiten = out.Prep.Restore
	}
	return out
}

// release drops the images.
func (d *Dataset) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.data, d.test = nil, method.Images{}
}

// sizes returns the sizes of the data, without IPC and Model.
func (d *Dataset) sizes() method.Sizes {
	s := d.Shape
	return method.Sizes{Train: s.Train, Test: s.Test, Classes: len(d.Classes), H: s.Height, W: s.Width, C: s.Channels, Smallest: d.Smallest}
}

// record describes the dataset in the record of a run.
func (d *Dataset) record() store.Dataset {
	return store.Dataset{Title: d.Title, BuiltIn: d.BuiltIn, Files: d.Files, Shape: d.Shape}
}
