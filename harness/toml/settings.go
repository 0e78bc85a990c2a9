package toml

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"dgkip/harness/method"
)

// setting is a field of a struct that a file may set.
type setting struct {
	name     string
	value    reflect.Value
	field    reflect.StructField
	of       reflect.Type // the struct
	omitZero bool
}

// settings returns the fields of a struct that have a toml tag.
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
		out = append(out, setting{name, v.Field(i), f, v.Type(), options == "omitzero"})
	}
	return out
}

// Keys returns the names that a file may set in a struct of settings, or in a pointer to one.
func Keys(v any) (out []string) {
	for _, s := range All(v) {
		out = append(out, s.Name)
	}
	return out
}

// Named is a setting and its value, ready for JSON.
type Named struct {
	Name  string
	Value any
}

// All returns the settings of a struct in order.
func All(v any) (out []Named) {
	if p := reflect.Indirect(reflect.ValueOf(v)); p.Kind() == reflect.Struct {
		for _, f := range settings(p) {
			out = append(out, Named{f.name, plain(f.value)})
		}
	}
	return out
}

// Declared describes a setting of a struct.
type Declared struct {
	Name    string
	Default any          // ready for JSON
	Allowed string       // the values that the decoder and the struct's own check allow
	Of      reflect.Type // the struct
	Field   string       // the name of its field
}

// Declarations describes the settings of a pointer to a struct. Settings of tables inside it have names
// with dots.
func Declarations(v any) []Declared {
	return declarations(reflect.ValueOf(v).Elem(), "", v)
}

func declarations(v reflect.Value, prefix string, whole any) (out []Declared) {
	for _, s := range settings(v) {
		if t := s.field.Type; t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			one := reflect.New(t.Elem())
			out = append(out, declarations(one.Elem(), prefix+s.name+".", one.Interface())...)
			continue
		}
		out = append(out, Declared{prefix + s.name, plain(s.value), allowed(s.field, s.name, whole), s.of, s.field.Name})
	}
	return out
}

// allowed describes the values that a setting may have.
func allowed(f reflect.StructField, name string, whole any) string {
	form := map[reflect.Kind]string{reflect.String: "text", reflect.Bool: "true or false", reflect.Slice: "a list",
		reflect.Map: "a table", reflect.Float32: "a number", reflect.Float64: "a number"}[f.Type.Kind()]
	number := strings.HasSuffix(form, "number")
	if form == "" && f.Type.ConvertibleTo(reflect.TypeFor[float64]()) {
		form, number = "an integer", true
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
	if why := refusal(name, f, whole); number && low == "" && why != "" {
		form += ", " + why
	}
	if f.Tag.Get("required") != "" {
		form += "; required"
	}
	return form
}

// refusal returns why the struct's own check rejects -1 for a number, or "" if it does not.
func refusal(name string, f reflect.StructField, whole any) string {
	v := reflect.New(reflect.TypeOf(whole).Elem())
	v.Elem().Set(reflect.ValueOf(whole).Elem())
	checker, is := v.Interface().(method.Checker)
	at := v.Elem().FieldByName(f.Name)
	if !is || !at.CanSet() {
		return ""
	}
	switch {
	case at.CanFloat():
		at.SetFloat(-1)
	case at.CanInt():
		at.SetInt(-1)
	default:
		return ""
	}
	return said(checker.Check(), name)
}

// said returns what an error says about a setting, without the value -1.
func said(err error, name string) string {
	if several, is := err.(interface{ Unwrap() []error }); is {
		for _, one := range several.Unwrap() {
			if why := said(one, name); why != "" {
				return why
			}
		}
	}
	var bad *method.BadSetting
	if errors.As(err, &bad) && bad.Key == name {
		return strings.TrimSuffix(bad.Why, ", not -1")
	}
	return ""
}

// Settings returns the settings of a struct by name, ready for JSON.
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
