package experiment

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

const dottedHint = "an axis with a dot sets the key after the dot, as in \"method.updates\""

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
		out = With(out, toml.Keys(method.New(r.methodName(column)))...)
	}
	return out
}

// stray reports an axis that sets a key unknown in its section. Cells then ignore the axis.
func (r *reader) stray(axis, part, key string) {
	keys := r.keysOf(part)
	if first, _, _ := strings.Cut(key, "."); slices.Contains(keys, first) || part == "method" && r.values(part) == nil {
		return
	}
	r.strays = append(r.strays, axis)
	what := "[" + part + "]"
	if part == "method" {
		what = "the settings of the grid's methods"
	}
	r.d.FaultKey(r.doc.Grid.Table[axis], fmt.Sprintf("unknown key %q in %s", key, what), suggest.Hint(key, keys))
}
