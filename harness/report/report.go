// Package report turns records into tables, figures, judged claims and a page of all of them.
//
// It works in three steps. A spec and its records become Results (reader.go, results.go). A
// number of the results is a Cell (cell.go), whose metric has a unit, a scale and a direction
// (metric.go). Results become sheets (table.go, published.go, pairs.go, claims.go) and charts
// (figure.go). Packages sheet and chart write these in every form.
//
// The package only summarises the records of a store. Its files depend on neither the clock, the
// host nor the order of a map: the same records give the same bytes.
package report

import "dgkip/harness/experiment"

// Options select what to report on, and how.
type Options struct {
	// Key returns the key of a cell's run, or false if the data has not been seen yet.
	// Such runs count as not computed.
	Key func(c *experiment.Cell, seed uint64) (key string, ok bool)

	// Only selects cells and seeds. The files of a selection have other names than those
	// of the whole experiment.
	Only experiment.Filter

	// Set lists settings changed by the command, as KEY=VALUE. The files of a changed
	// experiment have other names, too.
	Set []string

	// UnderWay makes the page load itself again every minute.
	UnderWay bool

	// plain leaves the profile out of file names.
	plain bool
}
