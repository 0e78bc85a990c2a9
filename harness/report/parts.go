package report

import (
	"cmp"
	"slices"
	"strconv"

	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// prepared is a part of a run that others may have found ready.
type prepared struct {
	dataset, model string
	store.Part
	on string // the kind of machine
}

// preparations lists the parts, each from the run in which it took longest: one that finds
// some of it on disk takes less. Runs beside others have no memory of their own, and those
// that were interrupted may have had several machines.
func (r *Results) preparations() []prepared {
	var out []prepared
	for _, c := range r.Cells {
		for _, run := range c.done() {
			p := run.Record.Provenance
			if p.Shared || len(p.Sessions) != 1 {
				continue
			}
			for _, part := range p.Parts {
				if part.Seconds < 0.1 {
					continue // such as a look at an empty disk
				}
				one := prepared{c.Cell.Dataset, c.Cell.Model, part, kindOf(p.Sessions[0])}
				i := slices.IndexFunc(out, func(x prepared) bool {
					return x.dataset == one.dataset && x.model == one.model && x.What == one.What
				})
				switch {
				case i < 0:
					out = append(out, one)
				case out[i].Seconds < one.Seconds:
					out[i] = one
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b prepared) int {
		return cmp.Or(cmp.Compare(a.dataset, b.dataset), cmp.Compare(a.model, b.model))
	})
	return out
}

// parts is their table, nil where there are none.
func (r *Results) parts() *sheet.Sheet {
	s := &sheet.Sheet{Name: r.stem() + "-parts", Title: r.Spec.Title + ": what runs share", Heads: []string{"Dataset", "Networks", "Part"}, Merge: 2,
		Columns: []string{"Seconds", "Peak memory (GB)", "Machine"}}
	for _, p := range r.preparations() {
		s.Rows = append(s.Rows, sheet.Row{
			Heads: []string{r.valueTitle("dataset", p.dataset), r.valueTitle("model", p.model), p.What},
			Cells: []sheet.Entry{sheet.Text(significant(p.Seconds, 2)), sheet.Text(fixed(float64(p.Memory)/1e9, 1)), sheet.Text(p.on)},
		})
	}
	if s.Rows == nil {
		return nil
	}
	s.Caption = r.selected("What is computed once for runs that share it, in the run in which it took longest: seconds, and the most memory that the run had held by its end. Runs that were made before parts were timed, beside others, or in several sessions are left out.")
	return s
}

// partsCSV has the numbers of that table.
func (r *Results) partsCSV() []byte {
	lines := [][]string{{"dataset", "model", "part", "seconds", "peak_memory_bytes", "machine"}}
	for _, p := range r.preparations() {
		lines = append(lines, []string{p.dataset, p.model, p.What, strconv.FormatFloat(p.Seconds, 'f', -1, 64), strconv.FormatInt(p.Memory, 10), p.on})
	}
	return sheet.CSV(lines)
}
