package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"

	"dgkip/harness/data"
	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

// source opens datasets for the engine.
type source struct {
	options data.Options
	warn    func(format string, args ...any)
}

func newSource(f *flags, board *progress.Board) *source {
	s := &source{data.Options{Dir: f.data, Offline: f.offline}, board.Printf}
	var shown time.Time
	s.options.Progress = func(file string, done, total int64) {
		if f.quiet || time.Since(shown) < 2*time.Second && done < total {
			return
		}
		shown = time.Now()
		board.Printf("downloading %s: %.1f of %.1f MB", file, float64(done)/1e6, float64(total)/1e6)
	}
	return s
}

// Open implements engine.Source.
func (s *source) Open(ctx context.Context, d experiment.Data) (*engine.Dataset, error) {
	set, err := s.load(ctx, d)
	if err != nil {
		return nil, err
	}
	if !d.Own() && !set.Verified {
		s.warn("note: %s: these images are unchecked, because there is no checksum for this choice of classes; make sure that the files are the published ones", set.Name)
	}
	for _, note := range set.Notes {
		s.warn("note: %s", note)
	}
	kind := d.Preprocessing()
	info, _ := data.Describe(d.Use) // empty for your own data
	return &engine.Dataset{
		Known: store.Known{
			Data:            d,
			DatasetIdentity: experiment.DatasetIdentity{Name: set.Name, Classes: set.Classes, Preprocess: kind, Digest: "sha256:" + set.Digest, Characters: d.Characters},
			BuiltIn:         set.BuiltIn,
			Shape:           store.Shape{Train: set.Train.Len(), Test: set.Test.Len(), Height: set.H, Width: set.W, Channels: set.Ch},
			Smallest:        smallest(set),
		},
		Title: d.Shown(),
		Files: names(set.Files),
		Load: func(ctx context.Context) (*method.Data, method.Images, error) {
			raw, digest := set, set.Digest
			if raw.Train.Images == nil {
				var err error
				if raw, err = s.load(ctx, d); err != nil {
					return nil, method.Images{}, err
				}
				if raw.Digest != digest {
					return nil, method.Images{}, fmt.Errorf("the files of %s have changed while the program ran\nhint: run the same command again", d.Name)
				}
			}
			defer func() { set.Train.Images, set.Test.Images = nil, nil }() // from here on, only the normalised images are used
			train, test, err := normalise(ctx, raw, kind)
			if err == nil {
				train.Characters = d.Characters || info.Characters
			}
			return train, test, err
		},
	}, nil
}

func (s *source) load(ctx context.Context, d experiment.Data) (*data.Set, error) {
	load := func() (*data.Set, error) { return data.Load(ctx, d.Use, d.Classes, s.options) }
	if d.Own() {
		load = func() (*data.Set, error) { return d.Config.Load(ctx, d.Name, d.Dir) }
	}
	set, err := load()
	if err != nil || d.Images == 0 {
		return set, err
	}
	return set.First(d.Images)
}

// smallest returns the number of training images in the smallest class.
func smallest(set *data.Set) int {
	count := make([]int, len(set.Classes))
	for _, l := range set.Train.Labels {
		count[l]++
	}
	return slices.Min(count)
}

// names returns the files with only the last folder of their path. Records should not reveal the
// folders of this machine, and a digest identifies the contents.
func names(files []string) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = path.Join(filepath.Base(filepath.Dir(f)), filepath.Base(f))
	}
	return out
}

// normalise returns the images of a set as methods expect them.
func normalise(ctx context.Context, set *data.Set, kind string) (*method.Data, method.Images, error) {
	var none method.Images
	t, err := data.Fit(ctx, kind, set)
	if err != nil {
		return nil, none, err
	}
	images := func(s data.Split) (method.Images, error) {
		x, err := t.Apply(ctx, s.Images)
		return method.Images{H: set.H, W: set.W, C: set.Ch, X: x, Labels: s.Labels}, err
	}
	train, err := images(set.Train)
	if err != nil {
		return nil, none, err
	}
	test, err := images(set.Test)
	if err != nil {
		return nil, none, err
	}
	prep := method.Preprocessing{Name: kind}
	for c := range t.Mean {
		prep.Mean, prep.Std = append(prep.Mean, float32(t.Mean[c])), append(prep.Std, float32(t.SD[c]))
	}
	if kind != "standard" {
		prep.Whiten = t.Pixels
		prep.Restore = func(x []float32) []float32 {
			out := t.Invert(x)
			for i := range out {
				out[i] /= 255
			}
			return out
		}
	}
	return &method.Data{Name: set.Name, Classes: set.Classes, Prep: prep, Train: train}, test, nil
}

// dataError adds an exit code to errors of data. Wrong settings and missing or damaged files need a
// person, so they are usage errors. A failed download may succeed later.
func dataError(err error) error {
	unfit := errors.As(err, new(*engine.Unfit))
	if unfit {
		err = fmt.Errorf("%w\nhint: to leave cells out of the grid, add an [[exclude]] with when = { ... } and a reason", err)
	}
	switch {
	case errors.Is(err, data.ErrFetch):
		return coded{err, exitFailed}
	case unfit, errors.As(err, new(data.Fault)), errors.Is(err, fs.ErrNotExist):
		return usageError(err)
	}
	return fmt.Errorf("data: %w", err)
}
