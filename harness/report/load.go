package report

import (
	"slices"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// Load finds the records of an experiment, judges them and builds the tables.
func Load(s *experiment.Spec, st *store.Store, o Options) *Results { return newReader(st).load(s, o) }

func (x *reader) load(s *experiment.Spec, o Options) *Results {
	r := x.results(s, o)
	if s.Times != nil {
		r.timeBy(x.results(s.Times, o))
	}
	r.machine = mainMachine(r.Cells)
	r.warnOfFractions()
	r.Published, r.Claims = r.compare(), r.judgeClaims()
	if len(r.Cells) > 0 {
		r.sheets = r.allSheets()
	}
	return r
}

// furtherTables are the tables besides the main one, by the end of their names.
var furtherTables = []struct {
	name string
	make func(*Results) *sheet.Sheet // nil if there is nothing to show
	csv  func(*Results) []byte       // its numbers, nil if other files have them
}{
	{"reproduced", (*Results).reproduced, nil},
	{"verdicts", (*Results).verdicts, (*Results).verdictsCSV},
	{"pairs", (*Results).pairs, (*Results).pairsCSV},
	{"claims", (*Results).claimSheet, (*Results).claimsCSV},
}

// allSheets builds the tables, the main one first.
func (r *Results) allSheets() []*sheet.Sheet {
	out := []*sheet.Sheet{r.table()}
	for _, f := range furtherTables {
		if s := f.make(r); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// further returns one of furtherTables, nil if there is nothing to show.
func (r *Results) further(name string) *sheet.Sheet {
	i := slices.IndexFunc(r.sheets, func(s *sheet.Sheet) bool { return s.Name == r.stem()+"-"+name })
	if i < 0 {
		return nil
	}
	return r.sheets[i]
}
