package spec

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dgkip/harness/nearest"
)

// Value is a point on an axis.
type Value struct {
	Text string // as filters and tables name it
	Raw  any    // string, int64, float64 or bool
	node *node
}

func valueOf(n *node) (Value, bool) {
	v := Value{Raw: n.value, node: n}
	switch x := n.value.(type) {
	case string:
		v.Text = x
	case int64:
		v.Text = strconv.FormatInt(x, 10)
	case float64:
		v.Text = strconv.FormatFloat(x, 'g', -1, 64)
	case bool:
		v.Text = strconv.FormatBool(x)
	default:
		return v, false
	}
	return v, true
}

// Values is one value or a list of them, as a file may write either.
type Values []Value

func (v *Values) fromNode(d *decoder, n *node) {
	list := n.list
	if n.value != nil {
		list = []*node{n}
	}
	if n.table != nil || len(list) == 0 {
		d.fault(n, "must be a value or a list of values", "")
		return
	}
	*v = nil
	for _, x := range list {
		one, ok := valueOf(x)
		if !ok {
			d.fault(x, "must be a string, a number or a boolean, not "+x.kind(), "")
			continue
		}
		*v = append(*v, one)
	}
}

func (v Values) matches(text string) bool {
	return slices.ContainsFunc(v, func(one Value) bool { return glob(one.Text, text) })
}

// Texts lists the values as text.
func (v Values) Texts() []string {
	var out []string
	for _, one := range v {
		out = append(out, one.Text)
	}
	return out
}

func glob(pattern, text string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == text
	}
	ok, err := path.Match(pattern, text)
	return ok && err == nil
}

// Where says which cells something is for: those that have one of the values on
// every axis it names. A value may be a pattern such as "dgkip-*".
type Where map[string]Values

func (w *Where) fromNode(d *decoder, n *node) {
	if n.table == nil {
		d.fault(n, "must be a table of axes and their values, such as { method = \"dc\", ipc = [1, 10] }", "")
		return
	}
	*w = Where{}
	for _, k := range n.keys() {
		var v Values
		v.fromNode(d, n.table[k])
		if len(v) > 0 {
			(*w)[k] = v
		}
	}
}

// Matches tells whether a point with the named coordinates is meant.
func (w Where) Matches(point func(axis string) (string, bool)) bool {
	for axis, values := range w {
		if text, ok := point(axis); !ok || !values.matches(text) {
			return false
		}
	}
	return true
}

// Duration is a length of time, written "90s" or "2h30m".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Duration) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a length of time, such as 90s, 45m or 2h30m", b)
	}
	*t = Duration(d)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (t Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(t).String()), nil }

// Size is a number of bytes, written "4GB" or "512MiB".
type Size int64

// units are those of sizes, the longer of two that end alike first.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

var sizeForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (z *Size) UnmarshalText(b []byte) error {
	if m := sizeForm.FindStringSubmatch(string(b)); m != nil {
		for _, u := range units {
			x, err := strconv.ParseFloat(m[1], 64)
			if m[2] != u.name || err != nil {
				continue
			}
			if x *= u.bytes; x > 1<<62 {
				return fmt.Errorf("%q is more than any disk holds", b)
			}
			*z = Size(x)
			return nil
		}
	}
	return fmt.Errorf("%q is not a size, such as 500MB, 4GB or 4GiB", b)
}

// fromNode takes a plain 0, too, for which no unit is needed.
func (z *Size) fromNode(d *decoder, n *node) {
	switch v := n.value.(type) {
	case string:
		if err := z.UnmarshalText([]byte(v)); err != nil {
			d.fault(n, err.Error(), "")
		}
	case int64:
		if v != 0 {
			d.fault(n, fmt.Sprintf("%d is a size without a unit", v), fmt.Sprintf("write \"%dMB\" or \"%dGB\", with quotes", v, v))
		}
		*z = 0
	default:
		d.fault(n, "must be a size such as \"4GB\", not "+n.kind(), "")
	}
}

// Filter selects cells by a line such as
//
//	method:dgkip-lr dataset:mnist ipc:(1 10) -model:fc
//
// Terms are joined by and, the values in brackets by or; a minus excludes, and
// values may be patterns such as dgkip-*. The zero value selects everything.
type Filter struct{ terms []term }

type term struct {
	key    string
	values []string
	not    bool
}

// ParseFilter reads a filter. Its keys must be among the known ones, unless known
// is nil.
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
			if h := nearest.Hint(key, known); h != "" {
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
			t.values, rest = strings.Fields(list), tail
			if rest != "" && !strings.ContainsAny(rest[:1], " \t\r\n") {
				return Filter{}, fmt.Errorf("filter: a blank is missing after %s:(%s)", key, list)
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

// Matches tells whether something with the named coordinates is selected. An axis
// it does not have matches no value.
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

// Unmatched says which of the filter's values match none of those on their axis,
// and what may have been meant. Of values in brackets, one that matches is enough,
// but all must be numbers where the axis has numbers only. An axis of which no
// values are known is left alone.
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
			switch {
			case numbers && !pattern && !isNumber(v):
				out = append(out, fmt.Sprintf("%s:%s is not a number; known are %s", t.key, v, strings.Join(known, ", ")))
			case found:
			case numbers || pattern:
				out = append(out, fmt.Sprintf("no %s matches %s; known are %s", t.key, v, strings.Join(known, ", ")))
			default:
				message := fmt.Sprintf("no %s matches %s", t.key, v)
				if h := nearest.Hint(v, known); h != "" {
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

// Empty tells whether the filter selects everything.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// String returns the filter as ParseFilter reads it.
func (f Filter) String() string {
	var out []string
	for _, t := range f.terms {
		s := t.key + ":" + t.values[0]
		if len(t.values) > 1 {
			s = t.key + ":(" + strings.Join(t.values, " ") + ")"
		}
		if t.not {
			s = "-" + s
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}
