package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// extent is the range of an axis.
type extent struct{ min, max float64 }

func (e *extent) add(values ...float64) {
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			e.min, e.max = math.Min(e.min, v), math.Max(e.max, v)
		}
	}
}

// ranges returns the range of every axis, over all panels that share it.
func (c *Chart) ranges() map[*Axis]*extent {
	out := map[*Axis]*extent{}
	of := func(a *Axis) *extent {
		if out[a] == nil {
			out[a] = &extent{math.Inf(1), math.Inf(-1)}
		}
		return out[a]
	}
	for _, row := range c.Rows {
		for _, p := range row {
			x, y := of(p.X), of(p.Y)
			for _, s := range p.Series {
				for _, q := range s.Points {
					if s.Kind != Level {
						x.add(q.X)
					}
					if s.Kind != Range {
						y.add(q.Y)
					}
					y.add(q.Low, q.High)
				}
			}
		}
	}
	for a, e := range out {
		if a.Categories != nil {
			*e = extent{-0.5, float64(len(a.Categories)) - 0.5}
		} else {
			e.finish(a.Log)
		}
	}
	return out
}

// finish makes the range non-empty, with a margin around the values. The range of a logarithmic
// axis becomes one of logarithms, because gonum/plot misplaces the labels of its own logarithmic
// axes.
func (e *extent) finish(log bool) {
	switch {
	case log && !(e.max > 0):
		e.min, e.max = 0.1, 10 // no positive values
	case log && e.min <= 0:
		e.min = e.max / 1e3
	case log && e.min == e.max:
		e.min, e.max = e.min/2, e.max*2
	case e.min > e.max:
		e.min, e.max = 0, 1
	case e.min == e.max:
		d := math.Max(float64(math.Abs(e.min)*0.05), 1e-9)
		e.min, e.max = e.min-d, e.max+d
	}
	if log {
		e.min, e.max = math.Log10(e.min), math.Log10(e.max)
	}
	d := float64((e.max - e.min) * 0.04)
	e.min, e.max = e.min-d, e.max+d
}

// linearTicks returns two to seven multiples of a round step. The ticks of gonum/plot depend on the
// last bits of the range.
func linearTicks(low, high float64) []plot.Tick {
	e := int(math.Floor(math.Log10((high - low) / 2.5)))
	step := math.Pow10(e)
	for _, m := range []float64{5, 2} {
		if float64(m*step) <= (high-low)/2.5 {
			step *= m
			break
		}
	}
	var out []plot.Tick
	for i := math.Ceil(low/step - 1e-9); float64(i*step) <= high+float64(1e-9*step); i++ {
		v := float64(i*step) + 0 // not -0
		label := Thousands(strconv.FormatFloat(v, 'f', max(0, -e), 64))
		if e > 5 || e < -5 {
			label = strconv.FormatFloat(v, 'g', 4, 64)
		}
		out = append(out, plot.Tick{Value: v, Label: label})
	}
	return out
}

// Thousands sets commas in the digits before the decimal point: 1000 becomes 1,000.
func Thousands(number string) string {
	whole, fraction, _ := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

// at returns the position of a value on an axis.
func (a *Axis) at(v float64, e *extent) float64 {
	if !a.Log {
		return v
	}
	if v = math.Log10(v); math.IsNaN(v) || v < e.min {
		return e.min
	}
	return v
}

// logTicks returns the logarithms of the powers of ten and of their multiples by 2 to 9. Powers of
// ten have labels; if they are few, some multiples have labels too, and if they are many,
// only some powers have.
func logTicks(low, high float64) []plot.Tick {
	labelled, every := map[int]bool{1: true}, 1
	switch decades := high - low; {
	case decades < 0.8:
		labelled = map[int]bool{1: true, 2: true, 3: true, 5: true, 7: true}
	case decades < 1.8:
		labelled = map[int]bool{1: true, 2: true, 5: true}
	case decades > 5:
		every = 2
	}
	var out []plot.Tick
	for e := int(math.Floor(low)); e <= int(math.Ceil(high)); e++ {
		for m := 1; m <= 9; m++ {
			v := float64(float64(m) * math.Pow10(e))
			t := plot.Tick{Value: math.Log10(v)}
			if t.Value < low-1e-9 || t.Value > high+1e-9 {
				continue
			}
			if labelled[m] && (m > 1 || e%every == 0) {
				t.Label = strconv.Itoa(m) + "e" + strconv.Itoa(e)
				if e >= -3 && e <= 4 {
					t.Label = Thousands(strconv.FormatFloat(v, 'f', max(0, -e), 64))
				}
			}
			out = append(out, t)
		}
	}
	return out
}
