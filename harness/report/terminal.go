package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// Screen describes the terminal that a table is for. The zero value is for a file.
type Screen struct {
	Width int    // columns; wider tables are cut into several. 0 for a file: no limit, no escape sequences
	Host  string // this machine's name; the records made here are counted
}

// Terminal writes the experiment's table for people to read at once.
func (r *Results) Terminal(w io.Writer, screen Screen) error {
	if len(r.sheets) == 0 {
		return nil
	}
	s := *r.sheets[0]
	s.Notes = append(append(s.Notes[:len(s.Notes):len(s.Notes)], r.hereNote(screen.Host)...), r.furtherNotes()...)
	return s.Terminal(w, screen.Width)
}

// furtherNotes say what else there is to read, beginning with what was published.
func (r *Results) furtherNotes() []string {
	if n, _ := r.progress(); n[sheet.Blank] == 0 {
		return nil
	}
	var out, names []string
	if len(r.Published) > 0 {
		text := fmt.Sprintf("Against the published accuracies (%s): %s.", list(r.sources()), tallyOf(r.Published, Beside.accuracy))
		if own := tallyOf(r.Published, Beside.ownAccuracy); own["all"] > 0 && own["all"] < tallyOf(r.Published, Beside.accuracy)["all"] {
			text += fmt.Sprintf(" Of its own methods %s.", own)
		}
		out = append(out, text)
	}
	for _, s := range r.sheets[1:] {
		names = append(names, s.Name+".md")
	}
	if names != nil {
		out = append(out, "Further tables, on the page and in the folder of tables: "+list(names)+".")
	}
	return out
}

// hereNote says how many of the records were made on this machine.
func (r *Results) hereNote(host string) []string {
	if host == "" {
		return nil
	}
	here, all := 0, 0
	for _, run := range r.distinct() {
		if run.Record == nil {
			continue
		}
		all++
		if !slices.ContainsFunc(run.Record.Provenance.Sessions, func(s store.Session) bool { return s.Host.Name != host }) {
			here++
		}
	}
	switch here {
	case all:
		return nil
	case 0:
		return []string{fmt.Sprintf("All %s come from other machines.", Count(all, "record", "records"))}
	}
	return []string{fmt.Sprintf("%d of %d records were made on this machine.", here, all)}
}

// TerminalChecks writes, for people to read at once, which published numbers our
// records reproduce and which claims hold.
func (r *Results) TerminalChecks(w io.Writer, screen Screen) error {
	for _, name := range []string{"reproduced", "claims"} {
		if s := r.further(name); s != nil {
			if err := s.Terminal(w, screen.Width); err != nil {
				return err
			}
		}
	}
	return nil
}

// Failures lists, in words, the published numbers that ours are worse than by more than
// the tolerance, and the claims that fail on our records, where no deviation says why.
func (r *Results) Failures() []string {
	var out []string
	for _, j := range r.Claims {
		if j.Ours == Fails && j.Reason == (Reason{}) {
			out = append(out, fmt.Sprintf("%s: claim %s (%s): %s", r.Spec.Name, j.Claim.ID, j.Claim.Place, j.Evidence))
		}
	}
	for _, b := range r.Published {
		if b.Failed() && b.Reason == (Reason{}) {
			out = append(out, fmt.Sprintf("%s: %s: %s is %s, published %s: %s by %s, where the tolerance is %s", r.Spec.Name, r.placeName(b.Cell),
				metricTitle(b.Metric), significant(b.Ours, 5), shortest(b.Published.Mean), b.Match, significant(math.Abs(b.Difference()), 3), significant(b.Tolerance, 3)))
		}
	}
	return out
}

// Checks counts the claims and published numbers that could be judged, and those
// that runs are missing for.
func (r *Results) Checks() (judged, open int) {
	for _, j := range r.Claims {
		if j.Ours == Open {
			open++
		} else {
			judged++
		}
	}
	for _, b := range r.Published {
		switch {
		case b.Match != Unjudged:
			judged++
		case b.Seeds == 0 && b.judgeable():
			open++
		}
	}
	return judged, open
}
