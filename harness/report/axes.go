package report

import (
	"maps"
	"slices"

	"dgkip/harness/spec"
)

// sortedAxes lists axes with those first that every grid has.
func sortedAxes(point map[string]string) []string {
	axes := slices.DeleteFunc([]string{"dataset", "ipc", "method", "model"}, func(a string) bool {
		_, has := point[a]
		return !has
	})
	return with(axes, slices.Sorted(maps.Keys(point))...)
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
		if v, ok := c.Cell.At(axis); ok {
			out, have[v] = with(out, v), true
		}
	}
	return slices.DeleteFunc(out, func(v string) bool { return !have[v] })
}
