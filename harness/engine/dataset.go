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

// Dataset is an open dataset, or the description of one from earlier runs.
type Dataset struct {
	Identity experiment.DatasetIdentity
	Record   store.Dataset
	Sizes    method.Sizes // without IPC and Model

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
	id, s := d.Identity, d.Sizes
	out := &method.Data{Name: id.Name, Classes: id.Classes, Prep: method.Preprocessing{Name: id.Preprocess}, Train: method.Images{H: s.H, W: s.W, C: s.C}}
	if id.Preprocess != "standard" {
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

// known returns the description of an open dataset for later runs.
func (d *Dataset) known(declared experiment.Data) store.Known {
	s := d.Sizes
	return store.Known{
		Data: declared, DatasetIdentity: d.Identity, BuiltIn: d.Record.BuiltIn, Smallest: s.Smallest,
		Shape: store.Shape{Train: s.Train, Test: s.Test, Height: s.H, Width: s.W, Channels: s.C},
	}
}

func fromKnown(k store.Known) *Dataset {
	s := k.Shape
	return &Dataset{
		Identity: k.DatasetIdentity, Record: store.Dataset{BuiltIn: k.BuiltIn},
		Sizes: method.Sizes{Train: s.Train, Test: s.Test, Classes: len(k.Classes), H: s.Height, W: s.Width, C: s.Channels, Smallest: k.Smallest},
	}
}
