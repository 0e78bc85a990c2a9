package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"dgkip/harness/exhibit"
	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
)

// scored is an accuracy, published or ours, with the protocol family that it is of.
type scored struct {
	heads          []string
	column, source string
	number         exhibit.Number
	family         method.Family
}

// elsewhere is the published accuracies of all methods, and ours, each in the column of
// its protocol family: numbers of one column were scored alike. It is nil where the
// experiment has all methods that it takes in numbers of: they stand beside its own.
func (r *Results) elsewhere() *sheet.Sheet {
	axes := r.rowAxes()
	s := &sheet.Sheet{Name: r.stem() + "-elsewhere", Title: r.Spec.Title + ": published elsewhere, by protocol family"}
	s.Heads, s.Merge = append(axisTitles(axes), "Method", "Source"), len(axes)+1
	var all []scored
	listed := map[string]bool{}
	for _, point := range r.groups(r.Cells, axes) {
		all = append(append(all, r.publishedAt(point, axes, listed)...), r.oursAt(point, axes)...)
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
		s.Rows = append(s.Rows, sheet.Row{Heads: append(x.heads, spelled(x.source, r.valueTitle("method", x.column)), x.source), Cells: cells})
	}
	s.Caption = r.selected("Test accuracies in percent, published and ours. Those of one column were scored by protocols of one family; numbers in different columns cannot be compared." + r.circumstances())
	s.Notes = append(families.notes(), r.uncheckedNote()...)
	if slices.ContainsFunc(all, func(x scored) bool { return slices.Contains(x.heads, anyValue) }) {
		s.Notes = append(s.Notes, anyValue+": the number stands for all values of this column, and is listed once.")
	}
	return s
}

// spelled is a method's name as its source spells it, if it does.
func spelled(source, name string) string {
	for _, word := range strings.FieldsFunc(source, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' }) {
		if strings.EqualFold(word, name) {
			return word
		}
	}
	return name
}

// anyValue is the heading of a published number on an axis that its entry does not name.
const anyValue = "any"

// publishedAt are the published accuracies at a point, of whatever method, that are not
// listed yet, those first that stand for other points as well.
func (r *Results) publishedAt(point group, axes []string, listed map[string]bool) []scored {
	var general, own []scored
	for i, p := range r.Spec.Published {
		if metricOr(p.Metric) != "test_acc" || p.OnlyClaims || !p.When.Matches(point.cells[0].Cell.At) {
			continue
		}
		heads := r.headsOf(axes, point)
		for j, axis := range axes {
			if p.When[axis] == nil && len(r.axisValues(axis)) > 1 {
				heads[j] = anyValue
			}
		}
		key := fmt.Sprint(i, heads)
		if listed[key] {
			continue
		}
		listed[key] = true
		for _, column := range slices.Sorted(maps.Keys(p.Values)) {
			x := scored{slices.Clone(heads), column, p.Source, p.Values[column], p.FamilyOf(column)}
			if slices.Contains(heads, anyValue) {
				general = append(general, x)
			} else {
				own = append(own, x)
			}
		}
	}
	return append(general, own...)
}

// oursAt are those of our records.
func (r *Results) oursAt(point group, axes []string) []scored {
	var out []scored
	for _, c := range point.cells {
		if s, ok := c.summary("test_acc"); ok {
			mean := exhibit.Number{Mean: 100 * s.Mean, Spread: 100 * s.SD, HasSpread: s.HasSpread()}
			out = append(out, scored{r.headsOf(axes, point), c.Cell.Column, "ours", mean, c.family("test_acc")})
		}
	}
	return out
}
