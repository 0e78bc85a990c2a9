package experiment

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/suggest"
)

// Filter selects cells by a line such as
//
//	method:dgkip-lr dataset:mnist ipc:(1 10) -model:fc
//
// A cell must match every term. Brackets list alternative values. A minus excludes the cells that match
// its term. Values may be patterns such as dgkip-*. Empty brackets match the empty text. The zero Filter
// selects all cells.
type Filter struct{ terms []term }

type term struct {
	key    string
	values []string
	not    bool
}

// UnmarshalText implements encoding.TextUnmarshaler. It accepts any key.
func (f *Filter) UnmarshalText(b []byte) (err error) {
	*f, err = ParseFilter(string(b), nil)
	return err
}

// termForm matches a term at the beginning of a filter: a minus, the key, and its values with or without
// brackets.
var termForm = regexp.MustCompile(`^(-?)([^\s():]+):(?:\(([^():]*)\)|([^\s():]+))(?:\s+|$)`)

// ParseFilter reads a filter. Its keys must be in known, unless known is nil.
func ParseFilter(text string, known []string) (Filter, error) {
	var f Filter
	for rest := strings.TrimSpace(text); rest != ""; {
		m := termForm.FindStringSubmatch(rest)
		if m == nil {
			return Filter{}, fmt.Errorf("filter: %q is not of the form key:value or key:(value value)", rest)
		}
		t := term{key: m[2], values: strings.Fields(m[3] + m[4]), not: m[1] != ""}
		if known != nil && !slices.Contains(known, t.key) {
			err := fmt.Errorf("filter: unknown key %q", t.key)
			if h := suggest.Hint(t.key, known); h != "" {
				err = fmt.Errorf("%w; %s", err, h)
			}
			return Filter{}, err
		}
		for _, v := range t.values {
			if _, err := path.Match(v, ""); err != nil {
				return Filter{}, fmt.Errorf("filter: %q is not a valid pattern", v)
			}
		}
		if len(t.values) == 0 {
			t.values = []string{""}
		}
		f.terms, rest = append(f.terms, t), rest[len(m[0]):]
	}
	return f, nil
}

// Term returns a filter for a value of an axis. Characters that are special to filters or shells become
// wildcards.
func Term(axis, value string) string {
	if value == "" {
		return axis + ":()"
	}
	return axis + ":" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n():*?[]\\'", r) {
			return '?'
		}
		return r
	}, value)
}

// Matches reports whether the filter selects a point. No value matches an axis that the point lacks.
func (f Filter) Matches(point func(axis string) (string, bool)) bool {
	for _, t := range f.terms {
		text, ok := point(t.key)
		ok = ok && slices.ContainsFunc(t.values, func(v string) bool { return glob(v, text) })
		if ok == t.not {
			return false
		}
	}
	return true
}

// Selects reports whether the filter selects a run of a cell. A run that supplies the time of another cell
// is selected with that cell.
func (f Filter) Selects(c *Cell, seed uint64) bool {
	if c.timing == nil {
		return f.Matches(c.Of(seed))
	}
	return slices.ContainsFunc(c.timing, func(x *Cell) bool { return f.Matches(x.Of(seed)) })
}

// Unmatched describes the values of the filter that match nothing on their axis, with suggestions. Axes
// without known values are ignored.
func (f Filter) Unmatched(values func(axis string) []string) []string {
	var out []string
	for _, t := range f.terms {
		known := values(t.key)
		for _, v := range t.values {
			if len(known) == 0 || slices.ContainsFunc(known, func(text string) bool { return glob(v, text) }) {
				continue
			}
			hint := "known are " + strings.Join(known, ", ")
			_, err := strconv.ParseFloat(v, 64)
			if meant := suggest.Name(v, known); meant != "" && err != nil { // numbers are not misspelt
				hint = fmt.Sprintf("did you mean %q?", meant)
			}
			out = append(out, fmt.Sprintf("no %s matches %s; %s", t.key, cmp.Or(v, "()"), hint))
		}
	}
	return out
}

// Empty reports whether the filter selects everything.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// String returns the filter in the form that ParseFilter reads.
func (f Filter) String() string {
	var out []string
	for _, t := range f.terms {
		s := t.key + ":" + t.values[0]
		if len(t.values) > 1 || t.values[0] == "" {
			s = t.key + ":(" + strings.Join(t.values, " ") + ")"
		}
		if t.not {
			s = "-" + s
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}
