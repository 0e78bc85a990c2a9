package report

import (
	"cmp"
	"slices"
	"strings"

	"dgkip/harness/method"
)

// axisTitle names an axis in a heading.
func axisTitle(axis string) string {
	switch axis {
	case "dataset":
		return "Dataset"
	case "ipc":
		return "Img/Cls"
	case "method":
		return "Method"
	case "model":
		return "Networks"
	}
	return capital(strings.ReplaceAll(axis[strings.LastIndexByte(axis, '.')+1:], "-", " "))
}

// valueTitle names a point on an axis.
func (r *Results) valueTitle(axis, value string) string {
	switch axis {
	case "method":
		if t := r.Spec.Titles[value]; t != "" {
			return t
		}
	case "dataset":
		d := r.dataset(value)
		t := d.Title
		if t == "" {
			t = value
		}
		if d.BuiltIn && !strings.Contains(t, "built-in") {
			t += " (built-in)"
		}
		return t
	case "model":
		return cmp.Or(method.ModelTitle(value), value)
	}
	return value
}

// shortTitle is valueTitle with the axis where the value alone says nothing.
func (r *Results) shortTitle(axis, value string) string {
	switch axis {
	case "method", "dataset", "model":
		return r.valueTitle(axis, value)
	case "ipc":
		return "IPC " + value
	}
	return axisTitle(axis) + " " + value
}

// axisValues lists the points of an axis that the results have, in the grid's order.
func (r *Results) axisValues(axis string) []string {
	var out []string
	for _, a := range r.Spec.Axes {
		if a.Name == axis {
			for _, v := range a.Values {
				out = append(out, v.Text)
			}
		}
	}
	have := map[string]bool{}
	for _, c := range r.Cells {
		v, ok := c.Cell.At(axis)
		if !ok {
			continue
		}
		have[v] = true
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return slices.DeleteFunc(out, func(v string) bool { return !have[v] })
}
