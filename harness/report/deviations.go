package report

import (
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
