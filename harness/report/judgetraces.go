package report

import (
	"fmt"
	"math"
	"slices"

	"dgkip/harness/exhibit"
	"dgkip/harness/stats"
)

// Limits of claims on traces.
const (
	slack   = 1e-6 // relative, for two ways of computing one number in float32
	atLeast = 5    // lines of a trace
	bound   = 0.5  // rank correlation above which two quantities go together
)

func (r *Results) judgeTraces(c exhibit.Claim, cells []*CellRuns, t *tally) {
	t.unit = "runs"
	for _, x := range cells {
		if len(c.Columns) > 0 && !slices.Contains(c.Columns, x.Cell.Column) {
			continue
		}
		for _, run := range x.Runs {
			where := fmt.Sprintf("%s seed %d", r.placeName(x.Cell), run.Seed)
			if run.Record == nil {
				t.add(Open, where, "")
				continue
			}
			trace := r.trace(run.Record)
			var a, b []float64
			if trace != nil {
				a, b = both(trace.Column(c.Metric), trace.Column(c.Other))
			}
			if len(a) == 0 {
				// A method without these quantities is not what the claim is about,
				// unless the claim names it.
				if len(c.Columns) > 0 {
					t.add(Open, where, "")
				}
				continue
			}
			if c.Kind == "above" {
				t.above(a, b, c, where)
				continue
			}
			if len(a) < atLeast {
				t.add(Open, where, "")
				continue
			}
			rho := stats.Spearman(a, b)
			if math.IsNaN(rho) {
				t.add(Open, where, "")
				continue
			}
			what := "rank correlation " + fixed(rho, 2)
			fell := true
			if c.Falls {
				from, to := a[0], a[len(a)-1]
				fell = to < from
				what += fmt.Sprintf(", %s from %s to %s", metricTitle(c.Metric), significant(from, 3), significant(to, 3))
			}
			if fell && (c.Kind == "together" && rho >= bound || c.Kind == "opposed" && rho <= -bound) {
				t.near(math.Abs(rho), where, what)
				t.add(Holds, where, "")
			} else {
				t.add(Fails, where, what)
			}
		}
	}
}

func (t *tally) above(a, b []float64, c exhibit.Claim, where string) {
	tight := math.Inf(1)
	for i := range a {
		if a[i] < b[i]-slack*math.Max(math.Abs(a[i]), math.Abs(b[i]))-c.Tolerance {
			t.add(Fails, where, fmt.Sprintf("line %d has %s %s and %s %s", i+1, c.Metric, significant(a[i], 6), c.Other, significant(b[i], 6)))
			return
		}
		if b[i] > 0 {
			tight = math.Min(tight, a[i]/b[i])
		}
	}
	if !math.IsInf(tight, 1) {
		t.near(tight, where, "smallest ratio "+significant(tight, 4))
	}
	t.add(Holds, where, "")
}

// both drops the lines in which one of two columns has no number.
func both(a, b []float64) (x, y []float64) {
	if len(a) != len(b) {
		return nil, nil
	}
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}
