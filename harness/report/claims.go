package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
		j.Ours, j.OursParts, j.Evidence = x.judge()
		x.published = true
		j.Published, j.PublishedParts, _ = x.judge()
		if j.Ours == Fails {
			j.Reason = r.reasonOfClaim(c.ID)
		}
		out = append(out, j)
	}
	return out
}

func (c court) judge() (Verdict, parts, string) {
	unit, judged := "runs", c.traces
	switch c.claim.Kind {
	case "rank", "less":
		unit, judged = "rows", c.rank
	case "growth":
		unit, judged = "series", c.growth
	case "close":
		unit, judged = "cells", c.close
	}
	switch {
	case c.published && unit == "runs":
		return Open, parts{}, "curves have not been published as numbers"
	case len(c.cells) == 0:
		return Open, parts{}, "the claim is about no cell of the report"
	}
	return sum(unit, judged())
}

// notThere is why most claims that are open are.
const notThere = "runs or numbers are missing"

// mostFailures bounds the failing parts that the evidence spells out.
const mostFailures = 15

// sum joins the verdicts on the parts of a claim, which holds if all do.
func sum(unit string, all []part) (Verdict, parts, string) {
	n := parts{Unit: unit}
	var failures []string
	for _, p := range all {
		switch p.verdict {
		case Open:
			n.Open++
			n.why = with(n.why, cmp.Or(p.why, notThere))
		case Fails:
			n.Fails++
			failures = append(failures, p.String())
		case Holds:
			n.Holds++
		}
	}
	text := n.String()
	switch {
	case n.all() == 0:
		return Open, n, "nothing to judge it by"
	case n.Fails > 0:
		text += "; false for " + strings.Join(failures[:min(len(failures), mostFailures)], "; ")
		if rest := len(failures) - mostFailures; rest > 0 {
			text += fmt.Sprintf("; and %d more", rest)
		}
		return Fails, n, text
	case n.Open > 0:
		return Open, n, text
	}
	return Holds, n, text
}

// String counts the parts in words.
func (p parts) String() string {
	text := fmt.Sprintf("true in %d of %d %s", p.Holds, p.all(), p.Unit)
	if p.Fails > 0 {
		text += fmt.Sprintf(", false in %d", p.Fails)
	}
	if p.Open > 0 {
		text += fmt.Sprintf("; %d cannot be judged yet, as %s", p.Open, list(p.why))
	}
	return text
}

// short is how many parts a claim holds in.
func (p parts) short() string {
	if p.all() == 0 {
		return "not judged"
	}
	s := fmt.Sprintf("%d of %d %s", p.Holds, p.all(), p.Unit)
	if p.Open > 0 {
		s += fmt.Sprintf(", %d open", p.Open)
	}
	return s
}

// entry is a text in the colour of the verdict.
func (v Verdict) entry(text string) sheet.Entry {
	e := sheet.Text(text)
	e.Good = map[Verdict]int{Holds: 1, Fails: -1}[v]
	return e
}

// claimSheet is the table of claims, one a row, nil if there are none.
func (r *Results) claimSheet() *sheet.Sheet {
	s := claimSheet([]*Results{r})
	if s != nil {
		s.Name, s.Title, s.Caption = r.stem()+"-claims", r.Spec.Title+": claims", r.selected(s.Caption)
	}
	return s
}

// claimSheet has the claims of several experiments, each under the beginning of its title.
func claimSheet(all []*Results) *sheet.Sheet {
	s := &sheet.Sheet{Name: "claims", Title: "Claims", Heads: []string{"Claim"}, Prose: true, Wide: []float64{0.48, 0.14, 0.14, 0.16},
		Columns: []string{"In the paper", "Published numbers", "Our records"},
		Caption: "Claims of the paper: in how many of the rows, series, cells or runs that they are about they hold, by the published numbers and by our records."}
	if len(all) > 1 {
		s.Heads, s.Merge, s.Wide = []string{"Experiment", "Claim"}, 1, append([]float64{0.15}, 0.38, 0.1, 0.14, 0.14)
	}
	families, limits := columnFamilies{}, ""
	for _, r := range all {
		limits = cmp.Or(limits, r.traceCaption())
		r.claimFamilies(families)
		title, _, _ := strings.Cut(r.Spec.Title, ":")
		for _, j := range r.Claims {
			ours := j.Ours.entry(j.OursParts.short())
			reason := j.Reason.String()
			switch {
			case j.OursParts.all() == 0:
				reason = j.Evidence // why there is nothing to judge
			case slices.ContainsFunc(j.OursParts.why, func(why string) bool { return why != notThere }):
				open := "open, as " + list(j.OursParts.why)
				if reason != "" {
					open = sentence(reason) + " " + capital(open)
				}
				reason = open
			}
			footnote(s, &ours, reason)
			heads := []string{title, j.Claim.Text}
			s.Rows = append(s.Rows, sheet.Row{Heads: heads[2-len(s.Heads):], Cells: []sheet.Entry{sheet.Text(j.Claim.Place),
				j.Published.entry(j.PublishedParts.short()), ours}})
		}
	}
	if s.Rows == nil {
		return nil
	}
	s.Caption += limits
	s.Notes = families.notes()
	return s
}

// claimsCSV has a line for every claim.
func (r *Results) claimsCSV() []byte {
	lines := [][]string{{"claim", "text", "place", "unit", "published_verdict", "published_holds", "published_fails", "published_open", "verdict", "holds", "fails", "open", "reason", "evidence"}}
	counts := func(p parts) []string {
		return []string{strconv.Itoa(p.Holds), strconv.Itoa(p.Fails), strconv.Itoa(p.Open)}
	}
	for _, j := range r.Claims {
		lines = append(lines, slices.Concat([]string{j.Claim.ID, j.Claim.Text, j.Claim.Place, cmp.Or(j.OursParts.Unit, j.PublishedParts.Unit), j.published()}, counts(j.PublishedParts),
			[]string{j.Ours.String()}, counts(j.OursParts), []string{j.Reason.String(), j.Evidence}))
	}
	return sheet.CSV(lines)
}

// claimFamilies notes the protocol families of the scores that claims are about.
func (r *Results) claimFamilies(f columnFamilies) {
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
}
