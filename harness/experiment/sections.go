package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/suggest"
	"dgkip/harness/toml"
)

// scoring holds the keys of [eval] that do not belong to a protocol.
type scoring struct {
	Protocol string `toml:"protocol"`
	Trace    int    `toml:"trace" min:"0"`
	Score    int    `toml:"score" min:"0"`
}

// checkSections finds mistakes in all sections, even if no cell uses them.
func (r *reader) checkSections() {
	for _, name := range sortedKeys(r.doc.Method) {
		r.method(name, nil)
	}
	for _, name := range sortedKeys(r.doc.Model) {
		r.model(name, nil)
	}
	protocols := method.ProtocolNames()
	r.eval(r.doc.Eval, method.Info{Protocol: protocols[0]}) // the keys that all protocols have
	for _, protocol := range protocols {
		if n := r.doc.Eval.Get(protocol); n != nil {
			r.d.Into(n, method.NewProtocol(protocol), "[eval."+protocol+"]")
		}
	}
	for i, s := range r.doc.Set {
		if s.With != nil && !r.goodWith(s.With) {
			r.doc.Set[i].With = nil
		}
	}
}

// goodWith reports whether the changes of a [[set]] have the right form.
func (r *reader) goodWith(n *toml.Node) bool {
	if n.Table == nil {
		r.d.Fault(n, "with must be a table, such as { method = { updates = 100 } }", "")
		return false
	}
	good := true
	for _, k := range n.Keys() {
		if !slices.Contains(withKeys, k) {
			hint := fmt.Sprintf("settings are in their section, as in with = { method = { %s = ... } }", k)
			if meant := suggest.Name(k, withKeys); meant != "" {
				hint = fmt.Sprintf("did you mean %q?", meant)
			}
			r.d.FaultKey(n.Table[k], fmt.Sprintf("a [[set]] cannot change %q", k), hint)
		} else if n.Table[k].Table == nil {
			r.d.Fault(n.Table[k], k+" must be a table", fmt.Sprintf("with = { %s = { key = value } }", k))
			good = false
		}
	}
	return good
}

// behind returns a column, the column that it uses, and so on to a method. The list stops early at an
// unknown method, or if columns use each other in a circle.
func (r *reader) behind(column string) []string {
	names := []string{column}
	for {
		use, ok := r.doc.Method[column].Text("use")
		if !ok || slices.Contains(names, use) {
			return names
		}
		names, column = append(names, use), use
		if method.New(use) != nil {
			return names
		}
	}
}

// methodName returns the name of a column's method.
func (r *reader) methodName(column string) string {
	names := r.behind(column)
	return names[len(names)-1]
}

func (r *reader) title(column string) string {
	if s, ok := r.doc.Method[column].Text("title"); ok {
		return s
	}
	if r.methodName(column) == column {
		return method.New(column).Info().Title
	}
	return column
}

// titled stores a title. It reports a title that another value of the axis has.
func (r *reader) titled(axis, name, title string, titles map[string]string, section func(name string) *toml.Node) {
	if _, known := titles[name]; known {
		return
	}
	for _, other := range sortedKeys(titles) {
		if titles[other] == title {
			a, b := section(name), section(other)
			r.d.FaultKey(cmp.Or(a.Get("title"), b.Get("title"), a, b, r.doc.Grid),
				fmt.Sprintf("%s and %s on the axis %s have the same title, %q", other, name, axis, title), "give one of them another title = \"...\"")
		}
	}
	titles[name] = title
}

// method returns a column's method with the settings of its section and the changes, and the node with
// these settings. It returns nil after reporting a mistake.
func (r *reader) method(column string, changes *toml.Node) (method.Method, *toml.Node) {
	n, names := r.doc.Method[column], r.behind(column)
	name := names[len(names)-1]
	if n == nil {
		n = toml.Empty(r.at("method", column)) // position for errors about missing keys
	}
	m := method.New(name)
	if m == nil {
		r.unknownMethod(n, names)
		return nil, nil
	}
	if column != name && method.New(column) != nil {
		r.d.FaultKey(n.Get("use"), fmt.Sprintf("a column cannot have the name of the method %s and use %s", column, names[1]), "give the column a name of its own")
		return nil, nil
	}
	for _, used := range names[1:] {
		n = toml.Merge(r.doc.Method[used], n)
	}
	if n.Table != nil {
		n = toml.Merge(n, changes)
	}
	for _, k := range []string{"use", "title"} {
		if x := n.Get(k); x != nil {
			if _, ok := x.Value.(string); !ok {
				r.d.Fault(x, k+" must be a string, not "+x.Kind(), "")
			}
		}
	}
	before := r.d.Reported
	r.d.Into(n, m, "the settings of "+name, "use", "title")
	if r.d.Reported > before {
		return nil, nil
	}
	return m, n
}

// ownMethod is the hint if no method has a similar name.
const ownMethod = "a method of your own must call method.Register and be imported in baselines/all/all.go"

// and joins two hints, of which the first may be empty.
func and(hint, more string) string { return strings.TrimPrefix(hint+"; "+more, "; ") }

// unknownMethod reports that the section of a column leads to no method.
func (r *reader) unknownMethod(n *toml.Node, names []string) {
	name := names[len(names)-1]
	if use, further := r.doc.Method[name].Text("use"); further {
		r.d.Fault(n.Get("use"), "use makes a circle: "+strings.Join(append(names, use), " -> "), and(suggest.Hint("", method.Names()), "use must lead to a method"))
		return
	}
	known := method.Names()
	for _, column := range sortedKeys(r.doc.Method) {
		if !slices.Contains(known, column) && method.New(r.methodName(column)) != nil {
			known = append(known, column)
		}
	}
	message, hint := fmt.Sprintf("unknown method %q", name), suggest.Hint(name, known)
	if suggest.Name(name, known) == "" {
		hint = and(hint, ownMethod)
	}
	if len(names) == 1 {
		r.d.FaultKey(n, message, hint)
		return
	}
	r.d.Fault(r.doc.Method[names[len(names)-2]].Get("use"), message, hint)
}

// model returns the networks with the settings of their section and the changes.
func (r *reader) model(name string, changes *toml.Node) (method.Model, *toml.Node, bool) {
	n, kind := r.doc.Model[name], name
	if n == nil {
		n = toml.Empty(r.at("model", name))
	}
	if n.Table != nil {
		n = toml.Merge(n, changes)
	}
	if s, ok := n.Text("kind"); ok {
		kind = s
	}
	m, known := method.DefaultModel(kind)
	if n.Table != nil && known && n.Get("kind") == nil { // the name is the kind
		n = toml.Merge(n, toml.Table("kind", &toml.Node{Value: kind}))
	}
	before := r.d.Reported
	r.d.Into(n, &m, "the settings of model "+name)
	return m, n, r.d.Reported == before
}

// eval returns the protocol of a table such as [eval], or else the method's protocol, with its settings. It
// returns nil after reporting a mistake.
func (r *reader) eval(n *toml.Node, of method.Info) (method.Protocol, scoring) {
	s := scoring{Protocol: of.Protocol}
	if n == nil {
		n = toml.Empty(r.doc.Grid)
	}
	before := r.d.Reported
	r.d.Into(n, &s, "[eval]", method.ProtocolNames()...)
	if r.d.Reported > before {
		return nil, s
	}
	p := method.NewProtocol(s.Protocol)
	if p == nil {
		message, hint := fmt.Sprintf("unknown protocol %q", s.Protocol), suggest.Hint(s.Protocol, method.ProtocolNames())
		if at := n.Get("protocol"); at != nil {
			r.d.Fault(at, message, hint)
		} else {
			r.d.FaultKey(r.doc.Grid, fmt.Sprintf("%s, which the method %s names in its Info", message, of.Name), hint)
		}
		return nil, s
	}
	if at := n.Get(s.Protocol); at != nil {
		r.d.Into(at, p, "[eval."+s.Protocol+"]")
	}
	if r.d.Reported > before {
		return nil, s
	}
	return p, s
}
