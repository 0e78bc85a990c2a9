package spec

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/nearest"
	"dgkip/harness/toml"
)

const dottedHint = "an axis with a dot sets what is after the dot, as in \"method.steps\""

// evalKeys are what stands in [eval].
func evalKeys() []string { return append(toml.Keys(&scoring{}), method.ProtocolNames()...) }

// evalHas reports whether a path begins with a key of [eval].
func evalHas(path string) bool {
	first, _, _ := strings.Cut(path, ".")
	return slices.Contains(evalKeys(), first)
}

// strayEval reports an axis of a key that [eval] does not have. One of the experiment's
// protocols may.
func (r *reader) strayEval(axis string, n *toml.Node) {
	rest := strings.TrimPrefix(axis, "eval.")
	hint := nearest.Hint(rest, evalKeys())
	known := slices.DeleteFunc(r.axesOf(rest), func(s string) bool { return !strings.HasPrefix(s, `"eval.`) })
	if len(known) > 0 {
		hint = "did you mean " + strings.Join(known, " or ") + "?"
	}
	r.d.FaultKey(n, fmt.Sprintf("unknown key %q in [eval]", rest), hint)
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
