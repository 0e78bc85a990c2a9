package report

import (
	"slices"

	"dgkip/harness/spec"
)

// sortedAxes lists axes with those first that every grid has.
func sortedAxes(point map[string]string) []string {
	first := []string{"dataset", "ipc", "method", "model"}
	var axes, rest []string
	for _, a := range first {
		if _, ok := point[a]; ok {
			axes = append(axes, a)
		}
	}
	for a := range point {
		if !slices.Contains(first, a) {
			rest = append(rest, a)
		}
	}
	slices.Sort(rest)
	return append(axes, rest...)
}

// axes lists the axes of all cells.
func (r *Results) axes() []string {
	point := map[string]string{}
	for _, c := range r.Cells {
		for a := range c.Cell.Point {
			point[a] = ""
		}
	}
	return sortedAxes(point)
}

func pointOf(c *spec.Cell, axes []string) []string {
	values := make([]string, len(axes))
	for i, a := range axes {
		values[i], _ = c.At(a)
	}
	return values
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
