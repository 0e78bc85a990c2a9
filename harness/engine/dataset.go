package engine

import (
	"context"
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
		d.data, d.test = data, test
	}
	return d.data, d.test, nil
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
