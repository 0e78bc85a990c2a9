package experiment

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// Families are the protocol families of published numbers, by column. A single family for all columns is
// stored under "".
type Families map[string]method.Family

// FamilyOf returns the family of a column's number, or "" if it is not a score.
func (p Published) FamilyOf(column string) method.Family {
	if !method.IsScore(p.Metric) {
		return ""
	}
	if one, ok := p.Family[column]; ok {
		return one
	}
	return p.Family[""]
}

func familyNames() []string {
	var names []string
	for _, f := range method.Families {
		names = append(names, string(f.Name))
	}
	return names
}

func (f *Families) FromNode(d *toml.Decoder, n *toml.Node) {
	*f = Families{}
	of := map[string]*toml.Node{"": n}
	if n.Table != nil {
		of = n.Table
	}
	known := familyNames()
	for _, column := range sortedKeys(of) {
		name, text := of[column].Value.(string)
		if !text || !slices.Contains(known, name) {
			d.Fault(of[column], "family must be one of "+strings.Join(known, ", ")+", or a table of them by column", suggest.Hint(name, known))
		}
		(*f)[column] = method.Family(name)
	}
}

// checkFamilies checks that every score has a family, and nothing else has one.
func (p Published) checkFamilies() error {
	for _, column := range sortedKeys(p.Values) {
		if method.IsScore(p.Metric) && p.FamilyOf(column) == "" {
			return &method.BadSetting{Key: "family", Why: fmt.Sprintf("is missing for %s of %q: name the family of protocols by which it was scored", column, p.Source), Hint: "known are " + strings.Join(familyNames(), ", ")}
		}
	}
	for _, column := range sortedKeys(p.Family) {
		if _, ok := p.Values[column]; !ok && column != "" {
			return &method.BadSetting{Key: "family", Why: fmt.Sprintf("names %q, which has no value", column)}
		}
	}
	return nil
}
