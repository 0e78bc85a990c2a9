package report

import (
	"slices"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// Load finds the records of an experiment, judges them and makes the tables.
func Load(s *experiment.Spec, st *store.Store, o Options) *Results { return newReader(st).load(s, o) }

func (x *reader) load(s *experiment.Spec, o Options) *Results {
	r := x.results(s, o)
	if s.Times != nil {
		r.timeBy(x.results(s.Times, o))
	}
	r.warnOfFractions()
	r.Published, r.Claims = r.compare(), r.judgeAll()
	if len(r.Cells) > 0 {
		r.sheets = r.allSheets()
	}
	return r
}

// furtherTables are the tables beside the main one, by the end of their names.
var furtherTables = []struct {
	name string
	make func(*Results) *sheet.Sheet // nil where there is nothing to show
	csv  func(*Results) []byte       // its numbers; nil where other files have them
}{
	{"reproduced", (*Results).reproduced, nil},
	{"verdicts", (*Results).verdicts, (*Results).verdictsCSV},
	{"pairs", (*Results).pairs, (*Results).pairsCSV},
	{"claims", (*Results).claimSheet, (*Results).claimsCSV},
}

// allSheets makes the tables, the main one first.
func (r *Results) allSheets() []*sheet.Sheet {
	out := []*sheet.Sheet{r.table()}
	for _, f := range furtherTables {
		if s := f.make(r); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// further returns a table beside the main one, nil if there is nothing in it.
func (r *Results) further(name string) *sheet.Sheet {
	i := slices.IndexFunc(r.sheets, func(s *sheet.Sheet) bool { return s.Name == r.stem()+"-"+name })
	if i < 0 {
		return nil
	}
	return r.sheets[i]
}
