// Package report turns records into tables, figures, judged claims, and a page that
// shows them all.
//
// It works in three steps. A spec and its records become Results (results.go), whose
// metrics have their unit, scale and direction in one list (metric.go). Results
// become sheets of text (table.go, published.go, pairs.go, claims.go) and charts.
// Packages sheet and chart write these in every form.
//
// It computes nothing but summaries, and takes everything from the records of a
// store and the specs of experiments: no clock, no host, no order of a map. The
// same records give the same bytes of every file it writes.
package report

import "dgkip/harness/experiment"

// Options say what to report on, and how.
type Options struct {
	// Key returns the key of a cell's run, false where it is not known because
	// nobody has seen the data. Such runs count as not made.
	Key func(c *experiment.Cell, seed uint64) (key string, ok bool)

	// Only leaves out cells, and seeds, that it does not match. Files of such a
	// selection have names of their own, and never take the place of a whole
	// experiment's.
	Only experiment.Filter

	// Set are the settings that a command changed, KEY=VALUE. Their files, too, have names
	// of their own.
	Set []string

	// plain leaves the profile out of names.
	plain bool
}
