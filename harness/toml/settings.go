package toml

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
)

// setting is a field of a struct that a file may set.
type setting struct {
	name     string
	value    reflect.Value
	field    reflect.StructField
	of       reflect.Type // the struct
	omitZero bool
}

// settings returns the fields with a toml tag of a struct or of a pointer to one. Other values have none.
func settings(v reflect.Value) (out []setting) {
	if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
		return nil
	}
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
		out = append(out, setting{name, v.Field(i), f, v.Type(), options == "omitzero"})
	}
	return out
}

// Keys returns the names that a file may set in a struct of settings, or in a pointer to one.
func Keys(v any) (out []string) {
	for _, s := range settings(reflect.ValueOf(v)) {
		out = append(out, s.name)
	}
	return out
}

// Declared describes a setting of a struct.
type Declared struct {
	Name    string
	Value   any          // ready for JSON
	Allowed string       // the values that the decoder allows
	Of      reflect.Type // the struct
	Field   string       // the name of its field
}

// Declarations describes the settings of a struct, or of a pointer to one, in order. Settings of lists of
// tables have names with dots.
func Declarations(v any) []Declared { return declarations(reflect.ValueOf(v), "") }

func declarations(v reflect.Value, prefix string) (out []Declared) {
	for _, s := range settings(v) {
		if t := s.field.Type; t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			out = append(out, declarations(reflect.New(t.Elem()), prefix+s.name+".")...)
			continue
		}
		value := plain(s.value)
		if text, ok := s.value.Interface().(fmt.Stringer); ok {
			value = text.String()
		}
		out = append(out, Declared{prefix + s.name, value, allowed(s.field), s.of, s.field.Name})
	}
	return out
}

// allowed describes the values that a setting may have. The tag form is for types that decode themselves.
func allowed(f reflect.StructField) string {
	form := cmp.Or(f.Tag.Get("form"), map[reflect.Kind]string{reflect.String: "text", reflect.Bool: "true or false", reflect.Slice: "a list",
		reflect.Map: "a table", reflect.Float32: "a number", reflect.Float64: "a number"}[f.Type.Kind()])
	if form == "" && f.Type.ConvertibleTo(reflect.TypeFor[float64]()) {
		form = "an integer"
	} else if form == "" {
		form = "text"
	}
	if f.Tag.Get("enum") != "" {
		var names []string
		for one := range strings.SplitSeq(f.Tag.Get("enum"), ",") {
			names = append(names, fmt.Sprintf("%q", one))
		}
		form = strings.Join(names, ", ")
		if f.Type.Kind() == reflect.Slice {
			form = "a list of " + form
		}
	}
	low, high := f.Tag.Get("min"), f.Tag.Get("max")
	switch {
	case low != "" && high != "":
		form += ", " + low + " to " + high
	case low != "":
		form += ", at least " + low
	case high != "":
		form += ", at most " + high
	}
	if f.Tag.Get("required") != "" {
		form += "; required"
	}
	return form
}

// Settings returns the settings of a struct by name, ready for JSON.
func Settings(v any) map[string]any {
	out := map[string]any{}
	for _, f := range settings(reflect.ValueOf(v)) {
		if !f.omitZero || !f.value.IsZero() {
			out[f.name] = plain(f.value)
		}
	}
	return out
}

func plain(v reflect.Value) any {
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
