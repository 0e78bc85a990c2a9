package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

var settingPattern = regexp.MustCompile(`\{([a-z_]+)\}`)

// reasonOf is why a cell's numbers are worse than published, with the cell's own
// settings in it: the first of the experiment's deviations that is about it.
func (r *Results) reasonOf(c *experiment.Cell) Reason {
	for _, d := range r.Spec.Deviations {
		if len(d.When) == 0 || !d.When.Matches(c.At) {
			continue
		}
		settings := c.Identity(experiment.DatasetIdentity{}, 0).Method.Settings
		why := settingPattern.ReplaceAllStringFunc(d.Why, func(key string) string {
			v, ok := settings[strings.Trim(key, "{}")]
			if !ok {
				r.problem("deviation %q: %s has no setting %s", d.Why, c.Column, key)
				return key
			}
			return setting(v)
		})
		return Reason{why, d.Unexplained}
	}
	return Reason{}
}

// reasonOfClaim is why a claim fails on our records.
func (r *Results) reasonOfClaim(id string) Reason {
	for _, d := range r.Spec.Deviations {
		if slices.Contains(d.Claims, id) {
			return Reason{d.Why, d.Unexplained}
		}
	}
	return Reason{}
}

// A Reason is what an experiment says of a number that is worse than published, or of a
// claim that fails. The zero Reason says nothing.
type Reason struct {
	Why         string
	Unexplained bool // that it is so is known, and no more
}

func (r Reason) String() string {
	if r.Unexplained {
		return "not explained: " + r.Why
	}
	return r.Why
}

// Stale lists, in words, the deviations that nothing needs any more: all that they are
// about was judged, and none of it is worse or fails.
func (r *Results) Stale() []string {
	var out []string
	for _, d := range r.Spec.Deviations {
		judged, needed := 0, false
		for _, b := range r.Published {
			if len(d.When) > 0 && d.When.Matches(b.Cell.At) {
				needed = needed || b.Failed() || b.Seeds == 0
				if b.Match != Unjudged {
					judged++
				}
			}
		}
		for _, j := range r.Claims {
			if slices.Contains(d.Claims, j.Claim.ID) {
				needed = needed || j.Ours != Holds
				judged++
			}
		}
		if judged > 0 && !needed {
			out = append(out, fmt.Sprintf("%s: a [[deviation]] no longer applies, because nothing it covers is worse than published or fails: %s", r.Spec.Name, d.Why))
		}
	}
	return out
}

// Explained lists what is worse than published, or fails, for a reason that the
// experiment states, a line for every reason; and apart from these what it says is known
// and not explained.
func (r *Results) Explained() (explained, not []string) {
	var reasons []Reason
	places := map[Reason][]string{}
	add := func(reason Reason, place string) {
		if reason != (Reason{}) {
			reasons = with(reasons, reason)
			places[reason] = append(places[reason], place)
		}
	}
	for _, b := range r.Published {
		if b.Failed() {
			add(b.Reason, r.placeName(b.Cell)+" ("+b.difference()+")")
		}
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

// footnote says the reason of an entry under its table, if there is one.
func footnote(s *sheet.Sheet, e *sheet.Entry, reason string) {
	if reason != "" {
		s.Refer(e, sentence(capital(reason)))
	}
}
