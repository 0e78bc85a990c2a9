// Package engine carries out experiments. It plans the runs of their cells, computes those without
// a record, and isolates failures.
//
// The unit of work is the Job: a distilled set with all its scores, one lock and one checkpoint.
// Every cell gets seed 0 before any gets seed 1. Within a seed, jobs are ordered by dataset and
// networks. Features and Gram matrices that jobs share are computed once, and then dropped. A
// worker, one of several processes, starts with the longest jobs. Locks only save work: every
// process computes the same bytes.
//
// Guarantee: the result of a run depends only on its identity. The number of jobs, interruptions,
// and failures of other runs do not affect it.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/store"
)

// Run is a run of a plan.
type Run struct {
	Cell     *experiment.Cell // the first cell that needs the run
	Profile  string
	Seed     uint64
	Identity experiment.Identity
	Key      string
	Data     *Dataset
	Trace    experiment.Trace // lines that any of its cells requests

	located method.Method // replaces the method of the cell; has the files of this run
}

// Method returns the method that computes the set.
func (r *Run) Method() method.Method {
	if r.located != nil {
		return r.located
	}
	return r.Cell.Method()
}

// Instead returns a run that scores the set of another method, with ipc images per class, in the
// same way as r.
func (r *Run) Instead(column string, m method.Method, ipc int) *Run {
	c := *r.Cell
	c.Column, c.IPC, c.Point = column, ipc, maps.Clone(c.Point)
	c.Point["method"], c.Point["ipc"] = column, strconv.Itoa(ipc)
	id := c.IdentityOf(m, r.Data.DatasetIdentity, r.Seed)
	return &Run{
		Cell: &c, Profile: r.Profile, Seed: r.Seed,
		Identity: id, Key: id.Key(), Data: r.Data, located: m,
	}
}

// Name returns the name of the run for messages.
func (r *Run) Name() string {
	c := r.Cell
	parts := []string{c.Dataset, c.Column, c.Model}
	if r.Identity.IPC > 0 {
		parts = append(parts, fmt.Sprintf("ipc %d", c.IPC))
	}
	for _, axis := range slices.Sorted(maps.Keys(c.Point)) {
		if !slices.Contains([]string{"dataset", "method", "model", "ipc"}, axis) {
			parts = append(parts, axis+" "+c.Point[axis])
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("seed %d", r.Seed)), " ")
}

func (r *Run) sizes() method.Sizes {
	s := r.Data.sizes()
	s.IPC, s.Model = r.Cell.IPC, r.Cell.Net
	return s
}

// group returns a key that is equal for runs that share features. It includes the name of the
// dataset, because the random streams of networks do.
func (r *Run) group() string {
	d := r.Identity.Dataset
	return string(experiment.Canonical([]any{r.Seed, d.Name, d.Digest, d.Preprocess, r.Identity.Model}))
}

// Set returns the identity of the set, without the protocol.
func (r *Run) Set() experiment.Identity { return setOf(r.Identity) }

func setOf(id experiment.Identity) experiment.Identity {
	id.Eval = experiment.PartIdentity{}
	return id
}

// job returns the key of the job: the key of the set, or of the run if its trace has scores.
func (r *Run) job() string {
	if len(r.Trace.Score) > 0 {
		return r.Key
	}
	return r.Set().Key()
}

// Plan holds the runs of some experiments, in order.
type Plan struct {
	Runs []*Run

	// Opened describes the datasets that were opened.
	Opened []store.Known

	// Gone holds an error for each run that was left out. The files of its set are missing or
	// wrong, so its record cannot be found.
	Gone []error

	keys map[cellSeed]string
}

type cellSeed struct {
	cell *experiment.Cell
	seed uint64
}

// lightFeatures limits the bytes of the features of all training images in a light run.
const lightFeatures = 256e6

// Light reports whether all runs of a plan are so small that several of them share a machine well:
// each keeps few processors busy and needs little memory. The exact kernel of ConvNets keeps all
// processors busy.
func (p *Plan) Light() bool {
	return !slices.ContainsFunc(p.Runs, func(r *Run) bool {
		s := r.sizes()
		net, err := s.Model.Shape().Features(s.H, s.W, s.C)
		return err != nil || s.Model.Limit() == "conv" || 4*float64(s.Train)*float64(net.Classes()*s.Model.Nets) > lightFeatures
	})
}

// Key returns the key of a cell's run with a seed. It reports false if the filter excludes the run,
// or if its data is unknown.
func (p *Plan) Key(c *experiment.Cell, seed uint64) (string, bool) {
	key, ok := p.keys[cellSeed{c, seed}]
	return key, ok
}

// Coarse counts the records whose trace lacks lines that the plan requests. Their results are not
// affected.
func (p *Plan) Coarse(s *store.Store) int {
	n := 0
	for _, r := range p.Runs {
		if record, err := s.Get(r.Key); err == nil && record.Result.Updates > 0 && !record.Provenance.Trace.Covers(r.Trace, record.Result.Updates) {
			n++
		}
	}
	return n
}

// OtherCode returns the runs whose records were computed, at least in part, by other code of their
// method or protocol. Runs whose code is unknown do not count.
func (p *Plan) OtherCode(s *store.Store) (out []*Run) {
	for _, r := range p.Runs {
		record, err := s.Get(r.Key)
		if err == nil && slices.ContainsFunc(record.Provenance.Sessions, func(one store.Session) bool {
			return one.Code != "" && r.code() != "" && one.Code != r.code()
		}) {
			out = append(out, r)
		}
	}
	return out
}

// code returns a digest of the code that computes the run.
func (r *Run) code() string { return env.Code(r.Method(), r.Cell.Protocol) }

// Unfit is the error of cells that do not fit their data, all for the same reason.
type Unfit struct {
	File  string
	Cells []string
	Err   error
}

const shownCells = 10 // cells named for one mistake

// Error names a single cell in front of the cause, and several cells below it.
func (e *Unfit) Error() string {
	if len(e.Cells) == 1 {
		return fmt.Sprintf("%s: %s: %v", e.File, e.Cells[0], e.Err)
	}
	message, hint, hinted := strings.Cut(e.Err.Error(), "\n")
	text := fmt.Sprintf("%s: %d cells: %s", e.File, len(e.Cells), message)
	for i, cell := range e.Cells {
		if i == shownCells {
			text += fmt.Sprintf("\n  and %d more", len(e.Cells)-i)
			break
		}
		text += "\n  " + cell
	}
	if hinted {
		text += "\n" + hint
	}
	return text
}

// Unwrap returns the cause.
func (e *Unfit) Unwrap() error { return e.Err }

// Lookup provides the datasets of a plan. Their digests are part of the identities of its runs.
type Lookup struct {
	Source Source         // opens datasets; nil leaves out the runs of unknown ones
	Known  store.Datasets // from earlier runs

	// Need reports whether a run needs its dataset to be open, although it is known. Data that may
	// have changed is always opened: user data and built-in data. If Need is nil, known data is not
	// opened, except user data whose files exist.
	Need func(*Run) bool
}

// Make plans the selected runs of the experiments. The error joins the problems of all datasets.
func (l Lookup) Make(ctx context.Context, specs []*experiment.Spec, filter experiment.Filter) (*Plan, error) {
	sets := map[string]*Dataset{}
	for {
		p, err := l.plan(ctx, specs, filter, sets)
		if err != nil || l.Need == nil {
			return p, err
		}
		closed := map[string]experiment.Data{}
		for _, r := range p.Runs {
			if r.Data.Load == nil && l.Need(r) {
				closed[place(r.Cell.Data)] = r.Cell.Data
			}
		}
		if len(closed) == 0 {
			return p, nil
		}
		var problems []error
		for _, at := range slices.Sorted(maps.Keys(closed)) {
			set, err := l.Source.Open(ctx, closed[at])
			problems = append(problems, err)
			sets[at] = set
		}
		if err := errors.Join(problems...); err != nil {
			return nil, err
		}
		// The data may have changed, so that other runs are needed.
	}
}

// place returns a key for data and its title, unique within this process.
func place(d experiment.Data) string {
	if d.Own() {
		return string(experiment.Canonical(d))
	}
	return string(experiment.Canonical([]any{d.Declared(""), d.Title}))
}

// dataset returns an open or known dataset. It returns nil if the data is unknown and there is no
// source.
func (l Lookup) dataset(ctx context.Context, d experiment.Data) (*Dataset, error) {
	known, ok := l.Known.Find(d)
	fixed := !d.Own() && !known.BuiltIn
	switch {
	case ok && (l.Source == nil || fixed || l.Need == nil && !d.Own()):
		return &Dataset{Known: known}, nil
	case l.Source == nil:
		return nil, nil
	}
	set, err := l.Source.Open(ctx, d)
	if ok && l.Need == nil && errors.Is(err, fs.ErrNotExist) {
		return &Dataset{Known: known}, nil
	}
	return set, err
}

// plan makes a plan with the datasets in sets, and adds missing ones to sets.
func (l Lookup) plan(ctx context.Context, specs []*experiment.Spec, filter experiment.Filter, sets map[string]*Dataset) (*Plan, error) {
	p := &Plan{keys: map[cellSeed]string{}}
	byKey := map[string]*Run{}
	var problems []error
	misfits := map[[2]string]*Unfit{} // by file and cause
	misfit := func(s *experiment.Spec, c *experiment.Cell, end string, err error) {
		at := [2]string{s.File, err.Error()}
		if misfits[at] == nil {
			misfits[at] = &Unfit{File: s.File, Err: err}
			problems = append(problems, misfits[at])
		}
		misfits[at].Cells = experiment.With(misfits[at].Cells, fmt.Sprintf("%s %s %s ipc %d%s", c.Dataset, c.Column, c.Model, c.IPC, end))
	}
	for _, s := range specs {
		for _, c := range s.Cells {
			var seeds []uint64
			for seed := range uint64(c.Seeds) {
				if filter.Selects(c, seed) {
					seeds = append(seeds, seed)
				}
			}
			if len(seeds) == 0 {
				continue
			}
			at := place(c.Data)
			d, tried := sets[at]
			if !tried {
				var err error
				if d, err = l.dataset(ctx, c.Data); err != nil && ctx.Err() != nil {
					return nil, err
				}
				problems = append(problems, err)
				sets[at] = d
			}
			if d == nil {
				continue
			}
			if l.Source != nil {
				if err := c.CheckSizes(d.sizes()); err != nil {
					misfit(s, c, "", err)
				}
			}
			for _, seed := range seeds {
				r := &Run{Cell: c, Profile: s.Profile, Seed: seed, Trace: c.Trace, Data: d}
				switch err := l.locate(r); {
				case err == nil:
					p.add(r, byKey)
				case l.Source == nil:
					p.Gone = append(p.Gone, err)
				default:
					misfit(s, c, fmt.Sprintf(" seed %d", seed), err)
				}
			}
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for _, at := range slices.Sorted(maps.Keys(sets)) {
		if d := sets[at]; d != nil && d.Load != nil {
			p.Opened = append(p.Opened, d.Known)
		}
	}
	slices.SortStableFunc(p.Runs, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.Seed, b.Seed), strings.Compare(a.Cell.Dataset, b.Cell.Dataset), strings.Compare(a.Cell.Model, b.Cell.Model))
	})
	return p, nil
}

// locate finds the files of a run whose method reads sets from files.
func (l Lookup) locate(r *Run) error {
	c := r.Cell
	m, ok := c.Method().(method.Locator)
	if !ok {
		return nil
	}
	var data *method.Data
	if l.Source != nil {
		data = r.Data.Outline()
	}
	var err error
	r.located, err = m.Locate(method.Place{Dir: c.Data.Dir, Dataset: c.Dataset, Model: c.Model, IPC: c.IPC, Seed: r.Seed}, data)
	return err
}

// add adds a run, or adds its cell to the run with the same key.
func (p *Plan) add(r *Run, byKey map[string]*Run) {
	c := r.Cell
	r.Identity = c.IdentityOf(r.Method(), r.Data.DatasetIdentity, r.Seed)
	r.Key = r.Identity.Key()
	p.keys[cellSeed{c, r.Seed}] = r.Key
	same := byKey[r.Key]
	if same == nil {
		byKey[r.Key] = r
		p.Runs = append(p.Runs, r)
		return
	}
	same.Trace = same.Trace.With(r.Trace)
}
