// Package report turns records into tables, figures, claims judged, and a page
// that shows them all.
//
// It computes nothing but summaries, and takes everything from the records of a
// store and the specs of experiments: no clock, no host, no order of a map. The
// same records give the same bytes of every file it writes.
//
// A spec and its records become Results (results.go); everything else works on
// those, on sheets for tables (sheet.go) and on charts for figures (chart.go).
package report

import (
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// Options say what to report on, and how. The zero value reports on everything.
type Options struct {
	// Key returns the key of a cell's run, false if it is not known: only who has
	// the data can tell the digest in it. Without Key, records are found by all the
	// rest of their identity.
	Key func(c *spec.Cell, seed uint64) (string, bool)

	// Only leaves out cells, and seeds, that it does not match. Files of such a
	// selection have names of their own, and never take the place of a whole
	// experiment's.
	Only spec.Filter

	// Datasets describes data by name, for cells without a record; a record says
	// it itself.
	Datasets map[string]store.Dataset

	// Classes are the names of the classes of known datasets, in the order of their
	// numbers: by them records are told apart that are on other classes.
	Classes map[string][]string

	// Command is how the program is started, "go run ." if empty. It stands in
	// front of the commands that repeat a cell.
	Command string

	// plain leaves the profile out of names.
	plain bool
}

func (o Options) command() string {
	if o.Command == "" {
		return "go run ."
	}
	return o.Command
}

// selectionSuffix marks the files of a selection.
const selectionSuffix = "-selection"

// stem is Stem with a mark for a selection.
func (r *Results) stem() string {
	if r.options.plain {
		return r.Spec.Name
	}
	if r.options.Only.Empty() {
		return Stem(r.Spec)
	}
	return Stem(r.Spec) + selectionSuffix
}

// selection says what was selected, "" for everything.
func (r *Results) selection() string {
	if r.options.Only.Empty() {
		return ""
	}
	return "A selection: -only '" + r.options.Only.String() + "'."
}

// selected puts in front of a caption what was selected.
func (r *Results) selected(caption string) string {
	return strings.TrimSpace(r.selection() + " " + caption)
}

// Stem is the name of an experiment's files: its own, with the profile behind it
// unless that is the default one. Results of a smoke run then never take the place
// of real ones.
func Stem(s *exhibit.Spec) string {
	if s.Profile == "" || s.Profile == spec.DefaultProfile {
		return s.Name
	}
	return s.Name + "-" + s.Profile
}
