package report

import (
	"fmt"
	"math"
	"slices"

	"dgkip/harness/experiment"
	"dgkip/harness/stats"
)

// Limits of claims on traces.
const (
	slack       = 1e-6 // relative, for two ways of computing one number in float32
	fewestLines = 5    // of a trace, for a correlation
	correlated  = 0.5  // rank correlation above which two quantities go together
)

// traceCaption explains the limits where a claim is judged by them.
func (r *Results) traceCaption() string {
	if !slices.ContainsFunc(r.Claims, func(j Judged) bool { return j.Claim.Kind == "together" || j.Claim.Kind == "opposed" }) {
		return ""
	}
	return fmt.Sprintf(" Two quantities rise and fall together when their rank correlation along a trace is %v or more. They are opposed when it is -%v or less. A quantity claimed to fall must also end lower than it began.", correlated, correlated)
}

// traces judges claims on two columns of the traces: above, together and opposed.
func (c court) traces() []part {
	var out []part
	for _, x := range c.cells {
		if !c.meant(x) {
			continue
		}
		for _, run := range x.Runs {
			a, b := c.columns(run)
			if run.Record != nil && len(a) == 0 && len(c.claim.Columns) == 0 {
				continue // a method without these quantities is not what the claim is about
			}
			var p part
			switch {
			case len(a) == 0:
			case c.claim.Kind == "above":
				p = above(a, b, c.claim)
			case len(a) >= fewestLines:
				p = correlation(a, b, c.claim)
			}
			p.where = fmt.Sprintf("%s seed %d", c.r.placeName(x.Cell), run.Seed)
			out = append(out, p)
		}
	}
	return out
}

// columns returns the lines of a run's trace in which both columns have a number.
func (c court) columns(run Run) (x, y []float64) {
	if run.Record == nil {
		return nil, nil
	}
	t := c.r.trace(run.Record)
	if t == nil {
		return nil, nil
	}
	a, b := t.Column(c.claim.Metric), t.Column(c.claim.Other)
	for i := range min(len(a), len(b)) {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// above: in every line, Metric >= Other.
func above(a, b []float64, c experiment.Claim) part {
	for i := range a {
		if a[i] < b[i]-slack*math.Max(math.Abs(a[i]), math.Abs(b[i])) {
			return part{verdict: Fails, what: fmt.Sprintf("line %d has %s %s and %s %s", i+1, c.Metric, significant(a[i], 6), c.Other, significant(b[i], 6))}
		}
	}
	return part{verdict: Holds}
}

// correlation: Metric and Other rise and fall together, or one falls as the other
// rises. Falls asks that Metric ends below where it began.
func correlation(a, b []float64, c experiment.Claim) part {
	rho := stats.Spearman(a, b)
	if math.IsNaN(rho) {
		return part{}
	}
	p := part{verdict: Fails, what: "rank correlation " + fixed(rho, 2)}
	from, to := a[0], a[len(a)-1]
	if c.Falls {
		p.what += fmt.Sprintf(", %s from %s to %s", metricTitle(c.Metric), significant(from, 3), significant(to, 3))
	}
	if c.Kind == "opposed" {
		rho = -rho
	}
	if rho >= correlated && (to < from || !c.Falls) {
		p.verdict = Holds
	}
	return p
}
