package toml

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
)

// Decoder fills structs from nodes. It continues after a mistake, to find all of them.
//
// Fields are named by toml tags. The tags min, max, enum and required restrict the values. The tag hint is
// for numbers that are written as something else. A struct that implements method.Checker checks the rest.
type Decoder struct {
	Faults   Faults // mistakes, each once
	Reported int    // number of mistakes, repeated ones included
	known    map[Fault]bool
}

// FromNode is implemented by types that decode themselves.
type FromNode interface{ FromNode(d *Decoder, n *Node) }

// ValueChecker is implemented by tables with values that can be checked one by one, even if other values
// are wrong.
type ValueChecker interface{ CheckValues() error }

// Fault reports a mistake in a value.
func (d *Decoder) Fault(n *Node, message, hint string) { d.add(n, false, message, hint) }

// FaultKey reports a mistake at the key.
func (d *Decoder) FaultKey(n *Node, message, hint string) { d.add(n, true, message, hint) }

func (d *Decoder) add(n *Node, onKey bool, message, hint string) {
	d.Reported++
	if d.Full() {
		return // finding the place is slow, above all in a long line
	}
	if d.known == nil {
		d.known = map[Fault]bool{}
	}
	if f := n.Fault(onKey, message, hint); !d.known[f] {
		d.known[f] = true
		d.Faults = append(d.Faults, f)
	}
}

// Full reports whether there are more mistakes than anyone would read. The decoder keeps no more, so the
// caller can stop.
func (d *Decoder) Full() bool { return len(d.Faults) >= keptFaults }

// Into fills the struct that v points to. It ignores the keys in others.
func (d *Decoder) Into(n *Node, v any, what string, others ...string) {
	d.table(n, reflect.ValueOf(v).Elem(), what, others)
}

func (d *Decoder) table(n *Node, v reflect.Value, what string, others []string) {
	if n.Table == nil {
		d.Fault(n, fmt.Sprintf("%s must be a table, not %s", what, n.Kind()), "")
		return
	}
	fields := settings(v)
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	before := d.Reported
	for _, k := range n.Keys() {
		if i := slices.Index(names, k); i >= 0 {
			d.value(n.Table[k], fields[i].value, k, fields[i].field.Tag)
		} else if !slices.Contains(others, k) && !d.Full() {
			d.FaultKey(n.Table[k], fmt.Sprintf("unknown key %q in %s", k, what), suggest.Hint(k, slices.Concat(names, others)))
		}
	}
	for _, f := range fields {
		if required := f.field.Tag.Get("required"); required != "" && n.Table[f.name] == nil {
			hint := ""
			if required != "true" {
				hint = "write " + required
			}
			d.FaultKey(n, fmt.Sprintf("the key %q is missing in %s", f.name, what), hint)
		}
	}
	if !v.CanAddr() {
		return
	}
	if c, ok := v.Addr().Interface().(ValueChecker); ok {
		d.report(n, c.CheckValues(), what)
	}
	if d.Reported > before {
		return // checking half a table would only confuse
	}
	if c, ok := v.Addr().Interface().(method.Checker); ok {
		d.report(n, c.Check(), what)
	}
}

// report reports the errors of a table's own check, at the keys that they name.
func (d *Decoder) report(n *Node, err error, what string) {
	if err == nil {
		return
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			d.report(n, e, what)
		}
		return
	}
	var bad *method.BadSetting
	switch {
	case errors.As(err, &bad) && n.Table[bad.Key] != nil:
		d.Fault(n.Table[bad.Key], err.Error(), bad.Hint)
	case bad != nil:
		d.FaultKey(n, what+": "+err.Error(), bad.Hint)
	default:
		d.FaultKey(n, what+": "+err.Error(), "")
	}
}

func (d *Decoder) value(n *Node, v reflect.Value, key string, tag reflect.StructTag) {
	if v.CanAddr() && d.own(n, v.Addr().Interface(), key) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		d.str(n, v, key, tag)
	case reflect.Bool:
		if b, ok := n.Value.(bool); ok {
			v.SetBool(b)
		} else {
			d.wrong(n, key, "true or false")
		}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		d.integer(n, v, key, tag)
	case reflect.Float64, reflect.Float32:
		d.float(n, v, key, tag)
	case reflect.Slice:
		d.list(n, v, key, tag)
	case reflect.Map:
		d.byName(n, v, key, tag)
	case reflect.Struct:
		d.table(n, v, "["+key+"]", nil)
	case reflect.Pointer:
		d.pointer(n, v, key, tag)
	default:
		panic("toml: a setting has a type that TOML cannot express")
	}
}

func (d *Decoder) wrong(n *Node, key, want string) {
	d.Fault(n, fmt.Sprintf("%s must be %s, not %s", key, want, n.Kind()), "")
}

// own lets a type decode itself, and reports whether it can.
func (d *Decoder) own(n *Node, v any, key string) bool {
	switch own := v.(type) {
	case FromNode:
		own.FromNode(d, n)
	case encoding.TextUnmarshaler:
		if s, ok := n.Value.(string); !ok {
			d.wrong(n, key, "a string")
		} else if err := own.UnmarshalText([]byte(s)); err != nil {
			d.Fault(n, fmt.Sprintf("%s: %v", key, err), "")
		}
	default:
		return false
	}
	return true
}

func (d *Decoder) str(n *Node, v reflect.Value, key string, tag reflect.StructTag) {
	s, ok := n.Value.(string)
	if !ok {
		d.wrong(n, key, "a string")
		return
	}
	if list, ok := tag.Lookup("enum"); ok {
		if allowed := strings.Split(list, ","); !slices.Contains(allowed, s) {
			shown := slices.DeleteFunc(allowed, func(s string) bool { return s == "" })
			hint := ""
			if meant := suggest.Name(s, shown); meant != "" {
				hint = suggest.Hint(s, shown)
			}
			d.Fault(n, fmt.Sprintf("%s is %q, which is not one of %s", key, s, strings.Join(shown, ", ")), hint)
			return
		}
	}
	v.SetString(s)
}

// exact is the limit up to which float64 represents every integer. Settings in records are read back as
// float64.
const exact = 1 << 53

func (d *Decoder) integer(n *Node, v reflect.Value, key string, tag reflect.StructTag) {
	i, ok := n.Value.(int64)
	switch {
	case !ok:
		d.wrong(n, key, "an integer")
	case v.CanUint() && i < 0:
		d.Fault(n, key+" must be at least 0", "")
	case !v.CanUint() && v.OverflowInt(i):
		d.Fault(n, key+" is too large", "")
	case !d.bounds(n, float64(i), v, key, tag):
	case i > exact:
		d.Fault(n, fmt.Sprintf("%s must be at most %d", key, exact), "")
	case i < -exact:
		d.Fault(n, fmt.Sprintf("%s must be at least -%d", key, exact), "")
	case v.CanUint():
		v.SetUint(uint64(i))
	default:
		v.SetInt(i)
	}
}

func (d *Decoder) float(n *Node, v reflect.Value, key string, tag reflect.StructTag) {
	f, ok := n.Value.(float64)
	if i, whole := n.Value.(int64); whole {
		f, ok = float64(i), true
	}
	switch {
	case !ok:
		d.Fault(n, fmt.Sprintf("%s must be a number, not %s", key, n.Kind()), tag.Get("hint"))
	case math.IsNaN(f) || math.IsInf(f, 0):
		d.Fault(n, key+" must be a finite number", "")
	case d.bounds(n, f, v, key, tag):
		v.SetFloat(f)
	}
}

func (d *Decoder) list(n *Node, v reflect.Value, key string, tag reflect.StructTag) {
	if n.Table != nil || n.Value != nil {
		hint := ""
		if n.Table != nil && v.Type().Elem().Kind() == reflect.Struct {
			hint = fmt.Sprintf("write [[%s]]", key)
		}
		d.Fault(n, fmt.Sprintf("%s must be a list, not %s", key, n.Kind()), hint)
		return
	}
	out, before := reflect.MakeSlice(v.Type(), len(n.List), len(n.List)), d.Reported
	for i, x := range n.List {
		d.value(x, out.Index(i), key, tag)
	}
	if d.Reported == before || v.Type().Elem().Kind() == reflect.Struct { // checking half a list of values would only confuse
		v.Set(out)
	}
}

func (d *Decoder) byName(n *Node, v reflect.Value, key string, tag reflect.StructTag) {
	if n.Table == nil {
		d.wrong(n, key, "a table")
		return
	}
	out := reflect.MakeMap(v.Type())
	for _, k := range n.Keys() {
		x := reflect.New(v.Type().Elem()).Elem()
		d.value(n.Table[k], x, key+"."+k, tag)
		out.SetMapIndex(reflect.ValueOf(k), x)
	}
	v.Set(out)
}

func (d *Decoder) pointer(n *Node, v reflect.Value, key string, tag reflect.StructTag) {
	if v.Type() == reflect.TypeFor[*Node]() {
		v.Set(reflect.ValueOf(n))
		return
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	d.value(n, v.Elem(), key, tag)
}

// bounds reports a number outside the limits of its tag. v still holds the default.
func (d *Decoder) bounds(n *Node, x float64, v reflect.Value, key string, tag reflect.StructTag) bool {
	hint := ""
	if !v.IsZero() {
		hint = fmt.Sprintf("the default is %v", v)
	}
	limit := func(name string) (float64, bool) {
		s, ok := tag.Lookup(name)
		if !ok {
			return 0, false
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic("toml: a limit of a setting is not a number")
		}
		return f, true
	}
	if least, ok := limit("min"); ok && x < least {
		d.Fault(n, fmt.Sprintf("%s must be at least %v", key, least), hint)
		return false
	}
	if most, ok := limit("max"); ok && x > most {
		d.Fault(n, fmt.Sprintf("%s must be at most %v", key, most), hint)
		return false
	}
	return true
}

// Known reports the strings of a list that are not in known.
func (d *Decoder) Known(n *Node, known []string, what string) {
	if n == nil {
		return
	}
	for _, one := range n.List {
		if d.Full() {
			return
		}
		if s, ok := one.Value.(string); ok && !slices.Contains(known, s) {
			d.Fault(one, fmt.Sprintf("%q is not %s", s, what), suggest.Hint(s, known))
		}
	}
}
