package report

import (
	"fmt"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

// JudgedClaim is a claim with the verdicts on it.
type JudgedClaim struct {
	Claim           experiment.Claim
	Ours, Published Judgement // by our records, and by published numbers

	// Reason is why the claim fails on our records, if the experiment gives a reason.
	Reason Reason
}

// Verdict is the outcome of a claim, or of one of its parts.
type Verdict int

// Verdicts.
const (
	Open  Verdict = iota // something is missing
	Holds                // it is true
	Fails                // it is false
)

func (v Verdict) String() string { return [...]string{"open", "holds", "fails"}[v] }

// Judgement counts, by verdict, the rows, series, cells or runs that a claim is about.
type Judgement struct {
	Unit               string // "rows"
	Open, Holds, Fails int

	nothing  string   // why there is nothing to count
	reasons  []string // why some are open
	failures []string // where it is false, and by which numbers
}

func (j Judgement) all() int { return j.Open + j.Holds + j.Fails }

// Verdict is the outcome for the claim as a whole, which holds if all its parts do.
func (j Judgement) Verdict() Verdict {
	switch {
	case j.Fails > 0:
		return Fails
	case j.Open > 0 || j.all() == 0:
		return Open
	}
	return Holds
}

// mostFailures bounds the failures that the evidence lists.
const mostFailures = 15

// evidence counts the parts in words, and lists where the claim is false.
func (j Judgement) evidence() string {
	if j.all() == 0 {
		return j.nothing
	}
	text := fmt.Sprintf("true in %d of %d %s", j.Holds, j.all(), j.Unit)
	if j.Fails > 0 {
		text += fmt.Sprintf(", false in %d", j.Fails)
	}
	if j.Open > 0 {
		text += fmt.Sprintf("; %d cannot be judged yet, as %s", j.Open, list(j.reasons))
	}
	if j.Fails > 0 {
		text += "; false for " + strings.Join(j.failures[:min(len(j.failures), mostFailures)], "; ")
		if rest := len(j.failures) - mostFailures; rest > 0 {
			text += fmt.Sprintf("; and %d more", rest)
		}
	}
	return text
}

// entry returns the verdict and a short count of the parts, in the colour of the verdict.
func (j Judgement) entry() sheet.Entry {
	if j.all() == 0 {
		return sheet.Text("not judged")
	}
	e := sheet.Text(fmt.Sprintf("%s: %d of %d %s", j.Verdict(), j.Holds, j.all(), j.Unit))
	if j.Open > 0 {
		e.Text += fmt.Sprintf(", %d open", j.Open)
	}
	e.Good = map[Verdict]int{Holds: 1, Fails: -1}[j.Verdict()]
	return e
}

// claimSheet returns the table of an experiment's claims, or nil if there are none.
func (r *Results) claimSheet() *sheet.Sheet {
	s := claimSheet([]*Results{r})
	if s != nil {
		s.Title = r.Spec.Title + ": claims"
	}
	return s
}

// claimSheet returns the table of the claims of several experiments, or nil if there are none. Each
// experiment appears under the part of its title before the colon.
func claimSheet(all []*Results) *sheet.Sheet {
	s := &sheet.Sheet{Name: "claims", Title: "Claims", Heads: []string{"Claim"}, Wide: []float64{0.48, 0.14, 0.14, 0.16},
		Columns: []string{"In the paper", "Published numbers", "Our records"}}
	if len(all) > 1 {
		s.Heads, s.Merge, s.Wide = []string{"Experiment", "Claim"}, 1, []float64{0.15, 0.38, 0.1, 0.14, 0.14}
	}
	families, traces := columnFamilies{}, false
	published, ours := map[Verdict]int{}, map[Verdict]int{}
	for _, r := range all {
		r.claimFamilies(families)
		title, _, _ := strings.Cut(r.Spec.Title, ":")
		for _, j := range r.Claims {
			traces = traces || j.Claim.Kind == "together" || j.Claim.Kind == "opposed"
			published[j.Published.Verdict()]++
			ours[j.Ours.Verdict()]++
			verdict := j.Ours.entry()
			if why := j.remark(); why != "" {
				s.Refer(&verdict, sheet.Mark{Text: sentence(capital(why))})
			}
			heads := []string{title, fmt.Sprintf("%d. %s", len(s.Rows)+1, capital(j.Claim.Text))}
			s.Rows = append(s.Rows, sheet.Row{Heads: heads[2-len(s.Heads):], Cells: []sheet.Entry{sheet.Text(j.Claim.Place), j.Published.entry(), verdict}})
		}
	}
	if s.Rows == nil {
		return nil
	}
	s.Caption = fmt.Sprintf("%d of the paper's %s true by our records", ours[Holds], Count(len(s.Rows), "claim is", "claims are"))
	if decided := published[Holds] + published[Fails]; decided > 0 {
		s.Caption += fmt.Sprintf("; of the %s that the published numbers decide, they bear out %d", Count(decided, "claim", "claims"), published[Holds])
	}
	s.Caption += ". A verdict counts rows, series, cells or runs."
	if traces {
		s.Caption += " " + correlationText
	}
	s.Notes = families.notes()
	return s
}

// remark explains the verdict by our records: why there is nothing to judge, why the claim fails,
// and why parts are open if not only because runs are missing.
func (j JudgedClaim) remark() string {
	open := "open, as " + list(j.Ours.reasons)
	switch {
	case j.Ours.all() == 0:
		return j.Ours.nothing
	case !slices.ContainsFunc(j.Ours.reasons, func(why string) bool { return why != notThere }):
		return j.Reason.String()
	case j.Reason != Reason{}:
		return sentence(j.Reason.String()) + " " + capital(open)
	}
	return open
}

// claimFamilies collects the protocol families of the scores that claims are about.
func (r *Results) claimFamilies(f columnFamilies) {
	for _, j := range r.Claims {
		x := r.claimData(j.Claim, false)
		for _, c := range x.cells {
			if !x.about(c) && x.side(c.Cell.Column) < 0 {
				continue
			}
			title, own := r.valueTitle("method", c.Cell.Column), c.family(x.metric)
			f.add(title, own)
			if _, p, ok := r.publishedOf(c.Cell, x.metric); ok && p.FamilyOf(c.Cell.Column) != own {
				f.add(title+" as published", p.FamilyOf(c.Cell.Column))
			}
		}
	}
}
