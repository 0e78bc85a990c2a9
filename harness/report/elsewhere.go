package report

import (
	"maps"
	"slices"

	"dgkip/harness/exhibit"
	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
)

// scored is an accuracy, published or ours, with the protocol family that it is of.
type scored struct {
	at             group // on the axes of rows
	column, source string
	number         exhibit.Number
	family         method.Family
}

// elsewhere is the published accuracies of all methods, and ours, each in the column of
// its protocol family: numbers of one column were scored alike. It is nil where the
// experiment has all methods that it takes in numbers of: they stand beside its own.
func (r *Results) elsewhere() *sheet.Sheet {
	var axes []string
	s := &sheet.Sheet{Name: r.stem() + "-elsewhere", Title: r.Spec.Title + ": published elsewhere, by protocol family"}
	for _, a := range r.axes() {
		if a != "method" && r.names(a) {
			axes, s.Heads = append(axes, a), append(s.Heads, axisTitle(a))
		}
	}
	s.Heads, s.Merge = append(s.Heads, "Method", "Source"), len(axes)+1
	var all []scored
	for _, point := range r.groups(r.Cells, axes) {
		all = append(append(all, r.publishedAt(point)...), oursAt(point)...)
	}
	methods := r.axisValues("method")
	if !slices.ContainsFunc(all, func(x scored) bool { return !slices.Contains(methods, x.column) }) {
		return nil
	}
	families := columnFamilies{}
	for _, x := range all {
		families.add(string(x.family), x.family)
	}
	var columns []method.Family
	for _, f := range method.Families {
		if families[f.Name] != nil {
			columns, s.Columns = append(columns, f.Name), append(s.Columns, string(f.Name))
		}
	}
	for _, x := range all {
		cells := make([]sheet.Entry, len(columns))
		cells[slices.Index(columns, x.family)] = Beside{Metric: "test_acc", Published: x.number}.theirs()
		s.Rows = append(s.Rows, sheet.Row{Heads: append(r.headsOf(axes, x.at), r.valueTitle("method", x.column), x.source), Cells: cells})
	}
	s.Caption = r.selected("Test accuracies in percent, published and ours. Those of one column were scored by protocols of one family; those of two do not compare." + r.circumstances())
	s.Notes = append(families.notes(), r.uncheckedNote()...)
	return s
}

// publishedAt are the published accuracies at a point, of whatever method.
func (r *Results) publishedAt(point group) []scored {
	var out []scored
	for _, p := range r.Spec.Published {
		if metricOr(p.Metric) != "test_acc" || p.OnlyClaims || !p.When.Matches(point.cells[0].Cell.At) {
			continue
		}
		for _, column := range slices.Sorted(maps.Keys(p.Values)) {
			out = append(out, scored{point, column, p.Source, p.Values[column], p.FamilyOf(column)})
		}
	}
	return out
}

// oursAt are those of our records.
func oursAt(point group) []scored {
	var out []scored
	for _, c := range point.cells {
		if s, ok := c.summary("test_acc"); ok {
			mean := exhibit.Number{Mean: 100 * s.Mean, Spread: 100 * s.SD, HasSpread: s.HasSpread()}
			out = append(out, scored{point, c.Cell.Column, "ours", mean, c.family("test_acc")})
		}
	}
	return out
}
