package report

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/store"
)

// reader reads every record once, whatever experiments share it.
type reader struct {
	st   *store.Store
	runs map[string]Run // by key
}

func newReader(st *store.Store) *reader { return &reader{st, map[string]Run{}} }

// run finds the run of a cell by its key.
func (x *reader) run(c *experiment.Cell, seed uint64, o Options) Run {
	key, known := o.Key(c, seed)
	if !known {
		// Runs are told apart by all of their identity but the digest of the data.
		id := c.Identity(experiment.DatasetIdentity{Digest: string(experiment.Canonical(c.Data))}, seed)
		return Run{Seed: seed, id: string(experiment.Canonical(id))}
	}
	if _, read := x.runs[key]; !read {
		x.runs[key] = x.read(key)
	}
	r := x.runs[key]
	r.Seed = seed
	return r
}

func (x *reader) read(key string) Run {
	r := Run{id: key}
	record, err := x.st.Get(key)
	switch {
	case err == nil:
		r.Record, r.Again, r.Spoilt = record, x.st.Failed(key), record.Verify()
	case !errors.Is(err, fs.ErrNotExist) || x.st.Damaged(key) != nil:
		r.Damage = err
	default:
		r.Failure = x.st.Failed(key)
	}
	return r
}

// results finds the records of an experiment.
func (x *reader) results(s *experiment.Spec, o Options) *Results {
	r := &Results{Spec: s, options: o, data: map[string]store.Dataset{}, traces: map[string]*store.Trace{}}
	for _, c := range s.Cells {
		runs := &CellRuns{Cell: c}
		for seed := range uint64(c.Seeds) {
			if !o.Only.Matches(c.Of(seed)) {
				continue
			}
			run := x.run(c, seed, o)
			if err := cmp.Or(run.Damage, run.Spoilt); err != nil {
				r.problem("%v", err)
			}
			if run.Spoilt != nil {
				if _, err := run.Record.Trace(); err != nil {
					r.traces[run.id] = nil // which is said
				}
			}
			if run.Again != nil {
				message, _, _ := strings.Cut(run.Again.Message, "\n")
				r.problem("%s: %s seed %d failed when it was made again (%s: %s); the tables show the earlier record, and -force makes it again", s.Name, r.placeName(c), seed, run.Again.Kind, message)
			}
			if run.Record != nil {
				if _, known := r.data[c.Dataset]; !known {
					r.data[c.Dataset] = run.Record.Provenance.Dataset
				}
			}
			runs.Runs = append(runs.Runs, run)
		}
		if len(runs.Runs) > 0 {
			r.Cells = append(r.Cells, runs)
		}
	}
	return r
}
