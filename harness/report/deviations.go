package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

// Reason is the explanation that an experiment gives for a number that is worse than published, or
// for a claim that fails. The zero value means that it gives none.
type Reason struct {
	Why         string
	Unexplained bool // Why only describes the difference
}

func (r Reason) String() string {
	if r.Unexplained {
		return "not explained: " + r.Why
	}
	return r.Why
}

// mark returns the reason as a footnote.
func (r Reason) mark() sheet.Mark { return sheet.Mark{Text: sentence(capital(r.String()))} }

var settingPattern = regexp.MustCompile(`\{([a-z0-9_]+)\}`)

// reasonOf returns the reason in the first deviation of the experiment that covers a cell. {KEY} in
// its text is replaced by the cell's setting of that name.
func (r *Results) reasonOf(c *experiment.Cell) Reason {
	for _, d := range r.Spec.Deviations {
		if len(d.When) == 0 || !d.When.Matches(c.At) {
			continue
		}
		settings := c.Identity(experiment.DatasetIdentity{}, 0).Method.Settings
		why := settingPattern.ReplaceAllStringFunc(d.Why, func(key string) string {
			v, ok := settings[strings.Trim(key, "{}")]
			if !ok {
				r.problem("deviation %q of %s: %s has no setting %s; name one of its settings, or leave out the braces", d.Why, r.Spec.Name, c.Column, key)
				return key
			}
			return setting(v)
		})
		return Reason{why, d.Unexplained}
	}
	return Reason{}
}

// reasonOfClaim returns the reason in the first deviation that covers a claim.
func (r *Results) reasonOfClaim(id string) Reason {
	for _, d := range r.Spec.Deviations {
		if slices.Contains(d.Claims, id) {
			return Reason{d.Why, d.Unexplained}
		}
	}
	return Reason{}
}

// Explained returns a line for every reason that the experiment gives, with the numbers and claims
// that need it. Reasons that explain nothing are in the second list.
func (r *Results) Explained() (explained, not []string) {
	var reasons []Reason
	places := map[Reason][]string{}
	add := func(reason Reason, place string) {
		if reason != (Reason{}) {
			reasons = with(reasons, reason)
			places[reason] = append(places[reason], place)
		}
	}
	for _, x := range r.Published {
		add(x.Reason, r.placeName(x.Runs.Cell)+" ("+x.differenceText()+")")
	}
	for _, j := range r.Claims {
		add(j.Reason, "claim "+j.Claim.ID)
	}
	for _, reason := range reasons {
		line := fmt.Sprintf("%s: %s: %s", r.Spec.Name, strings.Join(places[reason], ", "), reason.Why)
		if reason.Unexplained {
			not = append(not, line)
		} else {
			explained = append(explained, line)
		}
	}
	return explained, not
}

// Stale returns a message for every deviation that is no longer needed: everything it covers has
// been computed, and nothing is worse than published or fails.
func (r *Results) Stale() []string {
	var out []string
	for _, d := range r.Spec.Deviations {
		judged, needed := false, false
		for _, x := range r.Published {
			if len(d.When) > 0 && d.When.Matches(x.Runs.Cell.At) {
				judged = judged || x.Outcome.judged()
				needed = needed || x.Worse || x.Ours.N == 0
			}
		}
		for _, j := range r.Claims {
			if slices.Contains(d.Claims, j.Claim.ID) {
				judged = true
				needed = needed || j.Ours.Verdict() != Holds
			}
		}
		if judged && !needed {
			out = append(out, fmt.Sprintf("%s: this [[deviation]] can be deleted, because no number it covers is worse than published, and no claim it covers fails: %s", r.Spec.Name, d.Why))
		}
	}
	return out
}
