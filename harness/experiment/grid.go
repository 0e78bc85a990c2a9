package experiment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// needed lists the axes that every grid must have.
var needed = []string{"dataset", "ipc", "method"}

// maxCells limits a grid. No one can read larger tables.
const maxCells = 10_000

// plainName matches valid names of data, methods and networks. Filters, tables and files use them.
var plainName = regexp.MustCompile(`^[\pL\pN][\pL\pN._+-]*$`)

const plainHint = "a name may only have letters, digits and . _ + -; a title may have any character"

// grid reads the axes, and reports whether cells can be built.
func (r *reader) grid() bool {
	n := r.doc.Grid
	if n == nil {
		return false
	}
	if n.Table == nil {
		r.d.Fault(n, "grid must be a table of axes, not "+n.Kind(), "[grid] needs dataset, ipc and method")
		return false
	}
	complete := true
	for _, name := range needed {
		if n.Table[name] == nil && !r.misspelt(n, name) {
			r.d.FaultKey(n, fmt.Sprintf("[grid] lacks the axis %q", name), fmt.Sprintf("write %s = [...], such as ipc = [1, 10]", name))
			complete = false
		}
	}
	for _, name := range n.Keys() {
		values := r.axisValues(name, n.Table[name])
		head, _, dotted := strings.Cut(name, ".")
		if dotted && !slices.Contains(withKeys, head) {
			r.d.FaultKey(n.Table[name], fmt.Sprintf("axis %q sets nothing", name), dottedHint+"; known are "+strings.Join(withKeys, ", "))
			continue
		}
		if need := slices.Contains(needed, name); need || len(values) > 0 {
			r.out.Axes = append(r.out.Axes, Axis{name, values})
			complete = complete && len(values) > 0
		}
	}
	for _, a := range r.out.Axes {
		if head, key, dotted := strings.Cut(a.Name, "."); dotted {
			r.stray(a.Name, head, key)
		}
	}
	return complete && r.small(n)
}

// misspelt reports whether the grid has a needed axis under a misspelt name. It corrects the name, to find
// only further mistakes.
func (r *reader) misspelt(n *toml.Node, name string) bool {
	key := suggest.Name(name, slices.DeleteFunc(slices.Clone(n.Keys()), func(k string) bool { return k == "model" || slices.Contains(needed, k) }))
	if key == "" {
		return false
	}
	r.d.FaultKey(n.Table[key], fmt.Sprintf("[grid] has no axis %q", key), fmt.Sprintf("did you mean %q?", name))
	n.Rename(key, name)
	return true
}

// axisValues reads the values of an axis. It reports unknown names, and corrects or drops them.
func (r *reader) axisValues(axis string, n *toml.Node) []Value {
	var all Values
	all.FromNode(r.d, n)
	known := r.known(axis)
	seen := map[string]bool{}
	var out []Value
	for _, v := range all {
		_, isText := v.node.Value.(string)
		i, isInt := v.node.Value.(int64)
		switch {
		case axis == "ipc" && (!isInt || i < 1 || i > 1e6):
			r.d.Fault(v.node, "ipc must be an integer from 1 to 1,000,000", "")
		case axis == "ipc":
		case (known != nil || axis == "dataset") && !isText:
			r.d.Fault(v.node, axis+" must be a name", "")
			continue
		case (known != nil || axis == "dataset") && !plainName.MatchString(v.Text):
			r.d.Fault(v.node, fmt.Sprintf("%q cannot be on the axis %s", v.Text, axis), plainHint)
			continue
		case known != nil && !slices.Contains(known, v.Text):
			hint := suggest.Hint(v.Text, known)
			switch {
			case axis == "model":
				hint = and(hint, "define your own in [model.NAME] with a kind")
			case axis == "method":
				hint = and(hint, ownMethod)
			}
			r.d.Fault(v.node, fmt.Sprintf("unknown %s %q", axis, v.Text), hint)
			meant := suggest.Name(v.Text, known)
			if meant == "" || seen[meant] || slices.ContainsFunc(all, func(other Value) bool { return other.Text == meant }) {
				continue
			}
			v.Text = meant
		}
		if seen[v.Text] {
			r.d.Fault(v.node, fmt.Sprintf("%s is listed twice on the axis %s", v.Text, axis), "")
			continue
		}
		seen[v.Text] = true
		out = append(out, v)
	}
	return out
}

// known returns the names that an axis allows, or nil if it allows any.
func (r *reader) known(axis string) []string {
	switch axis {
	case "method":
		return With(method.Names(), sortedKeys(r.doc.Method)...)
	case "model":
		return With(method.Models(), sortedKeys(r.doc.Model)...)
	case "dataset":
		if r.options.Datasets != nil {
			return With(slices.Clone(r.options.Datasets), sortedKeys(r.doc.Data)...)
		}
	}
	return nil
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// small reports whether the grid is within the limit.
func (r *reader) small(n *toml.Node) bool {
	cells := 1
	for _, a := range r.out.Axes {
		if cells *= len(a.Values); cells > maxCells {
			r.d.FaultKey(n, fmt.Sprintf("the grid has more than %d cells", maxCells), "split it into several experiments")
			return false
		}
	}
	return true
}

// axisNames returns the axes of the grid, and "model", which every cell has.
func (r *reader) axisNames() []string {
	names := []string{"model"}
	for _, a := range r.out.Axes {
		if a.Name != "model" {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return names
}

// values returns the values of an axis.
func (r *reader) values(axis string) (out []string) {
	for _, a := range r.out.Axes {
		if a.Name == axis {
			for _, v := range a.Values {
				out = append(out, v.Text)
			}
		}
	}
	if out == nil && axis == "model" {
		return []string{defaultModel}
	}
	return out
}

// at returns the node of a value in the grid, or the grid itself.
func (r *reader) at(axis, text string) *toml.Node {
	for _, a := range r.out.Axes {
		for _, v := range a.Values {
			if a.Name == axis && v.Text == text {
				return v.node
			}
		}
	}
	return r.doc.Grid
}
