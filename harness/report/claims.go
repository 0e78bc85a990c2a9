package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
		x := court{r: r, claim: c, metric: metricOr(c.Metric), cells: r.only(c.Only)}
		j.Ours, j.OursEvidence = x.judge()
		x.published = true
		j.Published, j.PublishedEvidence = x.judge()
		out = append(out, j)
	}
	return out
}

func (c court) judge() (Verdict, string) {
	unit, parts := "runs", c.traces
	switch c.claim.Kind {
	case "rank", "less":
		unit, parts = "rows", c.rank
	case "growth":
		unit, parts = "series", c.growth
	case "close":
		unit, parts = "cells", c.close
	}
	onTraces := unit == "runs"
	switch {
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
	verdict, evidence := sum(unit, parts())
	return verdict, evidence + note
}

// machines are those that the times were taken on which the claim is about. One
// that names no rivals is about all.
func (c court) machines() machines {
	return machinesOf(slices.DeleteFunc(slices.Clone(c.cells), func(x *CellRuns) bool {
		return len(c.claim.Against) > 0 && c.side(x.Cell.Column) < 0
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
	s.Notes = r.claimFamilies().notes()
	s.Caption = r.selected("Claims of the paper, judged on the means over seeds of our records and on the published numbers." + r.traceCaption() + r.circumstances())
	return s
}

// claimFamilies are the protocol families of the scores that claims are about.
func (r *Results) claimFamilies() columnFamilies {
	f := columnFamilies{}
	for _, j := range r.Claims {
		metric := metricOr(j.Claim.Metric)
		x := court{r: r, claim: j.Claim}
		for _, c := range r.only(j.Claim.Only) {
			if !x.meant(c) && x.side(c.Cell.Column) < 0 {
				continue
			}
			title, own := r.valueTitle("method", c.Cell.Column), c.family(metric)
			f.add(title, own)
			if _, p, ok := r.publishedOf(c.Cell, metric); ok && p.FamilyOf(c.Cell.Column) != own {
				f.add(title+" as published", p.FamilyOf(c.Cell.Column))
			}
		}
	}
	return f
}
