package toml

import (
	"reflect"
	"strings"
)

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

// Keys lists what a struct of settings, or a pointer to one, lets a file set.
func Keys(v any) []string {
	var out []string
	if p := reflect.Indirect(reflect.ValueOf(v)); p.Kind() == reflect.Struct {
		for _, f := range settings(p) {
			out = append(out, f.name)
		}
	}
	return out
}

// Named is a setting and its value, ready for JSON.
type Named struct {
	Name  string
	Value any
}

// All lists what a struct of settings declares, in its order.
func All(v any) (out []Named) {
	if p := reflect.Indirect(reflect.ValueOf(v)); p.Kind() == reflect.Struct {
		for _, f := range settings(p) {
			out = append(out, Named{f.name, plain(f.value)})
		}
	}
	return out
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
