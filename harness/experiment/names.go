package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// validName matches valid names of experiments. Files have these names, and some file systems ignore case.
var validName = regexp.MustCompile(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`)

// Names holds the axes of an experiment, and their values in all profiles together. A condition on cells
// may use any of them, because it may be meant for another profile.
type Names struct {
	Axes   []string
	Values map[string][]string
}

func namesOf(all []*reader) Names {
	x := Names{Values: map[string][]string{}}
	for _, r := range all {
		x.Axes = With(x.Axes, r.axisNames()...)
		for _, a := range r.axisNames() {
			x.Values[a] = With(x.Values[a], r.values(a)...)
		}
	}
	return x
}

// Where reports axes and values of the condition w, in node n, that do not exist.
func (x Names) Where(d *toml.Decoder, n *toml.Node, w Where) {
	for _, axis := range sortedKeys(w) {
		if !slices.Contains(x.Axes, axis) {
			d.FaultKey(n.Table[axis], fmt.Sprintf("there is no axis %q", axis), suggest.Hint(axis, x.Axes))
			continue
		}
		for _, v := range w[axis] {
			if !slices.ContainsFunc(x.Values[axis], func(text string) bool { return glob(v.Text, text) }) {
				d.Fault(v.node, fmt.Sprintf("%s is not on the axis %s", v.Text, axis), suggest.Hint(v.Text, x.Values[axis]))
			}
		}
	}
}

// Only reports axes and values of a filter, the string in n, that do not exist.
func (x Names) Only(d *toml.Decoder, n *toml.Node) {
	f, err := ParseFilter(n.Value.(string), append([]string{"seed"}, x.Axes...))
	if err != nil {
		d.Fault(n, err.Error(), "")
	}
	for _, problem := range f.Unmatched(func(axis string) []string { return x.Values[axis] }) {
		d.Fault(n, problem, "")
	}
}

// shownOnly lists the axes with a dot that do not affect a run's identity.
var shownOnly = []string{"eval.trace", "eval.score"}

// check finds mistakes that only show once all profiles are read, such as a condition on an unknown axis.
// Settings inherited from a base may be unused.
func (r *reader) check(names Names, all []*reader) {
	r.checkConditions(names)
	r.checkMethods(names)
	grid := r.doc.Grid
	if grid == nil {
		for _, o := range all {
			if o.doc.Grid != nil {
				r.d.FaultKey(o.doc.Grid, fmt.Sprintf("profile %s has no [grid]", r.profile), "settings outside profiles apply to all profiles")
			}
		}
		return
	}
	for _, a := range r.out.Axes {
		n := grid.Table[a.Name]
		used := a.Name == "model" || slices.Contains(needed, a.Name) || strings.Contains(a.Name, ".") && !slices.Contains(shownOnly, a.Name) ||
			slices.ContainsFunc(r.doc.Set, func(s override) bool { return s.When[a.Name] != nil })
		if !used && n != nil && r.own(n) {
			hint := dottedHint
			if meant := suggest.Name(a.Name, append([]string{"model"}, needed...)); meant != "" {
				hint = fmt.Sprintf("did you mean %q? %s", meant, hint)
			}
			r.d.FaultKey(n, fmt.Sprintf("the axis %q changes nothing: all its values are the same runs", a.Name),
				fmt.Sprintf("%s; to change other settings, use a [[set]] with when = { %q = ... }", hint, a.Name))
		}
	}
}

// checkConditions reports axes and values of [[set]], [[exclude]] and [[seeds.more]] that do not exist.
func (r *reader) checkConditions(names Names) {
	check := func(n *toml.Node, when Where) {
		if r.own(n) {
			names.Where(r.d, n.Get("when"), when)
		}
	}
	for i, s := range r.doc.Set {
		check(r.root.Get("set").List[i], s.When)
	}
	for i, e := range r.doc.Exclude {
		check(r.root.Get("exclude").List[i], e.Where)
	}
	for i, m := range r.doc.Seeds.More {
		check(r.root.Get("seeds").Get("more").List[i], m.When)
	}
}

// checkMethods reports sections of methods that no column uses. The section of a known method, or of a
// column of the base, may be outside the grid on purpose.
func (r *reader) checkMethods(names Names) {
	columns := names.Values["method"]
	if len(columns) == 0 {
		return
	}
	for _, name := range sortedKeys(r.doc.Method) {
		n := r.doc.Method[name]
		used := slices.Contains(columns, name) || method.New(name) != nil || !r.own(n)
		for other, section := range r.doc.Method {
			use, _ := section.Text("use")
			used = used || other != name && use == name
		}
		if !used {
			r.d.FaultKey(n, fmt.Sprintf("no column uses the method %q", name), suggest.Hint(name, columns))
		}
	}
}
