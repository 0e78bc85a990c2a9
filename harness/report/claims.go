package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/report/sheet"
)

// published is the verdict on published numbers, in words.
func (j Judged) published() string {
	if j.Published == Open {
		return "not judged"
	}
	return j.Published.String()
}

func (r *Results) judgeAll() []Judged {
	var out []Judged
	for _, c := range r.Spec.Claims {
		j := Judged{Claim: c}
		j.Ours, j.OursEvidence = r.court(c, false).judge()
		j.Published, j.PublishedEvidence = r.court(c, true).judge()
		out = append(out, j)
	}
	return out
}

func (r *Results) court(c exhibit.Claim, published bool) court {
	return court{r, c, metricOr(c.Metric), r.only(c.Only), published}
}

func (c court) judge() (Verdict, string) {
	kinds := map[string]struct {
		unit  string
		parts func() []part
	}{
		"rank": {"rows", c.rank}, "less": {"rows", c.rank}, "growth": {"series", c.growth}, "close": {"cells", c.close},
		"above": {"runs", c.traces}, "together": {"runs", c.traces}, "opposed": {"runs", c.traces},
	}
	kind, known := kinds[c.claim.Kind]
	onTraces := kind.unit == "runs"
	switch {
	case !known:
		return Open, "this program cannot judge claims of the kind " + c.claim.Kind
	case c.published && len(c.r.Spec.Published) == 0:
		return Open, "the experiment has no published numbers"
	case c.published && onTraces:
		return Open, "curves have not been published as numbers"
	case len(c.cells) == 0:
		return Open, "the claim is about no cell of the report"
	}
	note := ""
	if isTime(c.metric) && !c.published && !onTraces {
		on := c.machines()
		if why := on.incomparable(); why != "" {
			return Open, why
		}
		if on.has(partlyMark) {
			note = "; some of the times are of runs that had less than half of the processor's time"
		}
	}
	verdict, evidence := sum(kind.unit, kind.parts())
	return verdict, evidence + note
}

// machines are those that the times were taken on which the claim is about. One
// that names no rivals is about all.
func (c court) machines() machines {
	return machinesOf(slices.DeleteFunc(slices.Clone(c.cells), func(x *CellRuns) bool {
		return len(c.claim.Against) > 0 && !slices.Contains(c.claim.Columns, x.Cell.Column) && !slices.Contains(c.claim.Against, x.Cell.Column)
	}))
}

// mostFailures bounds the failing parts that evidence spells out.
const mostFailures = 15

// sum joins the verdicts on the parts of a claim, which holds if all do.
func sum(unit string, parts []part) (Verdict, string) {
	var n [3]int
	var failures []string
	closest := part{margin: math.NaN()}
	for _, p := range parts {
		n[p.verdict]++
		switch {
		case p.verdict == Fails:
			failures = append(failures, p.where+": "+p.what)
		case p.verdict == Holds && p.what != "" && !(p.margin >= closest.margin):
			closest = p
		}
	}
	if len(parts) == 0 {
		return Open, "nothing to judge it by"
	}
	text := fmt.Sprintf("holds in %d of %d %s", n[Holds], len(parts), unit)
	if n[Fails] > 0 {
		text += fmt.Sprintf(", fails in %d", n[Fails])
	}
	if n[Open] > 0 {
		text += fmt.Sprintf(", %d undecided because runs or numbers are missing", n[Open])
	}
	switch {
	case n[Fails] > 0:
		text += "; failing: " + strings.Join(failures[:min(len(failures), mostFailures)], "; ")
		if rest := len(failures) - mostFailures; rest > 0 {
			text += fmt.Sprintf("; and %d more", rest)
		}
		return Fails, text
	case closest.what != "":
		text += "; closest to failing: " + closest.where + ": " + closest.what
	}
	if n[Open] > 0 {
		return Open, text
	}
	return Holds, text
}

// claimSheet is the table of claims, nil if there are none.
func (r *Results) claimSheet() *sheet.Sheet {
	if len(r.Claims) == 0 {
		return nil
	}
	s := &sheet.Sheet{Name: r.stem() + "-claims", Title: r.Spec.Title + ": claims", Heads: []string{"Claim"}, Prose: true,
		Wide:    []float64{0.14, 0.07, 0.08, 0.24, 0.08, 0.23},
		Columns: []string{"Place", "Our records", "Evidence", "Published numbers", "Evidence"}}
	verdict := func(v Verdict, text string) sheet.Entry {
		e := sheet.Text(text)
		e.Good = map[Verdict]int{Holds: 1, Fails: -1}[v]
		return e
	}
	for _, j := range r.Claims {
		s.Rows = append(s.Rows, sheet.Row{Heads: []string{j.Claim.Text}, Cells: []sheet.Entry{sheet.Text(j.Claim.Place),
			verdict(j.Ours, j.Ours.String()), sheet.Text(j.OursEvidence), verdict(j.Published, j.published()), sheet.Text(j.PublishedEvidence)}})
	}
	s.Caption = r.selected("Claims of the paper, judged on the means over seeds of our records and on the published numbers." + r.traceCaption() + r.circumstances())
	return s
}
