package experiment

import (
	"errors"
	"fmt"

	"dgkip/harness/method"
	"dgkip/harness/toml"
	"slices"
	"strings"
)

// Table says how records become a table.
type Table struct {
	Rows    []string `toml:"rows" required:"true"`    // axes, the outer first
	Columns []string `toml:"columns" required:"true"` // axes
	Value   string   `toml:"value"`                   // a metric; "test_acc" if empty

	// Values are the metrics of columns that show another one than Value.
	Values map[string]string `toml:"values"`

	Digits  int      `toml:"digits" min:"0" max:"9"`    // 2 if not given
	Spread  string   `toml:"spread" enum:"sd,t95,none"` // what stands behind ±: population standard deviation, 95 % interval of the mean, or nothing
	Mark    []string `toml:"mark" enum:"best,second"`   // which of a row stand out, both if not given
	Time    bool     `toml:"time"`                      // a line of median seconds per iteration under each row
	Making  bool     `toml:"making"`                    // one of the seconds that all iterations of a set took
	Groups  []Group  `toml:"group"`
	Caption string   `toml:"caption"` // in front of what the program adds

	// Times names an experiment whose runs are timed in place of the table's own, cell by
	// cell: short ones, made on one machine with nothing beside them. The table's own may
	// then share a machine, or come from several.
	Times string `toml:"times"`

	// Usual is how many iterations the authors of a column's method make: cells with fewer are
	// marked as cut short.
	Usual map[string]int `toml:"usual"`

	// Unmarked columns take no part in best and second: the controls.
	Unmarked []string `toml:"unmarked"`

	// Against names a control for columns: over the seeds that both have, each is
	// compared with its own, and not the best of a row with the second.
	Against map[string]string `toml:"against"`
}

// Group is a heading over some columns.
type Group struct {
	Title   string   `toml:"title" required:"true"`   // the heading
	Columns []string `toml:"columns" required:"true"` // that it stands over
	Below   bool     `toml:"below"`                   // from here on in a further block, under the others
}

// Figure says how records become a figure.
type Figure struct {
	Name    string   `toml:"name" required:"true"`                                   // of its files, behind the name of the experiment
	Title   string   `toml:"title"`                                                  // the beginning of the caption
	Kind    string   `toml:"kind" enum:"curves,bars,scatter,images" required:"true"` // lines along x, bars, a point a cell, or distilled images
	Only    Filter   `toml:"only"`                                                   // the cells, as -only selects them
	X       string   `toml:"x"`                                                      // a column of the trace, an axis or a metric
	Y       []string `toml:"y"`                                                      // columns of the trace, or metrics
	Y2      []string `toml:"y2"`                                                     // the same, in a row of panels below
	Series  []string `toml:"series"`                                                 // axes whose values make one curve or colour each
	Panels  []string `toml:"panels"`                                                 // axes whose values make one panel each
	LogX    bool     `toml:"log_x"`                                                  // a logarithmic axis
	LogY    bool     `toml:"log_y"`                                                  // likewise
	YLabel  string   `toml:"y_label"`                                                // in place of the metric's own title
	Slope   float64  `toml:"slope" min:"0"`                                          // the caption says what curves gain over their last SLOPE of x
	Images  int      `toml:"images" min:"1"`                                         // images a class in a grid
	Caption string   `toml:"caption"`                                                // behind the title
}

// Check implements method.Checker.
func (f Figure) Check() error {
	shows := f.Kind == "curves" || f.Kind == "bars" || f.Kind == "scatter"
	switch {
	case shows && len(f.Y) == 0:
		return &method.BadSetting{Key: "y", Why: "is missing: what the figure shows"}
	case (f.Kind == "bars" || f.Kind == "scatter") && len(f.Y) > 1:
		return &method.BadSetting{Key: "y", Why: "has several metrics, and a figure of " + f.Kind + " shows one"}
	}
	return nil
}

// Published holds numbers from elsewhere, beside which ours are shown.
type Published struct {
	Source string            `toml:"source"` // where the numbers stand
	When   Where             `toml:"when"`   // the cells, but for their method
	Metric string            `toml:"metric"` // "test_acc" if empty
	Values map[string]Number `toml:"values"` // by column

	// Family says by what family of protocol the numbers were scored: of accuracies
	// it must be given.
	Family Families `toml:"family"`

	// Unchecked says that nobody has held the numbers against the source itself.
	Unchecked bool `toml:"unchecked"`

	// Best and Second are the columns that the source itself marks so.
	Best   []string `toml:"best"`
	Second []string `toml:"second"` // likewise

	// Own are the source's own methods, as against those that it compares them with:
	// how many of their numbers are reproduced is also counted apart.
	Own []string `toml:"own"`

	// Tolerance is how far from the published mean our own may lie to be within it, in
	// published units; 0 means what the spreads and the test images leave open.
	Tolerance float64 `toml:"tolerance" min:"0"`

	// From takes the entries of another file, and Of only those with this source.
	From string `toml:"from"`
	Of   string `toml:"of"` // a source in that file

	// Also holds further columns against these numbers, each against those of another column:
	// variants of its method.
	Also map[string]string `toml:"also"`

	// OnlyClaims keeps numbers of another table for the claims that need them: they
	// are not set beside ours.
	OnlyClaims bool `toml:"only_claims"`
}

// Number is a published value, written as a number or as [mean, spread]. A spread of
// 0 is one that rounds to it, and not the same as none.
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
		d.Fault(n, "must be a number or [mean, spread]", "")
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
			d.Fault(p, "must be a number, not "+p.Kind(), "")
			return
		}
		if f != f || f-f != 0 || i == 1 && f < 0 {
			d.Fault(p, "must be a finite number, and a spread not negative", "")
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
		return &method.BadSetting{Key: "from", Why: "takes entries of another file, so source, metric, values and family have no place beside it"}
	case p.From == "" && p.Source == "":
		return &method.BadSetting{Key: "source", Why: "is missing: where the numbers were published"}
	case p.From == "" && len(p.Values) == 0:
		return &method.BadSetting{Key: "values", Why: "is missing: the published numbers by column"}
	case p.From == "" && p.Of != "":
		return &method.BadSetting{Key: "of", Why: "goes with from"}
	}
	return errors.Join(p.marked("best", p.Best), p.marked("second", p.Second), p.checkFamilies())
}

// marked checks that marks are on columns with a value.
func (p Published) marked(key string, columns []string) error {
	for _, c := range columns {
		if _, ok := p.Values[c]; !ok {
			return &method.BadSetting{Key: key, Why: fmt.Sprintf("names %q, of which there is no value", c)}
		}
	}
	return nil
}

// Claim is a statement to be judged, on published numbers and on our records.
//
//	rank      one of Columns is among the best Top in every row, by Metric
//	less      Metric is lower for each of Columns than for each of Against
//	growth    Metric grows at most by Factor along Axis for Columns, and by more
//	          than that for Against
//	above     in every line of the traces, Metric >= Other
//	together  along the traces, Metric and Other rise and fall together
//	opposed   along the traces, one falls as the other rises
//	          (Falls asks in both that Metric ends below where it began)
//	close     Metric and Other of a run differ by at most Tolerance
type Claim struct {
	ID        string   `toml:"id" required:"true"`                                                        // by which deviations and the report name it
	Text      string   `toml:"text" required:"true"`                                                      // as the paper has it
	Place     string   `toml:"place" required:"true"`                                                     // in the paper
	Kind      string   `toml:"kind" required:"true" enum:"rank,less,growth,above,together,opposed,close"` // as above
	Metric    string   `toml:"metric"`                                                                    // "test_acc" if empty
	Other     string   `toml:"other"`                                                                     // the metric that Metric is compared with
	Columns   []string `toml:"columns"`                                                                   // methods that the claim is of
	Against   []string `toml:"against"`                                                                   // methods that they are compared with
	Axis      string   `toml:"axis"`                                                                      // along which growth is judged
	Top       int      `toml:"top" min:"1"`                                                               // how many count as best
	Factor    float64  `toml:"factor" min:"0"`                                                            // of growth
	Tolerance float64  `toml:"tolerance" min:"0"`                                                         // of a difference
	Falls     bool     `toml:"falls"`                                                                     // Metric ends below where it began
	Only      Filter   `toml:"only"`                                                                      // the cells, as -only selects them
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
		{c.Falls, "falls", []string{"together", "opposed"}}, {c.Top > 0, "top", []string{"rank"}}, {c.Tolerance > 0, "tolerance", []string{"close"}},
		{c.Axis != "", "axis", []string{"growth"}}, {c.Factor > 0, "factor", []string{"growth"}},
	} {
		if k.given && !slices.Contains(k.kinds, c.Kind) {
			return &method.BadSetting{Key: k.key, Why: "is for claims of kind " + strings.Join(k.kinds, " or ")}
		}
	}
	switch c.Kind {
	case "rank":
		return errors.Join(need(len(c.Columns) > 0, "columns"), need(c.Top > 0, "top"))
	case "less":
		return errors.Join(need(len(c.Columns) > 0, "columns"), need(len(c.Against) > 0, "against"))
	case "growth":
		return errors.Join(need(len(c.Columns) > 0, "columns"), need(c.Axis != "", "axis"), need(c.Factor > 0, "factor"))
	case "above", "together", "opposed":
		return errors.Join(need(c.Metric != "", "metric"), need(c.Other != "", "other"))
	case "close":
		return errors.Join(need(c.Other != "", "other"), need(c.Tolerance > 0, "tolerance"))
	}
	return nil
}

// Deviation is why numbers of ours are worse than published beyond the tolerance, or
// why claims fail on our records: a check passes over what has a reason.
type Deviation struct {
	When   Where    `toml:"when"`   // the cells
	Claims []string `toml:"claims"` // or the claims, by id

	// Why is the reason. {KEY} in it stands for the method's setting of that name.
	Why string `toml:"why" required:"true"`

	// Unexplained says that Why only tells what is known, and does not explain it.
	Unexplained bool `toml:"unexplained"`
}

// Check implements method.Checker.
func (d Deviation) Check() error {
	if (len(d.When) > 0) == (len(d.Claims) > 0) {
		return &method.BadSetting{Key: "when", Why: "or claims must say what deviates, and not both"}
	}
	return nil
}
