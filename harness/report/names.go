package report

import (
	"cmp"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
)

// axisTitle names an axis in a heading.
func axisTitle(axis string) string {
	switch axis {
	case "dataset":
		return "Dataset"
	case "ipc":
		return "IPC"
	case "method":
		return "Method"
	case "model":
		return "Networks"
	}
	return capital(strings.ReplaceAll(axis[strings.LastIndexByte(axis, '.')+1:], "-", " "))
}

func axisTitles(axes []string) []string {
	var out []string
	for _, a := range axes {
		out = append(out, axisTitle(a))
	}
	return out
}

// valueTitle names a value on an axis.
func (r *Results) valueTitle(axis, value string) string {
	switch axis {
	case "method":
		return cmp.Or(r.Spec.Titles[value], value)
	case "dataset":
		d := r.dataset(value)
		t := cmp.Or(d.Title, value)
		if d.BuiltIn && !strings.Contains(t, "built-in") {
			t += " (built-in)"
		}
		return t
	case "model", "eval.fresh.kind", "eval.network.kind":
		return cmp.Or(method.ModelTitle(value), value)
	case "eval.protocol":
		if p := method.NewProtocol(value); p != nil {
			return p.Info().Title
		}
	}
	switch value {
	case "":
		return "none"
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return value
}

// shortTitle is valueTitle, preceded by the axis where the value alone is not clear.
func (r *Results) shortTitle(axis, value string) string {
	switch axis {
	case "method", "dataset", "model", "eval.protocol":
		return r.valueTitle(axis, value)
	case "ipc":
		return "IPC " + value
	case "eval.fresh.kind":
		return "in new " + r.valueTitle(axis, value)
	}
	return axisTitle(axis) + " " + r.valueTitle(axis, value)
}

// headsOf returns the titles of a group's values.
func (r *Results) headsOf(g group) []string {
	var out []string
	for i, a := range g.axes {
		out = append(out, r.valueTitle(a, g.values[i]))
	}
	return out
}

// titleOf names a group in one line.
func (r *Results) titleOf(g group) string {
	var words []string
	for i, a := range g.axes {
		words = append(words, r.shortTitle(a, g.values[i]))
	}
	return strings.Join(words, ", ")
}

// names reports whether an axis is part of a cell's name.
func (r *Results) names(axis string) bool {
	return axis == "dataset" || axis == "ipc" || axis == "method" || len(r.axisValues(axis)) > 1
}

// rowAxes returns the axes of rows in tables whose columns are methods.
func (r *Results) rowAxes() []string {
	return slices.DeleteFunc(r.axes(), func(a string) bool { return a == "method" || !r.names(a) })
}

// placeName names a cell by its axes, except for some.
func (r *Results) placeName(c *experiment.Cell, but ...string) string {
	var words []string
	for _, a := range r.axes() {
		if !slices.Contains(but, a) && r.names(a) {
			words = append(words, r.shortTitle(a, c.Point[a]))
		}
	}
	return strings.Join(words, " ")
}

// ending returns the last sentences of captions, which explain built-in data and name the profile
// unless it is the default.
func (r *Results) ending(cells []*CellRuns) []string {
	var s []string
	if slices.ContainsFunc(cells, func(c *CellRuns) bool { return len(c.done()) > 0 && r.dataset(c.Cell.Dataset).BuiltIn }) {
		s = append(s, "Data marked built-in is drawn by the program; it is not the real dataset.")
	}
	if r.Spec.Profile != experiment.DefaultProfile {
		s = append(s, "Profile: "+r.Spec.Profile+".")
	}
	return s
}

// circumstances returns the table's own caption and the sentences of ending, for the captions of
// tables that judge the same numbers.
func (r *Results) circumstances() string {
	var s []string
	if caption := r.layout.t.Caption; caption != "" {
		s = append(s, sentence(caption))
	}
	return " " + strings.Join(append(s, r.ending(r.Cells)...), " ")
}

// stem returns the beginning of the experiment's file names: its name, the profile unless that is
// the default, and a word for changed settings and for a selection. A smoke run therefore never
// replaces real results.
func (r *Results) stem() string {
	name := r.Spec.Name
	if r.options.plain {
		return name
	}
	if p := r.Spec.Profile; p != experiment.DefaultProfile {
		name += "-" + p
	}
	if len(r.options.Set) > 0 {
		name += "-set"
	}
	if !r.options.Only.Empty() {
		name += "-selection"
	}
	return name
}

// source names the experiment inside its files.
func (r *Results) source() string {
	return "the experiment " + r.Spec.Name + " (profile " + r.Spec.Profile + r.options.flags() + ")"
}

// selection describes what was selected and changed, "" for a whole experiment.
func (r *Results) selection() string {
	if flags := r.options.flags(); flags != "" {
		return "Flags:" + flags + "."
	}
	return ""
}

// flags are the flags that select runs or change settings, each after a blank.
func (o Options) flags() string {
	if o.Only.Empty() {
		return o.changes()
	}
	return " -only '" + o.Only.String() + "'" + o.changes()
}

// changes are the flags that changed settings, each after a blank.
func (o Options) changes() string {
	s := ""
	for _, one := range o.Set {
		s += " -set '" + one + "'"
	}
	return s
}

// selected adds the selection in front of a caption.
func (r *Results) selected(caption string) string {
	return strings.TrimSpace(r.selection() + " " + caption)
}
