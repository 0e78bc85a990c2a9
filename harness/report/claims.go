package report

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/exhibit"
)

// Judged is a claim with the verdicts on it.
type Judged struct {
	Claim exhibit.Claim

	// Ours is judged on our records, Published on published numbers; Open where
	// they do not suffice. The evidence says what was looked at, in words.
	Ours, Published                 Verdict
	OursEvidence, PublishedEvidence string
}

// numbers is what a claim is judged on.
type numbers struct {
	r         *Results
	published bool
}

// of returns a metric of a cell in the metric's own unit.
func (n numbers) of(c *CellRuns, metric string) (float64, bool) {
	if n.published {
		v, p, ok := n.r.publishedOf(c.Cell, metric)
		if !ok {
			return 0, false
		}
		return v.Mean / scaleOf(metric, p.Scale), true
	}
	// Some of the planned seeds are not the mean over all of them.
	if len(c.done()) < len(c.Runs) {
		return 0, false
	}
	s, ok := c.summary(metric)
	return s.Mean, ok
}

// timed are the machines that the times were taken on which a claim is about. One
// that names no rivals is about all.
func timed(c exhibit.Claim, cells []*CellRuns) machines {
	if len(c.Against) == 0 {
		return machinesOf(cells)
	}
	return machinesOf(slices.DeleteFunc(slices.Clone(cells), func(x *CellRuns) bool {
		return !slices.Contains(c.Columns, x.Cell.Column) && !slices.Contains(c.Against, x.Cell.Column)
	}))
}

// any tells whether any of the cells has the metric.
func (n numbers) any(cells []*CellRuns, metric string) bool {
	return slices.ContainsFunc(cells, func(c *CellRuns) bool { _, ok := n.of(c, metric); return ok })
}

// Claims judges the claims of the experiment in their order.
func (r *Results) Claims() []Judged {
	var out []Judged
	for _, c := range r.Spec.Claims {
		j := Judged{Claim: c}
		j.Ours, j.OursEvidence = r.judge(c, numbers{r, false})
		j.Published, j.PublishedEvidence = r.judge(c, numbers{r, true})
		out = append(out, j)
	}
	return out
}

func (r *Results) judge(c exhibit.Claim, n numbers) (Verdict, string) {
	cells := r.only(c.Only)
	if n.published && len(r.Spec.Published) == 0 {
		return Open, "no published numbers stand in the experiment"
	}
	if len(cells) == 0 {
		return Open, "no cell of the report is meant"
	}
	metric := metricOr(c.Metric)
	var t tally
	if isTime(metric) && !n.published {
		on := timed(c, cells)
		if why := on.incomparable(); why != "" {
			return Open, why
		}
		t.partly = on.partly
	}
	switch c.Kind {
	case "rank":
		r.judgeRank(c, metric, cells, n, &t)
	case "less":
		r.judgeLess(c, metric, cells, n, &t)
	case "growth":
		r.judgeGrowth(c, metric, cells, n, &t)
	case "close":
		r.judgeClose(c, metric, cells, n, &t)
	case "above", "together", "opposed":
		if n.published {
			return Open, "curves have not been published as numbers"
		}
		r.judgeTraces(c, cells, &t)
	default:
		return Open, "this program cannot judge claims of the kind " + c.Kind
	}
	return t.verdict()
}

// tally collects the verdicts on the parts of a claim, which holds if all do.
type tally struct {
	unit               string
	holds, fails, open int
	failures, details  []string
	all                bool // details are told beside failures
	partly             bool // some times are of runs that had little of the processor

	// closest is the part that holds by the smallest margin.
	closest string
	margin  float64
}

func (t *tally) add(v Verdict, where, what string) {
	switch v {
	case Holds:
		t.holds++
		if what != "" {
			t.details = append(t.details, where+": "+what)
		}
	case Fails:
		t.fails++
		t.failures = append(t.failures, where+": "+what)
	default:
		t.open++
	}
}

// near keeps the part that comes closest to failing.
func (t *tally) near(margin float64, where, what string) {
	if t.closest == "" || margin < t.margin {
		t.closest, t.margin = where+": "+what, margin
	}
}

// most bounds the parts that evidence spells out.
const most = 15

func (t *tally) verdict() (Verdict, string) {
	all := t.holds + t.fails + t.open
	if all == 0 {
		return Open, "nothing to judge it by"
	}
	unit := t.unit
	if unit == "" {
		unit = "rows"
	}
	text := fmt.Sprintf("in %d of %d %s", t.holds, all, unit)
	if t.fails > 0 {
		text += fmt.Sprintf(", not in %d", t.fails)
	}
	if t.open > 0 {
		text += fmt.Sprintf(", %d undecided for want of runs or numbers", t.open)
	}
	shown := t.failures
	if len(shown) == 0 || t.all {
		shown = slices.Concat(t.failures, t.details)
	}
	if len(shown) == 0 && t.closest != "" {
		shown = []string{"closest to failing: " + t.closest}
	}
	if len(shown) > 0 {
		rest := len(shown) - most
		text += "; " + strings.Join(shown[:min(len(shown), most)], "; ")
		if rest > 0 {
			text += fmt.Sprintf("; and %d more", rest)
		}
	}
	if t.partly {
		text += "; some of the times are of runs that had less than half of the processor's time"
	}
	switch {
	case t.fails > 0:
		return Fails, text
	case t.open > 0:
		return Open, text
	}
	return Holds, text
}

// claimSheet is the table of claims, nil if there are none.
func (r *Results) claimSheet() *sheet {
	all := r.Claims()
	if len(all) == 0 {
		return nil
	}
	s := &sheet{name: r.stem() + "-claims", title: r.Spec.Title + ": claims", heads: []string{"Claim"}, left: true,
		wide:    []float64{0.14, 0.07, 0.08, 0.24, 0.08, 0.23},
		columns: []string{"Place", "Our records", "Evidence", "Published numbers", "Evidence"}}
	cell := func(v Verdict) entry {
		e := entry{state: value, text: v.String()}
		switch v {
		case Holds:
			e.good = 1
		case Fails:
			e.good = -1
		}
		return e
	}
	text := func(t string) entry { return entry{state: value, text: t} }
	for _, j := range all {
		ours, published := cell(j.Ours), cell(j.Published)
		if j.Published == Open {
			published.text = "not judged"
		}
		s.rows = append(s.rows, row{heads: []head{{j.Claim.Text, 1}},
			cells: []entry{text(j.Claim.Place), ours, text(j.OursEvidence), published, text(j.PublishedEvidence)}})
	}
	s.spans(0)
	s.caption = r.selected("Claims judged on the means over seeds of our records and on the published numbers. Two quantities of a trace go together when their rank correlation is at least 0.5, and against each other when it is at most -0.5; those that are to fall must also end below where they began. Nearly the same is so in both directions." + r.circumstances())
	return s
}
