package report

import (
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
)

// family is the protocol family of a cell's metric, "" if the metric is not a score.
func (c *CellRuns) family(metric string) method.Family {
	return method.FamilyOf(metric, c.Cell.Method(), c.Cell.Protocol)
}

// columnFamilies lists the columns of a table by their protocol family.
type columnFamilies map[method.Family][]string

// add adds a column to a family, unless the family is empty.
func (f columnFamilies) add(column string, family method.Family) {
	if family != "" {
		f[family] = with(f[family], column)
	}
}

// several reports whether a column mixes families.
func (f columnFamilies) several(column string) bool {
	n := 0
	for _, columns := range f {
		if slices.Contains(columns, column) {
			n++
		}
	}
	return n > 1
}

// mark marks an entry with its family if its column has several.
func (f columnFamilies) mark(e *sheet.Entry, column string, family method.Family) {
	if e.State != sheet.Value || !f.several(column) {
		return
	}
	e.Marks += family.Known().Mark
}

// notes explains each family and lists its columns.
func (f columnFamilies) notes() []string {
	var parts []string
	for _, known := range method.Families {
		columns := f[known.Name]
		if columns == nil {
			continue
		}
		part := string(known.Name)
		if slices.ContainsFunc(columns, f.several) {
			part += ", marked " + known.Mark
		}
		part += " (" + known.About + ")"
		if len(f) > 1 && columns[0] != string(known.Name) {
			part += ": " + list(columns)
		}
		parts = append(parts, part)
	}
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return []string{"Protocol family: " + parts[0] + "."}
	}
	return []string{"Protocol families: " + strings.Join(parts, "; ") + "."}
}
