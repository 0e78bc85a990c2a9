package methodtest

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// faults lists exported fields that method.Register would ignore, and tags that have no effect.
func faults(t reflect.Type) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		say := func(format string, args ...any) {
			out = append(out, fmt.Sprintf("%s.%s: ", t, f.Name)+fmt.Sprintf(format, args...))
		}
		name, tagged := f.Tag.Lookup("toml")
		switch {
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct:
			out = append(out, faults(f.Type)...)
			continue
		case !f.IsExported() || name == "-":
			continue
		case !tagged:
			say("an exported field without a toml tag is neither a setting nor part of a run's identity; use `toml:\"-\"` if that is intended")
			continue
		}
		kind := f.Type.Kind()
		if kind == reflect.Slice {
			kind = f.Type.Elem().Kind()
		}
		number := slices.Contains([]reflect.Kind{reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Float32, reflect.Float64}, kind)
		if !number && kind != reflect.Bool && kind != reflect.String {
			say("a setting cannot be of type %s", f.Type)
		}
		for _, key := range []string{"min", "max"} {
			if s, ok := f.Tag.Lookup(key); ok {
				if _, err := strconv.ParseFloat(s, 64); err != nil || !number {
					say("%s:%q is not a limit of type %s", key, s, f.Type)
				}
			}
		}
		if _, ok := f.Tag.Lookup("enum"); ok && kind != reflect.String {
			say("enum only applies to strings, not to %s", f.Type)
		}
	}
	return out
}
