package experiment

import (
	"errors"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/toml"
)

// Table describes a table of records.
type Table struct {
	Rows    []string `toml:"rows" required:"true"`    // axes of the rows, outermost first
	Columns []string `toml:"columns" required:"true"` // axes of the columns
	Value   string   `toml:"value"`                   // a metric; "test_acc" if empty

	// metrics of single columns, instead of value
	Values map[string]string `toml:"values"`

	Digits  int      `toml:"digits" min:"0" max:"9"`  // decimals, 2 by default
	Spread  string   `toml:"spread" enum:"sd,none"`   // the number after ±: population standard deviation, or none
	Mark    []string `toml:"mark" enum:"best,second"` // values of a row to mark, both by default
	Time    bool     `toml:"time"`                    // add the median seconds per iteration under each row
	Making  bool     `toml:"making"`                  // add the seconds for all iterations of a set
	Groups  []Group  `toml:"group"`
	Title   string   `toml:"title"`   // the beginning of the caption; the experiment's title if empty
	Caption string   `toml:"caption"` // text after the title

	// an experiment whose runs supply the times of the table, cell by cell: short runs on
	// one otherwise idle machine. The table's own runs may then share a machine, or come
	// from several.
	Times string `toml:"times"`

	// number of iterations that the authors of a column's method use. Cells with fewer are
	// marked as cut short.
	Usual map[string]int `toml:"usual"`

	// columns that are left out of best and second, as controls should be
	Unmarked []string `toml:"unmarked"`

	// controls of columns. A column and its control are compared over the seeds that both
	// have.
	Against map[string]string `toml:"against"`
}

// Group is a heading over several columns.
type Group struct {
	Title   string   `toml:"title" required:"true"`   // the heading
	Columns []string `toml:"columns" required:"true"` // columns under the heading
	Below   bool     `toml:"below"`                   // start a new block of the table here
}

// Figure describes a figure of records.
type Figure struct {
	Name    string   `toml:"name" required:"true"`                              // end of its file names, after the name of the experiment
	Title   string   `toml:"title"`                                             // the beginning of the caption
	Kind    string   `toml:"kind" enum:"curves,scatter,images" required:"true"` // lines along x, one point per cell, or distilled images
	Only    Filter   `toml:"only"`                                              // filter for the cells, as in -only
	X       string   `toml:"x"`                                                 // a column of the trace, an axis or a metric
	Y       []string `toml:"y"`                                                 // columns of the trace, or metrics
	Y2      []string `toml:"y2"`                                                // like y, for a second row of panels
	Series  []string `toml:"series"`                                            // axes; each value is a curve or a colour
	Panels  []string `toml:"panels"`                                            // axes; each value is a panel
	LogX    bool     `toml:"log_x"`                                             // a logarithmic x axis
	LogY    bool     `toml:"log_y"`                                             // a logarithmic y axis
	YLabel  string   `toml:"y_label"`                                           // replaces the title of the metric
	Images  int      `toml:"images" min:"1"`                                    // images per class
	Caption string   `toml:"caption"`                                           // text after the title
}

// Check implements method.Checker.
func (f Figure) Check() error {
	switch {
	case f.Kind != "images" && len(f.Y) == 0:
		return &method.BadSetting{Key: "y", Why: "is missing: name what the figure shows"}
	case f.Kind == "scatter" && len(f.Y) > 1:
		return &method.BadSetting{Key: "y", Why: "has several metrics, and a figure of points shows one"}
	}
	return nil
}

// Published holds published numbers, for comparison with ours.
type Published struct {
	Source string            `toml:"source"` // where the numbers were published
	When   Where             `toml:"when"`   // the cells with these numbers, without the method
	Metric string            `toml:"metric"` // "test_acc" if empty
	Values map[string]Number `toml:"values"` // the numbers, by column

	// family of protocols by which the numbers were scored. Accuracies need one.
	Family Families `toml:"family" form:"a name, or a table of names by column"`

	// no one has compared the numbers with the source
	Unchecked bool `toml:"unchecked"`

	// methods that the source proposes, not those that it compares with. Their reproduced
	// numbers are also counted separately.
	Own []string `toml:"own"`

	// largest difference from the published mean that counts as within, in published units.
	// 0 computes it from the spreads and the number of test images.
	Tolerance float64 `toml:"tolerance" min:"0"`

	From string `toml:"from"` // another file, whose entries are included
	Of   string `toml:"of"`   // include only the entries of this source

	// further columns, such as variants of a method, to compare with the numbers of another
	// column
	Also map[string]string `toml:"also"`

	// use the numbers for claims only, and do not show them next to ours
	OnlyClaims bool `toml:"only_claims"`
}

// Number is a published value, written as a number or as [mean, spread]. A published spread of 0
// was rounded to 0.
type Number struct {
	Mean, Spread float64
	HasSpread    bool
}

func (x *Number) FromNode(d *toml.Decoder, n *toml.Node) {
	parts := []*toml.Node{n}
	if n.List != nil {
		parts = n.List
	}
	if len(parts) > 2 || n.Table != nil {
		d.Fault(n, "this must be a number or [mean, spread]", "")
		return
	}
	for i, p := range parts {
		var f float64
		switch v := p.Value.(type) {
		case float64:
			f = v
		case int64:
			f = float64(v)
		default:
			d.Fault(p, "this must be a number, not "+p.Kind(), "")
			return
		}
		if f != f || f-f != 0 || i == 1 && f < 0 {
			d.Fault(p, "this must be a finite number, and a spread must not be negative", "")
			return
		}
		if i == 0 {
			x.Mean = f
		} else {
			x.Spread, x.HasSpread = f, true
		}
	}
}

// Check implements method.Checker.
func (p Published) Check() error {
	switch {
	case p.From != "" && (p.Source != "" || p.Metric != "" || len(p.Values) > 0 || len(p.Family) > 0):
		return &method.BadSetting{Key: "from", Why: "takes entries of another file, so it cannot be combined with source, metric, values or family"}
	case p.From == "" && p.Source == "":
		return &method.BadSetting{Key: "source", Why: "is missing: where the numbers were published"}
	case p.From == "" && len(p.Values) == 0:
		return &method.BadSetting{Key: "values", Why: "is missing: the published numbers by column"}
	case p.From == "" && p.Of != "":
		return &method.BadSetting{Key: "of", Why: "needs from"}
	}
	return p.checkFamilies()
}

// Claim is a claim that is checked on published numbers and on our records.
type Claim struct {
	ID    string `toml:"id" required:"true"`    // name used by deviations and the report
	Text  string `toml:"text" required:"true"`  // the claim in the words of the paper
	Place string `toml:"place" required:"true"` // place in the paper

	// rank: one of columns is among the best top of every row, by metric;
	// less: metric is lower for each of columns than for each of against;
	// growth: along axis, metric grows at most by factor for columns, and more for against;
	// above: metric is at least other in every line of the traces;
	// together, opposed: along the traces, metric and other change in the same direction, or in opposite ones;
	// keeps: other of a run is below metric by at most tolerance
	Kind string `toml:"kind" required:"true" enum:"rank,less,growth,above,together,opposed,keeps"`

	Metric    string   `toml:"metric"`            // "test_acc" if empty
	Other     string   `toml:"other"`             // the metric to compare with
	Columns   []string `toml:"columns"`           // methods that the claim is about
	Against   []string `toml:"against"`           // methods to compare them with
	Axis      string   `toml:"axis"`              // axis of the growth
	Top       int      `toml:"top" min:"1"`       // number of methods that count as best
	Factor    float64  `toml:"factor" min:"0"`    // largest growth
	Tolerance float64  `toml:"tolerance" min:"0"` // largest drop
	Falls     bool     `toml:"falls"`             // for together and opposed: metric must end lower than it began
	Only      Filter   `toml:"only"`              // filter for the cells, as in -only
}

// Check implements method.Checker.
func (c Claim) Check() error {
	need := func(given bool, key string) error {
		if given {
			return nil
		}
		return &method.BadSetting{Key: key, Why: "is missing in a claim of kind " + c.Kind}
	}
	for _, k := range []struct {
		given bool
		key   string
		kinds []string
	}{
		{c.Falls, "falls", []string{"together", "opposed"}}, {c.Top > 0, "top", []string{"rank"}}, {c.Tolerance > 0, "tolerance", []string{"keeps"}},
		{c.Axis != "", "axis", []string{"growth"}}, {c.Factor > 0, "factor", []string{"growth"}},
	} {
		if k.given && !slices.Contains(k.kinds, c.Kind) {
			return &method.BadSetting{Key: k.key, Why: "only applies to claims of kind " + strings.Join(k.kinds, " or ")}
		}
	}
	switch c.Kind {
	case "rank":
		return errors.Join(need(len(c.Columns) > 0, "columns"), need(c.Top > 0, "top"))
	case "less":
		return errors.Join(need(len(c.Columns) > 0, "columns"), need(len(c.Against) > 0, "against"))
	case "growth":
		return errors.Join(need(len(c.Columns)+len(c.Against) > 0, "columns"), need(c.Axis != "", "axis"), need(c.Factor > 0, "factor"))
	case "above", "together", "opposed":
		return errors.Join(need(c.Metric != "", "metric"), need(c.Other != "", "other"))
	case "keeps":
		return errors.Join(need(c.Other != "", "other"), need(c.Tolerance > 0, "tolerance"))
	}
	return nil
}

// Deviation states why some of our numbers are worse than published, beyond the tolerance, or why claims
// fail on our records. -check accepts deviations with a reason.
type Deviation struct {
	When   Where    `toml:"when"`   // the cells with these numbers
	Claims []string `toml:"claims"` // or the claims that fail, by id

	// the reason. With when, {KEY} in it is replaced by the method's setting of that name.
	Why string `toml:"why" required:"true"`

	// why describes the deviation but does not explain it
	Unexplained bool `toml:"unexplained"`
}

// Check implements method.Checker.
func (d Deviation) Check() error {
	if (len(d.When) > 0) == (len(d.Claims) > 0) {
		return &method.BadSetting{Key: "when", Why: "or claims must be given, but not both"}
	}
	return nil
}
