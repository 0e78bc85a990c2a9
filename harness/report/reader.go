package report

import (
	"cmp"
	"errors"
	"io/fs"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// Load finds the records of an experiment, judges them and builds the tables.
func Load(s *experiment.Spec, st *store.Store, o Options) *Results { return newReader(st).load(s, o) }

// reader reads every record once, no matter how many experiments share it.
type reader struct {
	st   *store.Store
	runs map[string]Run // by key
}

func newReader(st *store.Store) *reader { return &reader{st, map[string]Run{}} }

func (x *reader) load(s *experiment.Spec, o Options) *Results {
	r := x.results(s, o)
	if s.Times != nil {
		r.timeBy(x.results(s.Times, o))
	}
	r.machine, r.layout = mainMachine(r.Cells), newLayout(r)
	r.pairs = r.layout.differences()
	r.warnOfFractions()
	r.Published, r.Claims = r.compare(), r.judgeClaims()
	if len(r.Cells) == 0 {
		return r
	}
	for _, t := range tables {
		s := t.make(r)
		if s != nil {
			s.Name, s.Caption = r.stem()+t.name, r.selected(s.Caption)
		}
		r.sheets = append(r.sheets, s)
	}
	return r
}

// tables are the tables of an experiment, the main one first, with the ends of their files' names.
var tables = []struct {
	name string
	make func(*Results) *sheet.Sheet // nil if there is nothing to show
}{
	{"", (*Results).table},
	{"-reproduced", (*Results).reproduced},
	{"-pairs", (*Results).pairTable},
	{"-claims", (*Results).claimSheet},
}

// further returns a table other than the main one, nil if there is nothing to show.
func (r *Results) further(name string) *sheet.Sheet {
	for i, s := range r.sheets {
		if tables[i].name == "-"+name {
			return s
		}
	}
	return nil
}

// results finds the records of an experiment.
func (x *reader) results(s *experiment.Spec, o Options) *Results {
	r := &Results{Spec: s, options: o, data: map[string]store.Dataset{}, traces: map[string]*store.Trace{}}
	for _, c := range s.Cells {
		runs := &CellRuns{Cell: c}
		for seed := range uint64(c.Seeds) {
			if !o.Only.Selects(c, seed) {
				continue
			}
			run := x.run(c, seed, o)
			runs.Runs = append(runs.Runs, run)
			if err := cmp.Or(run.Damage, run.Spoilt); err != nil {
				r.problem("%v", err)
			}
			if run.Record == nil {
				continue
			}
			if run.Spoilt != nil {
				if _, err := run.Record.Trace(); err != nil {
					r.traces[run.id] = nil // the problem above names the trace
				}
			}
			if _, known := r.data[c.Dataset]; !known {
				r.data[c.Dataset] = run.Record.Provenance.Dataset
			}
		}
		if len(runs.Runs) > 0 {
			r.Cells = append(r.Cells, runs)
		}
	}
	return r
}

// run finds the run of a cell by its key.
func (x *reader) run(c *experiment.Cell, seed uint64, o Options) Run {
	key, known := o.Key(c, seed)
	if !known {
		// The identity tells runs apart even without the digest of the data.
		id := c.Identity(experiment.DatasetIdentity{Digest: string(experiment.Canonical(c.Data))}, seed)
		return Run{Seed: seed, id: string(experiment.Canonical(id))}
	}
	r, read := x.runs[key]
	if !read {
		r = x.read(key)
		x.runs[key] = r
	}
	r.Seed = seed
	return r
}

func (x *reader) read(key string) Run {
	r := Run{id: key}
	record, err := x.st.Get(key)
	switch {
	case err == nil:
		r.Record, r.Spoilt = record, record.Verify()
	case !errors.Is(err, fs.ErrNotExist):
		r.Damage = err
	default:
		r.Failure = x.st.Failed(key)
	}
	return r
}
