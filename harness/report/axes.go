package report

import (
	"cmp"
	"slices"
	"strings"

	"dgkip/harness/experiment"
)

// axes lists the axes, which all cells share: dataset, ipc, method and model first, the rest by name.
func (r *Results) axes() []string {
	var names []string
	for _, a := range r.Spec.Axes {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return with([]string{"dataset", "ipc", "method", "model"}, names...)
}

func pointOf(c *experiment.Cell, axes []string) []string {
	values := make([]string, len(axes))
	for i, a := range axes {
		values[i], _ = c.At(a)
	}
	return values
}

// present returns the axes that have a value in this profile.
func (r *Results) present(axes []string) []string {
	return slices.DeleteFunc(slices.Clone(axes), func(a string) bool { return len(r.axisValues(a)) == 0 })
}

// axisValues lists the values that the cells have on an axis, in the order of the grid.
func (r *Results) axisValues(axis string) []string { return r.valuesOf(r.Cells, axis) }

// valuesOf is axisValues for some of the cells.
func (r *Results) valuesOf(cells []*CellRuns, axis string) []string {
	var out []string
	for _, a := range r.Spec.Axes {
		if a.Name == axis {
			for _, v := range a.Values {
				out = append(out, v.Text)
			}
		}
	}
	have := map[string]bool{}
	for _, c := range cells {
		if v, ok := c.Cell.At(axis); ok {
			out, have[v] = with(out, v), true
		}
	}
	return slices.DeleteFunc(out, func(v string) bool { return !have[v] })
}

// group is a set of cells that share the values of some axes.
type group struct {
	axes, values []string
	cells        []*CellRuns
}

// key is a string that groups by the same axes share only if their values are equal.
func (g group) key() string { return strings.Join(g.values, "\x00") }

// meet returns the cell that two groups share, or nil.
func (g group) meet(o group) *CellRuns {
	for _, c := range g.cells {
		if slices.Contains(o.cells, c) {
			return c
		}
	}
	return nil
}

// groups groups cells by their values on some axes, in the order of the grid.
func (r *Results) groups(cells []*CellRuns, axes []string) []group {
	var out []group
	for _, c := range cells {
		point := pointOf(c.Cell, axes)
		i := slices.IndexFunc(out, func(g group) bool { return slices.Equal(g.values, point) })
		if i < 0 {
			i, out = len(out), append(out, group{axes: axes, values: point})
		}
		out[i].cells = append(out[i].cells, c)
	}
	for i, axis := range slices.Backward(axes) {
		order := r.axisValues(axis)
		slices.SortStableFunc(out, func(a, b group) int {
			return cmp.Compare(slices.Index(order, a.values[i]), slices.Index(order, b.values[i]))
		})
	}
	return out
}
