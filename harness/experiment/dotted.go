package experiment

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

const dottedHint = "an axis with a dot sets the key after the dot, as in \"method.steps\""

// keysOf returns the keys that axes may set in a section of withKeys. For "method", these are the
// settings of all methods of the grid.
func (r *reader) keysOf(part string) []string {
	switch part {
	case "eval":
		return append(toml.Keys(&scoring{}), method.ProtocolNames()...)
	case "model":
		return toml.Keys(method.Model{})
	}
	var out []string
	for _, column := range r.values("method") {
		out = append(out, toml.Keys(method.New(r.methodName(column)))...)
	}
	return once(out)
}

// stray reports an axis that sets a key unknown in its section. Cells then ignore the axis. The hint
// names other sections with that key.
func (r *reader) stray(axis, part, key string) {
	keys := r.keysOf(part)
	if first, _, _ := strings.Cut(key, "."); slices.Contains(keys, first) || part == "method" && r.values(part) == nil {
		return
	}
	r.strays = append(r.strays, axis)
	what, hint := "["+part+"]", suggest.Hint(key, keys)
	if part == "method" {
		what = "the settings of the grid's methods"
	}
	known := slices.DeleteFunc(r.axesOf(key), func(s string) bool { return part == "eval" && !strings.HasPrefix(s, `"eval.`) })
	if len(known) > 0 {
		hint = "did you mean " + strings.Join(known, " or ") + "?"
	}
	r.d.FaultKey(r.doc.Grid.Table[axis], fmt.Sprintf("unknown key %q in %s", key, what), hint)
}

// axesOf returns the axes, in quotes, that would set a key of the experiment's methods, networks or
// protocols.
func (r *reader) axesOf(key string) []string {
	var out []string
	try := func(part string, settings any) {
		if slices.Contains(toml.Keys(settings), key) {
			out = append(out, fmt.Sprintf("%q", part+"."+key))
		}
	}
	for _, column := range r.values("method") {
		try("method", method.New(r.methodName(column)))
	}
	try("model", method.Model{})
	try("eval", scoring{})
	for _, name := range r.protocols() {
		try("eval."+name, method.NewProtocol(name))
	}
	return once(out)
}

// protocols returns the protocols of the experiment. They are named by [eval] or an axis, or else by the
// methods, and in addition by any [[set]].
func (r *reader) protocols() []string {
	out := r.values("eval.protocol")
	if name, ok := r.doc.Eval.Text("protocol"); ok {
		out = append(out, name)
	}
	if out == nil {
		for _, column := range r.values("method") {
			if m := method.New(r.methodName(column)); m != nil {
				out = append(out, m.Info().Protocol)
			}
		}
	}
	for _, s := range r.doc.Set {
		if name, ok := s.With.Get("eval").Text("protocol"); ok {
			out = append(out, name)
		}
	}
	return once(out)
}
