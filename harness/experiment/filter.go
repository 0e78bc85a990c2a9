package experiment

import (
	"cmp"
	"fmt"
	"path"
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

// ParseFilter reads a filter. Its keys must be in known, unless known is nil.
func ParseFilter(text string, known []string) (Filter, error) {
	var f Filter
	rest := text
	for {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" {
			return f, nil
		}
		var t term
		rest, t.not = strings.CutPrefix(rest, "-")
		key, after, ok := strings.Cut(rest, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \t\r\n()") {
			word, _, _ := strings.Cut(rest, " ")
			return Filter{}, fmt.Errorf("filter: %q is not of the form key:value or key:(value value)", word)
		}
		if known != nil && !slices.Contains(known, key) {
			err := fmt.Errorf("filter: unknown key %q", key)
			if h := suggest.Hint(key, known); h != "" {
				err = fmt.Errorf("%w; %s", err, h)
			}
			return Filter{}, err
		}
		t.key = key
		if inner, isList := strings.CutPrefix(after, "("); isList {
			list, tail, closed := strings.Cut(inner, ")")
			if !closed {
				return Filter{}, fmt.Errorf("filter: the bracket after %s: is not closed", key)
			}
			if t.values, rest = strings.Fields(list), tail; len(t.values) == 0 {
				t.values = []string{""}
			}
			if rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n") {
				return Filter{}, fmt.Errorf("filter: a space is missing after %s:(%s)", key, list)
			}
		} else {
			end := strings.IndexAny(after, " \t\r\n")
			if end < 0 {
				end = len(after)
			}
			if after[:end] != "" {
				t.values = []string{after[:end]}
			}
			rest = after[end:]
		}
		if len(t.values) == 0 {
			return Filter{}, fmt.Errorf("filter: %s has no value", key)
		}
		for _, v := range t.values {
			if strings.ContainsAny(v, "():") {
				return Filter{}, fmt.Errorf("filter: %q cannot be a value of %s", v, key)
			}
			if _, err := path.Match(v, ""); err != nil {
				return Filter{}, fmt.Errorf("filter: %q is not a valid pattern", v)
			}
		}
		f.terms = append(f.terms, t)
	}
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

// Unmatched describes the values of the filter that match nothing on their axis, with suggestions. Of
// values in brackets, one that matches is enough. On a numeric axis, a value that is neither a number
// nor a pattern is always described. Axes without known values are ignored.
func (f Filter) Unmatched(values func(axis string) []string) []string {
	var out []string
	for _, t := range f.terms {
		known := values(t.key)
		if len(known) == 0 {
			continue
		}
		numbers := !slices.ContainsFunc(known, func(s string) bool { return !isNumber(s) })
		found := slices.ContainsFunc(t.values, func(v string) bool {
			return slices.ContainsFunc(known, func(text string) bool { return glob(v, text) })
		})
		for _, v := range t.values {
			pattern := strings.ContainsAny(v, "*?[")
			shown := cmp.Or(v, "()")
			switch {
			case numbers && !pattern && !isNumber(v):
				out = append(out, fmt.Sprintf("%s:%s is not a number; known are %s", t.key, shown, strings.Join(known, ", ")))
			case found:
			case numbers || pattern:
				out = append(out, fmt.Sprintf("no %s matches %s; known are %s", t.key, shown, strings.Join(known, ", ")))
			default:
				message := fmt.Sprintf("no %s matches %s", t.key, shown)
				if h := suggest.Hint(v, known); h != "" {
					message += "; " + h
				}
				out = append(out, message)
			}
		}
	}
	return out
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
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
