package experiment

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// ValidName matches what experiments may be called: files are named by them, some where
// A and a are the same.
var ValidName = regexp.MustCompile(`^[a-z][a-z0-9]*([_-][a-z0-9]+)*$`)

var unfitForNames = regexp.MustCompile(`[^a-z0-9]+`)

// fitName returns a valid name like another one, or an example where that one is not in
// ASCII.
func fitName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "my-experiment"
	}
	fit := strings.Trim(unfitForNames.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if !ValidName.MatchString(fit) {
		fit = strings.Trim("exp-"+fit, "-")
	}
	return fit
}

// Names are the axes of an experiment and what stands on them in any profile, which
// conditions on cells may name: one may be meant for the grid of another profile.
type Names struct {
	Axes   []string
	Values map[string][]string
}

func namesOf(all []*reader) Names {
	x := Names{Values: map[string][]string{}}
	for _, r := range all {
		x.Axes = once(append(x.Axes, r.axisNames()...))
		for _, a := range r.axisNames() {
			x.Values[a] = once(append(x.Values[a], r.values(a)...))
		}
	}
	return x
}

// Where reports what a condition, which stands in n, names and nothing has.
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

// Only reports what a filter, written as the string n, names and nothing has.
func (x Names) Only(d *toml.Decoder, n *toml.Node) {
	f, err := ParseFilter(n.Value.(string), append([]string{"seed"}, x.Axes...))
	if err != nil {
		d.Fault(n, err.Error(), "")
	}
	for _, problem := range f.Unmatched(func(axis string) []string { return x.Values[axis] }) {
		d.Fault(n, problem, "")
	}
}

// shownOnly are the axes with a dot that are no part of a run's identity.
var shownOnly = []string{"eval.trace", "eval.score"}

// check finds what is wrong between sections, where all profiles must be known. Of what
// the file has from its base, nothing need be of use here.
func (r *reader) check(names Names, all []*reader) {
	r.checkConditions(names)
	r.checkMethods(names)
	grid := r.doc.Grid
	if grid == nil {
		for _, o := range all {
			if o.doc.Grid != nil {
				r.d.FaultKey(o.doc.Grid, fmt.Sprintf("profile %s has no [grid]", r.profile), "what stands outside of profiles holds for all of them")
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
			if slices.Contains(shownOnly, a.Name) {
				hint = "it says what is shown of a run, and not what is run"
			}
			if known := r.axesOf(a.Name); known != nil {
				hint = fmt.Sprintf("%s = [...] is an axis that sets %s", strings.Join(known, " or "), a.Name)
			}
			if meant := suggest.Name(a.Name, append([]string{"model"}, needed...)); meant != "" {
				hint = fmt.Sprintf("did you mean %q? %s", meant, hint)
			}
			r.d.FaultKey(n, fmt.Sprintf("the axis %q changes nothing: all its values are the same runs", a.Name),
				fmt.Sprintf("%s; a [[set]] with when = { %q = ... } may change other things", hint, a.Name))
		}
	}
}

// checkConditions reports what [[set]], [[exclude]] and [[seeds.more]] name and nothing has.
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

// checkMethods looks for sections of methods that nothing uses: those of methods that were
// taken out of the grid for a while, or misspelt names.
func (r *reader) checkMethods(names Names) {
	columns := names.Values["method"]
	if len(columns) == 0 {
		return
	}
	for _, name := range sortedKeys(r.doc.Method) {
		used := slices.Contains(columns, name)
		for other, n := range r.doc.Method {
			use, _ := n.Text("use")
			used = used || other != name && use == name
		}
		switch n := r.root.Get("method").Table[name]; {
		case used || !r.own(n):
		case method.New(name) != nil:
			r.d.Note(n, fmt.Sprintf("[method.%s] is not used: the grid has no such method", name))
		default:
			r.d.FaultKey(n, fmt.Sprintf("no column uses the method %q", name), suggest.Hint(name, columns))
		}
	}
}
