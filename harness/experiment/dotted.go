package experiment

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

const dottedHint = "an axis with a dot sets what is after the dot, as in \"method.steps\""

// evalKeys are what stands in [eval].
func evalKeys() []string { return append(toml.Keys(&scoring{}), method.ProtocolNames()...) }

// keysOf lists what axes that begin with one of withKeys may set: of methods, what any of the
// grid's has.
func (r *reader) keysOf(part string) []string {
	switch part {
	case "eval":
		return evalKeys()
	case "model":
		return toml.Keys(method.Model{})
	}
	var out []string
	for _, column := range r.values("method") {
		out = append(out, toml.Keys(method.New(r.methodName(column)))...)
	}
	return once(out)
}

// stray reports an axis of a key that its part does not have, which is then left out of
// cells. Another part, or one of the experiment's protocols, may have it.
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

// axesOf lists the axes, in quotes, that set a key of the experiment's methods, of
// networks or of the experiment's protocols.
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

// protocols names those that score the experiment: what it asks for, or else those of
// its methods.
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
