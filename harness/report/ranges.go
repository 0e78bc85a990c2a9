package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// extent collects the range of numbers.
type extent struct{ min, max float64 }

func newExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(x ...float64) {
	for _, v := range x {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			e.min, e.max = math.Min(e.min, v), math.Max(e.max, v)
		}
	}
}

func (e extent) empty() bool { return e.min > e.max }

// rangeX is the range of a panel's horizontal axis. All panels share it, unless each
// has its own: processes end where they end. A panel without curves has that of all.
func (c *chart) rangeX(own *panel) rangeOf {
	if n := len(c.x.categories); n > 0 {
		r := rangeOf{min: -0.5, max: float64(n) - 0.5}
		for i, name := range c.x.categories {
			r.ticks = append(r.ticks, plot.Tick{Value: float64(i), Label: figureText(name)})
		}
		return r
	}
	e := newExtent()
	of := func(p *panel) {
		for _, v := range p.curves {
			for _, q := range v.points {
				e.add(q.x)
			}
		}
	}
	if c.x.own {
		of(own)
	}
	for i := range c.panels {
		if !c.x.own || len(own.curves) == 0 {
			of(&c.panels[i])
		}
	}
	lines := true
	for _, p := range c.panels {
		for _, v := range p.curves {
			lines = lines && !v.bare
		}
	}
	pad := 0.04
	if lines {
		pad = 0.015
	}
	return e.toRange(c.x.log, pad, c.x.zero)
}

// range1 and range2 are the ranges of a panel's left and right axis. Panels keep
// their own, except where they stand in one line for comparison by the eye: then
// ranges are shared by all.
func (c *chart) range1(*panel) rangeOf { return c.rangeY(false) }

func (c *chart) range2(*panel) (rangeOf, bool) {
	for _, p := range c.panels {
		for _, v := range p.curves {
			if v.right {
				return c.rangeY(true), true
			}
		}
		for _, v := range p.levels {
			if v.right {
				return c.rangeY(true), true
			}
		}
	}
	return rangeOf{}, false
}

func (c *chart) rangeY(right bool) rangeOf {
	s := c.y
	if right {
		s = c.y2
	}
	e := newExtent()
	bars := false
	for _, p := range c.panels {
		for _, v := range p.curves {
			if v.right == right {
				for _, q := range v.points {
					e.add(q.y, q.low, q.high)
				}
			}
		}
		for _, v := range p.levels {
			if v.right == right {
				e.add(v.y)
			}
		}
		for _, b := range p.bars {
			bars = true
			e.add(b.y, b.low, b.high)
		}
	}
	if bars && !s.log && !e.empty() {
		// Bars begin at 0, unless their differences would then not be seen.
		if e.min > 0 && e.min > 0.6*e.max {
			step := niceStep((e.max - e.min) / 2)
			e.min = math.Max(0, step*math.Floor((e.min-(e.max-e.min)/2)/step))
		} else {
			e.add(0)
		}
		r := e.toRange(false, 0, false)
		r.max = e.max + float64((e.max-e.min)*0.05)
		r.ticks = linearTicks(r.min, r.max)
		return r
	}
	return e.toRange(s.log, 0.05, s.zero)
}

// niceStep is the largest of 1, 2 or 5 times a power of ten that is at most x.
func niceStep(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	p := math.Pow10(int(math.Floor(math.Log10(x))))
	for _, m := range []float64{5, 2} {
		if m*p <= x {
			return m * p
		}
	}
	return p
}

func (e extent) toRange(log bool, pad float64, zero bool) rangeOf {
	if e.empty() {
		e = extent{0, 1}
		if log {
			e = extent{0.1, 10}
		}
	}
	if zero && !log {
		e.add(0)
	}
	if log {
		if e.max <= 0 {
			e = extent{0.1, 10} // nothing that a logarithm has a place for
		}
		if e.min <= 0 {
			e.min = e.max / 1e3
		}
		if e.min == e.max {
			e.min, e.max = e.min/2, e.max*2
		}
		d := math.Log10(e.max/e.min) * pad
		r := rangeOf{min: e.min / math.Pow(10, d), max: e.max * math.Pow(10, d), log: true}
		r.ticks = logTicks(r.min, r.max)
		return r
	}
	if e.min == e.max {
		d := math.Max(math.Abs(e.min)*0.05, 1e-9)
		e.min, e.max = e.min-d, e.max+d
	}
	d := (e.max - e.min) * pad
	r := rangeOf{min: e.min - d, max: e.max + d}
	if zero && e.min == 0 {
		r.min = 0
	}
	r.ticks = linearTicks(r.min, r.max)
	return r
}

// linearTicks are multiples of a round step, four to seven of them.
func linearTicks(low, high float64) []plot.Tick {
	step := niceStep((high - low) / 3.5)
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var out []plot.Tick
	for i := math.Ceil(low/step - 1e-9); float64(i*step) <= high+float64(1e-9*step); i++ {
		v := float64(i * step)
		label := fixed(v, decimals)
		if a := math.Max(math.Abs(low), math.Abs(high)); a >= 1e6 || a < 1e-4 {
			label = strconv.FormatFloat(v, 'g', 4, 64)
		}
		out = append(out, plot.Tick{Value: v, Label: label})
	}
	return out
}

// logTicks are powers of ten with a label, and 2 to 9 times them: labelled ones
// among these where powers of ten are few.
func logTicks(low, high float64) []plot.Tick {
	labelled := map[int]bool{1: true}
	decades := math.Log10(high / low)
	switch {
	case decades < 1:
		labelled = map[int]bool{1: true, 2: true, 3: true, 5: true, 7: true}
	case decades < 2:
		labelled = map[int]bool{1: true, 2: true, 5: true}
	}
	every := 1
	if decades > 7 {
		every = 2
	}
	var out []plot.Tick
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for m := 1; m <= 9; m++ {
			v := float64(float64(m) * math.Pow10(e))
			if v < low*(1-1e-12) || v > high*(1+1e-12) {
				continue
			}
			t := plot.Tick{Value: v}
			if labelled[m] && (m > 1 || e%every == 0) {
				t.Label = powerLabel(m, e)
			}
			out = append(out, t)
		}
	}
	return out
}

// powerLabel writes m times ten to the e, as a decimal if it is not long.
func powerLabel(m, e int) string {
	if e >= -3 && e <= 4 {
		return strconv.FormatFloat(float64(m)*math.Pow10(e), 'f', max(0, -e), 64)
	}
	return strconv.Itoa(m) + "e" + strconv.Itoa(e)
}
