package spec

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
	"dgkip/harness/nearest"
)

// decoder fills structs from nodes. It goes on after a mistake, so as to find all.
type decoder struct{ faults Faults }

func (d *decoder) fault(n *node, message, hint string) {
	d.faults = append(d.faults, n.fault(false, message, hint))
}

func (d *decoder) faultKey(n *node, message, hint string) {
	d.faults = append(d.faults, n.fault(true, message, hint))
}

// fromNode is implemented by types that read themselves.
type fromNode interface{ fromNode(d *decoder, n *node) }

// setting is a field of a struct that a file may set.
type setting struct {
	name     string
	value    reflect.Value
	tag      reflect.StructTag
	omitZero bool
}

// settings lists the fields of a struct that have a toml tag.
func settings(v reflect.Value) []setting {
	var out []setting
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("toml") == "" {
			out = append(out, settings(v.Field(i))...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		out = append(out, setting{name: name, value: v.Field(i), tag: f.Tag, omitZero: options == "omitzero"})
	}
	return out
}

// into fills the struct that v points to. Keys in skip belong to others.
func (d *decoder) into(n *node, v any, what string, skip ...string) {
	p := reflect.ValueOf(v)
	d.strct(n, p.Elem(), what, skip)
}

func (d *decoder) strct(n *node, v reflect.Value, what string, skip []string) {
	if n.table == nil {
		d.fault(n, fmt.Sprintf("%s must be a table, not %s", what, n.kind()), "")
		return
	}
	fields := settings(v)
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	before := len(d.faults)
	for _, k := range n.keys() {
		i := slices.Index(names, k)
		if i < 0 {
			if !slices.Contains(skip, k) {
				d.faultKey(n.table[k], fmt.Sprintf("unknown key %q in %s", k, what), nearest.Hint(k, append(slices.Clone(names), skip...)))
			}
			continue
		}
		d.value(n.table[k], fields[i].value, k, fields[i].tag)
	}
	for _, f := range fields {
		if f.tag.Get("required") != "" && n.table[f.name] == nil {
			d.faultKey(n, fmt.Sprintf("the key %q is missing in %s", f.name, what), "")
		}
	}
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(valueChecker); ok {
			d.report(n, c.CheckValues(), what)
		}
	}
	if len(d.faults) > before {
		return // a check of half a table would only confuse
	}
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(method.Checker); ok {
			d.report(n, c.Check(), what)
		}
	}
}

// valueChecker is implemented by tables some of whose values can be checked each
// by itself, so that this makes sense where others are wrong.
type valueChecker interface{ CheckValues() error }

// report reports what a table's own check found, at the key that it names.
func (d *decoder) report(n *node, err error, what string) {
	var report func(err error)
	report = func(err error) {
		var bad *method.BadSetting
		switch many, ok := err.(interface{ Unwrap() []error }); {
		case ok:
			for _, e := range many.Unwrap() {
				report(e)
			}
		case errors.As(err, &bad) && n.table[bad.Key] != nil:
			d.fault(n.table[bad.Key], err.Error(), bad.Hint)
		case bad != nil:
			d.faultKey(n, what+": "+err.Error(), bad.Hint)
		default:
			d.faultKey(n, what+": "+err.Error(), "")
		}
	}
	if err != nil {
		report(err)
	}
}

func (d *decoder) value(n *node, v reflect.Value, key string, tag reflect.StructTag) {
	if v.CanAddr() {
		if own, ok := v.Addr().Interface().(fromNode); ok {
			own.fromNode(d, n)
			return
		}
		if own, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
			s, ok := n.value.(string)
			if !ok {
				d.fault(n, fmt.Sprintf("%s must be a string, not %s", key, n.kind()), "")
			} else if err := own.UnmarshalText([]byte(s)); err != nil {
				d.fault(n, fmt.Sprintf("%s: %v", key, err), "")
			}
			return
		}
	}
	wrong := func(want string) {
		d.fault(n, fmt.Sprintf("%s must be %s, not %s", key, want, n.kind()), "")
	}
	switch v.Kind() {
	case reflect.String:
		s, ok := n.value.(string)
		if !ok {
			wrong("a string")
			return
		}
		if list, ok := tag.Lookup("enum"); ok {
			if allowed := strings.Split(list, ","); !slices.Contains(allowed, s) {
				shown := slices.DeleteFunc(allowed, func(s string) bool { return s == "" })
				d.fault(n, fmt.Sprintf("%s is %q, which is not one of %s", key, s, strings.Join(shown, ", ")), nearest.Hint(s, shown))
				return
			}
		}
		v.SetString(s)
	case reflect.Bool:
		b, ok := n.value.(bool)
		if !ok {
			wrong("true or false")
			return
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64, reflect.Int32:
		i, ok := n.value.(int64)
		if !ok {
			wrong("an integer")
			return
		}
		if v.OverflowInt(i) {
			d.fault(n, key+" is too large", "")
			return
		}
		if d.bounds(n, float64(i), key, tag) {
			v.SetInt(i)
		}
	case reflect.Float64, reflect.Float32:
		var f float64
		switch x := n.value.(type) {
		case float64:
			f = x
		case int64:
			f = float64(x)
		default:
			wrong("a number")
			return
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			d.fault(n, key+" must be a finite number", "")
			return
		}
		if d.bounds(n, f, key, tag) {
			v.SetFloat(f)
		}
	case reflect.Slice:
		if n.table != nil || n.value != nil {
			wrong("a list")
			return
		}
		out := reflect.MakeSlice(v.Type(), len(n.list), len(n.list))
		for i, x := range n.list {
			d.value(x, out.Index(i), key, tag)
		}
		v.Set(out)
	case reflect.Map:
		if n.table == nil {
			wrong("a table")
			return
		}
		out := reflect.MakeMap(v.Type())
		for _, k := range n.keys() {
			x := reflect.New(v.Type().Elem()).Elem()
			d.value(n.table[k], x, key+"."+k, tag)
			out.SetMapIndex(reflect.ValueOf(k), x)
		}
		v.Set(out)
	case reflect.Struct:
		d.strct(n, v, "["+key+"]", nil)
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*node]() {
			v.Set(reflect.ValueOf(n))
			return
		}
		x := reflect.New(v.Type().Elem())
		d.value(n, x.Elem(), key, tag)
		v.Set(x)
	default:
		panic("spec: a setting has a type that no file can give")
	}
}

func (d *decoder) bounds(n *node, x float64, key string, tag reflect.StructTag) bool {
	limit := func(name string) (float64, bool) {
		s, ok := tag.Lookup(name)
		if !ok {
			return 0, false
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic("spec: a bound of a setting is not a number")
		}
		return f, true
	}
	if least, ok := limit("min"); ok && x < least {
		d.fault(n, fmt.Sprintf("%s must be at least %v", key, least), "")
		return false
	}
	if most, ok := limit("max"); ok && x > most {
		d.fault(n, fmt.Sprintf("%s must be at most %v", key, most), "")
		return false
	}
	return true
}

// Settings returns what a struct of settings declares, by name, ready for JSON.
func Settings(v any) map[string]any {
	p := reflect.ValueOf(v)
	for p.Kind() == reflect.Pointer {
		p = p.Elem()
	}
	out := map[string]any{}
	if p.Kind() != reflect.Struct {
		return out
	}
	for _, f := range settings(p) {
		if f.omitZero && f.value.IsZero() {
			continue
		}
		out[f.name] = plain(f.value)
	}
	return out
}

func plain(v reflect.Value) any {
	if text, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := text.MarshalText()
		if err != nil {
			panic("spec: a setting has no text")
		}
		return string(b)
	}
	switch v.Kind() {
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	case reflect.Struct:
		return Settings(v.Interface())
	case reflect.Map:
		out := map[string]any{}
		for _, k := range v.MapKeys() {
			out[k.String()] = plain(v.MapIndex(k))
		}
		return out
	}
	return v.Interface()
}
