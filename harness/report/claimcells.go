package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// rival is a column of a row with its value.
type rival struct {
	name  string
	value float64
}

// rank: one of Columns is among the best Top in every row. Kind less asks for more:
// each of Columns is lower than each of Against.
func (c court) rank() []part {
	less := c.claim.Kind == "less"
	better, top := about(c.metric).better, c.claim.Top
	if less {
		better, top = lower, 1
	}
	var out []part
	for _, m := range c.matchups("method") {
		var sides [2][]rival // ours and theirs, the best first
		var missing [2]int
		var cells []*CellRuns
		for _, x := range m.cells {
			side := c.side(x.Cell.Column)
			if side < 0 {
				continue
			}
			cells = append(cells, x)
			if v, ok := c.value(x, c.metric); ok {
				sides[side] = append(sides[side], rival{c.r.valueTitle("method", x.Cell.Column), v})
			} else if c.missing(x.Cell.Column, c.metric) {
				missing[side]++
			}
		}
		for _, s := range sides {
			slices.SortStableFunc(s, func(a, b rival) int { return better.compare(a.value, b.value) })
		}
		mine, theirs := sides[0], sides[1]
		if c.published && len(mine)+len(theirs) == 0 || len(mine)+missing[0] == 0 || len(theirs)+missing[1] == 0 {
			continue // the row has nothing of one side
		}
		p := part{where: c.r.placeName(m.cells[0].Cell, "method"), why: c.apart(cells)}
		complete := missing[0]+missing[1] == 0
		switch {
		case better == unranked || len(mine) == 0 || p.why != "":
		case len(theirs) < top:
			if complete {
				p.verdict = Holds
			}
		default:
			own, other := mine[0], theirs[top-1] // which must not be passed by it
			holds := !better.ahead(other.value, own.value)
			if less {
				own = mine[len(mine)-1]
				holds = better.ahead(own.value, other.value)
			}
			p.what = fmt.Sprintf("%s %s against %s %s", own.name, show(c.metric, own.value), other.name, show(c.metric, other.value))
			switch {
			case !holds && (less || missing[0] == 0):
				p.verdict = Fails
			case holds && missing[1] == 0 && (!less || complete): // another of ours takes nothing from it
				p.verdict = Holds
			}
		}
		out = append(out, p)
	}
	return out
}

// growth: from one end of Axis to the other the metric grows at most by Factor for
// Columns, and by more than that for Against.
func (c court) growth() []part {
	points := c.r.axisValues(c.claim.Axis)
	if len(points) == 0 {
		return nil // it is an axis of another profile
	}
	if numeric(points) { // in whatever order the grid has them
		points = slices.SortedFunc(slices.Values(points), func(a, b string) int { return cmp.Compare(numberOf(a), numberOf(b)) })
	}
	var out []part
	for _, m := range c.matchups(c.claim.Axis) {
		column := m.cells[0].Cell.Column
		mine := slices.Contains(c.claim.Columns, column)
		if !mine && !slices.Contains(c.claim.Against, column) {
			continue
		}
		ends := map[string]float64{}
		var cells []*CellRuns // of both ends
		for _, x := range m.cells {
			p, _ := x.Cell.At(c.claim.Axis)
			if p != points[0] && p != points[len(points)-1] {
				continue
			}
			cells = append(cells, x)
			if v, ok := c.value(x, c.metric); ok {
				ends[p] = v
			}
		}
		if c.published && len(ends) == 0 {
			continue
		}
		p := part{where: c.r.placeName(m.cells[0].Cell, c.claim.Axis), why: c.apart(cells)}
		from, begun := ends[points[0]]
		to, ended := ends[points[len(points)-1]]
		if p.why == "" && begun && ended && len(points) > 1 && from > 0 {
			factor := to / from
			p.what, p.verdict = times(factor), Fails
			if mine == (factor <= c.claim.Factor) {
				p.verdict = Holds
			}
		}
		out = append(out, p)
	}
	return out
}

// close: Metric and Other of a run differ by at most Tolerance.
func (c court) close() []part {
	var out []part
	for _, x := range c.cells {
		a, ok1 := c.value(x, c.metric)
		b, ok2 := c.value(x, c.claim.Other)
		if !c.meant(x) || c.published && (!ok1 && !ok2 || !c.missing(x.Cell.Column, c.claim.Other)) {
			continue
		}
		p := part{where: c.r.placeName(x.Cell)}
		if ok1 && ok2 {
			p.what = show(c.metric, a) + " against " + show(c.claim.Other, b)
			p.verdict = Fails
			// Decimal tolerances are not exact in their last bits.
			if c.claim.Tolerance-math.Abs(a-b) >= -1e-12*math.Max(math.Abs(a), math.Abs(b)) {
				p.verdict = Holds
			}
		}
		out = append(out, p)
	}
	return out
}
