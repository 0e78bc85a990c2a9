package report

import (
	"fmt"
	"io"
	"math"

	"dgkip/harness/report/sheet"
)

// Terminal writes the experiment's table for a terminal of the given width. A wider table is cut into
// several. Width 0 means a file: no limit, and no escape sequences.
func (r *Results) Terminal(w io.Writer, width int) error {
	if len(r.sheets) == 0 {
		return nil
	}
	s := *r.sheets[0]
	s.Notes = append(s.Notes[:len(s.Notes):len(s.Notes)], r.furtherNotes()...)
	return s.Terminal(w, width)
}

// furtherNotes returns a comparison with the published numbers, and the names of further tables.
func (r *Results) furtherNotes() []string {
	if n, _ := r.progress(); n[sheet.Blank] == 0 {
		return nil
	}
	var out, names []string
	if len(r.Published) > 0 {
		all, own := tallyOf(r.Published, Comparison.accuracy), tallyOf(r.Published, Comparison.ownAccuracy)
		text := fmt.Sprintf("Our accuracies against the published ones (%s): %s.", list(r.sources()), all)
		if own.all() > 0 && own.all() < all.all() {
			text += fmt.Sprintf(" Of the source's own methods: %s.", own)
		}
		out = append(out, text)
	}
	for _, s := range r.sheets[1:] {
		if s != nil {
			names = append(names, s.Name+".md")
		}
	}
	if names != nil {
		out = append(out, "Further tables are on the page and in the folder tables: "+list(names)+".")
	}
	return out
}

// TerminalChecks writes the tables of reproduced numbers and of claims for a terminal.
func (r *Results) TerminalChecks(w io.Writer, width int) error {
	for _, name := range []string{"reproduced", "claims"} {
		if s := r.further(name); s != nil {
			if err := s.Terminal(w, width); err != nil {
				return err
			}
		}
	}
	return nil
}

// Failures returns a message for every claim that fails on our records, and for every number of
// ours that is worse than published by more than the tolerance, unless a deviation gives a reason.
func (r *Results) Failures() []string {
	var out []string
	for _, j := range r.Claims {
		if j.Ours.Fails > 0 && j.Reason == (Reason{}) {
			out = append(out, fmt.Sprintf("%s: claim %s (%s): %s", r.Spec.Name, j.Claim.ID, j.Claim.Place, j.Ours.evidence()))
		}
	}
	for _, x := range r.Published {
		if x.Worse && x.Reason == (Reason{}) {
			out = append(out, fmt.Sprintf("%s: %s: %s is %s, published %s: %s by %s, more than the tolerance of %s", r.Spec.Name, r.placeName(x.Runs.Cell),
				metricTitle(x.Metric), significant(x.Ours.value(), 5), shortest(x.Published.Mean), x.Outcome, significant(math.Abs(x.difference()), 3), significant(x.Tolerance, 3)))
		}
	}
	return out
}

// Checks counts the claims and published numbers that are judged, and those that wait for runs.
func (r *Results) Checks() (judged, open int) {
	for _, j := range r.Claims {
		if j.Ours.Verdict() == Open {
			open++
		} else {
			judged++
		}
	}
	for _, x := range r.Published {
		switch {
		case x.Outcome.judged():
			judged++
		case x.waits():
			open++
		}
	}
	return judged, open
}
