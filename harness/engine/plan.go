// Package engine carries out experiments: it plans which runs their cells need,
// makes those whose records are missing, and isolates what fails.
//
// Runs are made breadth first, seed 0 of every cell before seed 1 of any, and
// within a seed ordered by dataset and networks, so that what they share (features,
// Gram matrices) is computed once and then dropped.
//
// Guarantee: the result of a run is a function of its identity alone. The number
// of jobs, interruptions and failures of other runs leave no trace in it.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dgkip/harness/method"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// Source opens datasets.
type Source interface {
	Open(ctx context.Context, d spec.Data) (*Dataset, error)
}

// Dataset is an open dataset.
type Dataset struct {
	Identity spec.DatasetIdentity
	Record   store.Dataset
	Sizes    method.Sizes // without IPC and Model

	// Load returns the training images and the test images, normalised. It is
	// called once, when the first run needs them.
	Load func(ctx context.Context) (*method.Data, method.Images, error)

	mu     sync.Mutex
	loaded bool
	data   *method.Data
	test   method.Images
}

// Images returns what Load does, which it calls once.
func (d *Dataset) Images(ctx context.Context) (*method.Data, method.Images, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.loaded {
		data, test, err := d.Load(ctx)
		if err != nil {
			return nil, test, err
		}
		d.data, d.test, d.loaded = data, test, true
	}
	return d.data, d.test, nil
}

// Run is a run that a plan asks for.
type Run struct {
	Cell     *spec.Cell   // the first that needs it
	Cells    []*spec.Cell // all that do
	Profile  string
	Seed     uint64
	Round    int // 0 for the first seed of its experiment
	Identity spec.Identity
	Key      string
	Data     *Dataset
}

// Name is how people know the run.
func (r *Run) Name() string {
	c := r.Cell
	parts := []string{c.Dataset, c.Column, c.Model}
	if r.Identity.IPC > 0 {
		parts = append(parts, fmt.Sprintf("ipc %d", c.IPC))
	}
	for _, axis := range sortedAxes(c.Point) {
		parts = append(parts, axis+" "+c.Point[axis])
	}
	return strings.Join(append(parts, fmt.Sprintf("seed %d", r.Seed)), " ")
}

func sortedAxes(point map[string]string) []string {
	var out []string
	for axis := range point {
		if !slices.Contains([]string{"dataset", "method", "model", "ipc"}, axis) {
			out = append(out, axis)
		}
	}
	slices.Sort(out)
	return out
}

// At returns the run's coordinate on an axis, for filters.
func (r *Run) At(axis string) (string, bool) {
	if axis == "seed" {
		return fmt.Sprint(r.Seed), true
	}
	return r.Cell.At(axis)
}

func (r *Run) sizes() method.Sizes {
	s := r.Data.Sizes
	s.IPC, s.Model = r.Cell.IPC, r.Cell.Net
	return s
}

// group is what runs share features with.
func (r *Run) group() string {
	return fmt.Sprintf("%d %s %s %s", r.Seed, r.Identity.Dataset.Digest, r.Identity.Dataset.Preprocess, spec.Canonical(r.Identity.Model))
}

// Plan is the runs of some experiments, in the order they are made.
type Plan struct {
	Runs  []*Run
	Specs []*spec.Spec
}

// Key returns the key of a cell's run with a seed, false if the plan does not have
// it.
func (p *Plan) Key(c *spec.Cell, seed uint64) (string, bool) {
	for _, r := range p.Runs {
		if r.Seed == seed && slices.Contains(r.Cells, c) {
			return r.Key, true
		}
	}
	return "", false
}

// Unfit says that a cell asks for what its data does not have.
type Unfit struct{ err error }

func (e *Unfit) Error() string { return e.err.Error() }

// Unwrap returns what is wrong.
func (e *Unfit) Unwrap() error { return e.err }

// Make plans the runs of the experiments that the filter selects. All datasets
// they need are opened, for identities depend on the images themselves; what is
// wrong with several is reported at once.
func Make(ctx context.Context, specs []*spec.Spec, source Source, filter spec.Filter) (*Plan, error) {
	p := &Plan{Specs: specs}
	byKey := map[string]*Run{}
	open := map[string]*Dataset{}
	checked := map[*spec.Cell]bool{}
	var problems []error
	for _, s := range specs {
		for _, c := range s.Cells {
			for round, seed := range s.Seeds {
				r := &Run{Cell: c, Profile: s.Profile, Seed: seed, Round: round}
				if !filter.Matches(r.At) {
					continue
				}
				at := s.File + "\x00" + string(spec.Canonical(c.Data))
				d, tried := open[at]
				if !tried {
					var err error
					if d, err = source.Open(ctx, c.Data); err != nil {
						if ctx.Err() != nil {
							return nil, err
						}
						problems = append(problems, err)
					}
					open[at] = d
				}
				if d == nil {
					continue
				}
				if !checked[c] {
					checked[c] = true
					if err := c.CheckSizes(d.Sizes); err != nil {
						problems = append(problems, &Unfit{fmt.Errorf("%s: %s %s %s ipc %d: %w", s.File, c.Dataset, c.Column, c.Model, c.IPC, err)})
					}
				}
				r.Data = d
				r.Identity = c.Identity(d.Identity, seed)
				r.Key = r.Identity.Key()
				if same := byKey[r.Key]; same != nil {
					same.Round = min(same.Round, round)
					if !slices.Contains(same.Cells, c) {
						same.Cells = append(same.Cells, c)
					}
					continue
				}
				r.Cells = []*spec.Cell{c}
				byKey[r.Key] = r
				p.Runs = append(p.Runs, r)
			}
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	slices.SortStableFunc(p.Runs, func(a, b *Run) int {
		if a.Round != b.Round {
			return a.Round - b.Round
		}
		if c := strings.Compare(a.Cell.Dataset, b.Cell.Dataset); c != 0 {
			return c
		}
		return strings.Compare(a.Cell.Model, b.Cell.Model)
	})
	return p, nil
}
