package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
	"dgkip/harness/stats"
	"dgkip/harness/store"
)

func TestClaims(t *testing.T) {
	const above = "kind = \"above\"\nmetric = \"bound\"\nother = \"deviation\"\ncolumns = [\"slow\"]"
	full := map[string][]float64{"slow": {0.90, 0.90}, "fast-lr": {0.95, 0.95}, "fast-ls": {0.97, 0.97}}
	for _, c := range []struct {
		claim string
		acc   map[string][]float64
		want  Verdict
		says  string
	}{
		{"kind = \"rank\"\ntop = 2\ncolumns = [\"fast-lr\"]", full, Holds, "true in 1 of 1 rows"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]", full, Fails, "Fast-LR 95.00 % against Fast_LS & co 97.00 %"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\", \"fast-ls\"]", full, Holds, ""},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\", \"fast-ls\"]", map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.95, 0.95}}, Holds, ""}, // without one of ours
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]\nagainst = [\"slow\"]", full, Holds, ""},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]", map[string][]float64{"slow": {0.9}, "fast-lr": {0.95}}, Open, "1 cannot be judged yet"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]", map[string][]float64{"slow": {0.9}, "fast-lr": {0.8}}, Open, "1 cannot be judged yet"}, // of two seeds
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]\nagainst = [\"slow\"]", map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.8, 0.8}}, Fails, "Fast-LR 80.00 % against Slow 90.00 %"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]", nil, Open, ""},
		{"kind = \"rank\"\ntop = 2\ncolumns = [\"fast-lr\"]", map[string][]float64{"fast-ls": {0.9, 0.9}, "fast-lr": {0.95, 0.95}}, Holds, ""}, // without a rival
		{"kind = \"rank\"\ntop = 2\ncolumns = [\"fast-lr\"]", map[string][]float64{"fast-ls": {0.9, 0.9}, "fast-lr": {0.8, 0.8}}, Open, ""},
		{"kind = \"less\"\ncolumns = [\"slow\", \"fast-ls\"]\nagainst = [\"fast-lr\"]", map[string][]float64{"fast-ls": {0.9, 0.9}, "fast-lr": {0.8, 0.8}}, Fails, "Fast_LS & co 90.00 % against Fast-LR 80.00 %"},
		{"kind = \"less\"\ncolumns = [\"slow\", \"fast-ls\"]\nagainst = [\"fast-lr\"]", map[string][]float64{"fast-ls": {0.7, 0.7}, "fast-lr": {0.8, 0.8}}, Open, ""},
		{"kind = \"less\"\ncolumns = [\"slow\"]\nagainst = [\"fast-lr\", \"fast-ls\"]", full, Holds, ""},
		{"kind = \"less\"\ncolumns = [\"slow\", \"fast-ls\"]\nagainst = [\"fast-lr\"]", full, Fails, "Fast_LS & co 97.00 % against Fast-LR 95.00 %"},
		{"kind = \"less\"\nmetric = \"seconds_per_iteration\"\ncolumns = [\"fast-lr\"]\nagainst = [\"slow\"]", full, Holds, ""},
		{"kind = \"growth\"\nmetric = \"seconds_per_iteration\"\naxis = \"ipc\"\nfactor = 2\ncolumns = [\"slow\"]", full, Open, ""},
		{"kind = \"growth\"\nmetric = \"seconds_per_iteration\"\naxis = \"ipc\"\nfactor = 2\nagainst = [\"slow\"]", full, Open, ""},
		{above, full, Holds, "true in 2 of 2 runs"},
		{strings.Replace(above, "deviation", "loss", 1), full, Fails, "bound is 1.00000 and loss is 10.0000"},
		{strings.Replace(above, "deviation", "absent", 1), full, Open, "as the records lack a number that the claim needs"},
		{"kind = \"together\"\nmetric = \"bound\"\nother = \"deviation\"", full, Holds, ""},
		{"kind = \"together\"\nmetric = \"bound\"\nother = \"deviation\"\nfalls = true", full, Holds, ""},
		{"kind = \"together\"\nmetric = \"update\"\nother = \"test_acc\"", full, Holds, ""},
		{"kind = \"together\"\nmetric = \"update\"\nother = \"test_acc\"\nfalls = true", full, Fails, "update from 0 to 100"},
		{"kind = \"opposed\"\nmetric = \"bound\"\nother = \"deviation\"", full, Fails, ""},
		{"kind = \"opposed\"\nmetric = \"bound\"\nother = \"test_acc\"", full, Holds, ""},
		{"kind = \"keeps\"\nother = \"transfer.test_acc\"\ntolerance = 0.05\ncolumns = [\"slow\"]", full, Holds, ""},
		{"kind = \"keeps\"\nother = \"transfer.test_acc\"\ntolerance = 0.001\ncolumns = [\"slow\"]", full, Fails, ""},
		{"kind = \"keeps\"\nmetric = \"transfer.test_acc\"\nother = \"test_acc\"\ntolerance = 0.001\ncolumns = [\"slow\"]", full, Holds, ""}, // a gain
		{"kind = \"keeps\"\nother = \"absent\"\ntolerance = 0.05\ncolumns = [\"slow\"]", full, Open, "as the records lack a number that the claim needs"},
	} {
		text := small + fmt.Sprintf("[[claim]]\nid = \"it\"\ntext = \"It is so.\"\nplace = \"Here\"\n%s\n", c.claim)
		got := made(t, text, c.acc).Claims[0]
		if got.Ours.Verdict() != c.want || !strings.Contains(got.Ours.evidence(), c.says) {
			t.Errorf("%s\n got %v (%s), want %v (%s)", c.claim, got.Ours.Verdict(), got.Ours.evidence(), c.want, c.says)
		}
		if got.Published.Verdict() != Open {
			t.Errorf("%s\nis judged by numbers that were not published: %+v", c.claim, got.Published)
		}
	}
}

func TestPublished(t *testing.T) {
	const head = "[[published]]\nsource = \"They\"\nwhen = { ipc = 1 }\nfamily = \"network\"\n"
	for _, c := range []struct {
		published string
		ours      []float64
		want      Outcome
	}{
		{"values = { slow = [90.64, 0.3] }", []float64{0.90, 0.90}, Lower},
		{"values = { slow = [90.6, 0.3] }", []float64{0.89999, 0.89999}, Within}, // 90.6 stands for 90.55
		{"values = { slow = [90.01, 0.00] }", []float64{0.90, 0.90}, Within},     // 0.00 is known
		{"values = { slow = [90.02, 0.00] }", []float64{0.90, 0.90}, Lower},
		{"values = { slow = [89.2, 0.39], fast-lr = [1.11, 0.1] }", []float64{0.90, 0.90}, Higher}, // 89.2 is 89.20
		{"values = { slow = [90.5, 0.3] }", nil, "not run"},
		{"metric = \"seconds_per_iteration\"\nvalues = { slow = 9 }", []float64{0.90}, NotJudged},
		{"metric = \"seconds_per_iteration\"\ntolerance = 0.5\nvalues = { slow = 0.3 }", []float64{0.90}, Within},
	} {
		r := made(t, small+head+c.published+"\n", map[string][]float64{"slow": c.ours})
		b := r.Published
		if len(b) == 0 || b[0].Outcome != c.want {
			t.Errorf("%s, ours %v: %+v, want %v", c.published, c.ours, b, c.want)
		}
		if f := r.Failures(); (len(f) == 1) != (c.want == Lower) {
			t.Errorf("%s: failures %q", c.published, f)
		}
	}
}

// The tolerance of an accuracy combines the spreads of both sides and the sampling error of the
// test images. It is at least one test image, plus half a digit.
func TestTolerance(t *testing.T) {
	cell := parse(t, small).Cells[0]
	ofImages := func(n int64) *CellRuns {
		rec := &store.Record{}
		rec.Result.Counts = map[string][]int64{"test_images": {n}}
		return &CellRuns{Cell: cell, Runs: []Run{{Record: rec}}}
	}
	const digit = 0.005 // half a unit of the last published one
	for _, c := range []struct {
		metric            string
		published, spread float64
		ours, ownSpread   float64
		images            int64
		declared          float64
		tolerance         float64 // without the digit
		want              Outcome
	}{
		// 2 sqrt(0.5^2 + 2 100^2 0.9 0.1/1800) = 2 sqrt(0.25 + 1).
		{"test_acc", 90, 0.5, 90, 0, 1800, 0, 2 * math.Sqrt(1.25), Within},
		{"test_acc", 91, 0.5, 89, 0, 1800, 0, 2 * math.Sqrt(1.25), Within},
		{"test_acc", 91.2, 0.5, 88.8, 0, 1800, 0, 2 * math.Sqrt(1.25), Lower},
		{"test_acc", 88.8, 0.5, 91.2, 0, 1800, 0, 2 * math.Sqrt(1.25), Higher},
		{"test_acc", 91.2, 0.5, 88.8, 0.8, 1800, 0, 2 * math.Sqrt(1.25+0.64), Within}, // our spread
		{"test_acc", 91.2, 0.5, 88.8, 1.2, 1800, 0, 2 * math.Sqrt(1.25+1.44), Unstable},
		{"test_acc", 90, 0.5, 90, 0, 7200, 0, 2 * math.Sqrt(0.5), Within}, // four times the images, half the error
		{"test_acc", 90, 0.5, 90, 0, 0, 0, 1, Within},                     // how many is not recorded
		{"transfer.hinge.test_acc", 90, 0.5, 90, 0, 1800, 0, 2 * math.Sqrt(1.25), Within},
		{"bound", 90, 0.5, 90, 0, 1800, 0, 1, Within}, // is no share of images
		// Against a published 99.97 +- 0.02, 3 errors of 2,115, and none, where our accuracy alone
		// would have no sampling error.
		{"test_acc", 99.97, 0.02, 100 - 300/2115., 0, 2115, 0, 0.1846, Within},
		{"test_acc", 99.76, 0, 100, 0, 2115, 0, 0.2131, Higher},
		{"test_acc", 99.95, 0, 100, 0, 2115, 0, 0.0977, Within},
		// One test image is within any declared tolerance, two are not.
		{"test_acc", 100, 0, 99.95, 0, 2000, 0.01, 0.05, Within},
		{"test_acc", 100, 0, 99.9, 0, 2000, 0.01, 0.05, Lower},
		{secondsPerUpdate, 1, 0.1, 1, 0, 2000, 0, math.NaN(), NotJudged},
		{secondsPerUpdate, 1, 0, 1.4, 0, 2000, 0.5, 0.5, Within},
	} {
		m := about(c.metric)
		b := Comparison{Metric: c.metric, Published: experiment.Number{Mean: c.published, Spread: c.spread, HasSpread: true}, Runs: ofImages(c.images),
			Source: &experiment.Published{Metric: c.metric, Tolerance: c.declared, Family: experiment.Families{"": method.Network}}, Ours: Cell{Metric: m, Summary: stats.Summary{N: 1, Mean: c.ours / m.scale, Median: c.ours / m.scale, SD: c.ownSpread / m.scale}}}
		b.judge(digit)
		if b.Outcome != c.want || !(math.Abs(b.Tolerance-digit-c.tolerance) < 5e-4) && !math.IsNaN(c.tolerance) {
			t.Errorf("%+v: %v, tolerance %v", c, b.Outcome, b.Tolerance)
		}
	}
}

// Numbers worse than published fail a check unless a deviation gives a reason.
func TestDeviations(t *testing.T) {
	const published = "[[published]]\nsource = \"They\"\nfamily = \"network\"\nown = [\"fast-lr\"]\nvalues = { slow = [99, 0.1], fast-lr = [80, 0.1], fast-ls = [90, 0.1] }\n"
	const claim = "[[claim]]\nid = \"it\"\ntext = \"It is so.\"\nplace = \"Here\"\nkind = \"rank\"\ntop = 1\ncolumns = [\"slow\"]\n"
	acc := map[string][]float64{"slow": {0.8, 0.8}, "fast-lr": {0.9, 0.9}, "fast-ls": {0.9, 0.9}}
	deviation := func(what, why string) string { return "[[deviation]]\n" + what + "\nwhy = \"" + why + "\"\n" }
	for name, c := range map[string]struct {
		deviations string
		failed     []string
		marks      []string // of the two tables
	}{
		"none":          {"", []string{"demo: claim it", "Slow: test accuracy is 80.000, published 99: lower by 19.0"}, nil},
		"of a cell":     {deviation(`when = { method = "slow" }`, "{steps} steps of 1,000"), []string{"demo: claim it"}, []string{"100 steps of 1,000."}},
		"not explained": {deviation(`when = { method = "slow" }`+"\nunexplained = true", "{steps} steps"), []string{"demo: claim it"}, []string{"Not explained: 100 steps."}},
		"of both":       {deviation(`when = { method = "slow" }`, "cut") + deviation(`claims = ["it"]`, "cut"), nil, []string{"Cut.", "Cut."}},
		"not needed":    {deviation(`when = { method = "fast-*" }`, "cut"), []string{"demo: claim it", "Slow"}, nil},
	} {
		r := made(t, small+published+claim+c.deviations, acc)
		got := r.Failures()
		if len(got) != len(c.failed) {
			t.Errorf("%s: failures %q, want %q", name, got, c.failed)
			continue
		}
		for i, want := range c.failed {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: failures %q, want %q", name, got, c.failed)
			}
		}
		reproduced, claims := r.further("reproduced"), r.further("claims")
		var marks []string
		for _, m := range append(reproduced.Footnotes, claims.Footnotes...) {
			marks = append(marks, m.Text)
		}
		if !slices.Equal(marks, c.marks) {
			t.Errorf("%s: footnotes %q, want %q", name, marks, c.marks)
		}
		if name == "of both" && !(strings.Contains(string(reproduced.Markdown()), "-19.00 lower<sup>1</sup>") && strings.Contains(string(claims.Markdown()), "0 of 1 rows<sup>1</sup>")) {
			t.Errorf("the marks are not in the tables:\n%s%s", reproduced.Markdown(), claims.Markdown())
		}
	}

	for what, says := range map[string]string{
		`when = { method = "slwo" }`: "slwo is not on the axis method",
		`claims = ["that"]`:          `"that" is not a claim of this experiment`,
		"":                           "when or claims must be given",
		"when = { method = \"slow\" }\nclaims = [\"it\"]": "not both",
	} {
		if _, err := experiment.Parse("demo.toml", small+published+claim+deviation(what, "cut"), experiment.Options{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", what, err)
		}
	}
	if r := made(t, small+published+deviation(`when = { method = "slow" }`, "{stpes}"), acc); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "slow has no setting {stpes}") {
		t.Errorf("problems %q", r.Problems)
	}
}

// Published accuracies are counted by method, and once more for the source's own methods, for one
// experiment or for several together.
func TestVerdicts(t *testing.T) {
	const published = "[[published]]\nsource = \"They\"\nfamily = \"network\"\nown = [\"slow\", \"fast-lr\"]\nvalues = { slow = [99, 0.1], fast-lr = [80, 0.1], fast-ls = [90, 0.1] }\n" +
		"[[published]]\nsource = \"They\"\nmetric = \"seconds_per_iteration\"\nvalues = { slow = 1 }\n"
	r := made(t, small+published, map[string][]float64{"slow": {0.8, 0.8}, "fast-lr": {0.9, 0.9}})
	var b bytes.Buffer
	if err := TerminalVerdicts(&b, []*Results{r, r}, 0); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`The source's own: Slow and Fast-LR +0 +2 +2 +0 +4 `)
	if !line.Match(b.Bytes()) {
		t.Errorf("got\n%s", &b)
	}
	b.Reset()
	if err := r.Terminal(&b, 300); err != nil || !strings.Contains(b.String(), "Of the source's own methods: 0 of 2 within tolerance, 1 higher, 1 lower.") {
		t.Errorf("%v, got\n%s", err, &b)
	}
	b.Reset()
	if err := TerminalVerdicts(&b, []*Results{made(t, small, nil)}, 0); err != nil || b.Len() > 0 {
		t.Errorf("%v, got\n%s", err, &b)
	}
}

// Growth along an axis is from its smallest number to its largest, in any order of the grid. Columns grow
// at most by the factor, the columns in against by more.
func TestGrowthInAnyOrder(t *testing.T) {
	const claim = "[[claim]]\nid = \"it\"\ntext = \"It is so.\"\nplace = \"Here\"\nkind = \"growth\"\nmetric = \"rebound\"\naxis = \"ipc\"\n"
	for _, order := range []string{"[2, 10]", "[10, 2]"} {
		for about, want := range map[string]Verdict{"factor = 3\ncolumns": Fails, "factor = 3\nagainst": Holds, "factor = 5\ncolumns": Holds, "factor = 5\nagainst": Fails} {
			s := parse(t, strings.NewReplacer("ipc = [1]", "ipc = "+order, "count = 2", "count = 1").Replace(small)+claim+about+" = [\"slow\"]\n")
			r := Load(s, stored(t, s, func(i int, d *store.Draft) { d.Result.Metrics["rebound"] = float64(s.Cells[i].IPC) }), keyed)
			if got := r.judgeClaims()[0].Ours; got.Verdict() != want || want == Fails && !strings.Contains(got.evidence(), "5") {
				t.Errorf("ipc %s, %s: %v: %s", order, about, got.Verdict(), got.evidence())
			}
		}
	}
}

// Only rows and series stay open whose times come from several machines, or from runs that had too
// little of the processor.
func TestTimesApart(t *testing.T) {
	text := strings.Replace(small, "ipc = [1]", "ipc = [1, 10]", 1)
	for claim, spoil := range map[string]func(p *store.Provenance){
		"kind = \"less\"\ncolumns = [\"fast-lr\"]\nagainst = [\"slow\"]":                   func(p *store.Provenance) { p.Sessions[0].Host.CPU = "another" },
		"kind = \"growth\"\naxis = \"ipc\"\nfactor = 1\ncolumns = [\"slow\", \"fast-lr\"]": func(p *store.Provenance) { p.CPU = 60 }, // of 90 seconds on two threads
	} {
		r := made(t, text+"[[claim]]\nid = \"it\"\ntext = \"It is so.\"\nplace = \"Here\"\nmetric = \"seconds_per_iteration\"\n"+claim+"\n",
			map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.95, 0.95}})
		if got := r.Claims[0].Ours; got.Open > 0 {
			t.Errorf("%v: %s", got.Verdict(), got.evidence())
		}
		for _, c := range r.Cells {
			if c.Cell.Column == "fast-lr" && c.Cell.IPC == 10 {
				for _, run := range c.done() {
					spoil(&run.Record.Provenance)
				}
			}
		}
		r.Claims = r.judgeClaims()
		if n := r.Claims[0].Ours; n.Open != 1 || n.Holds+n.Fails != 1 || !strings.Contains(n.evidence(), "1 cannot be judged yet, as the times were not all taken") {
			t.Errorf("%s: %+v: %s", claim, n, n.evidence())
		}
		if s := r.claimSheet(); len(s.Footnotes) != 1 || !strings.HasPrefix(s.Footnotes[0].Text, "Open, as the times were not all taken on an idle machine of the kind that took most of them") {
			t.Errorf("%s: footnotes %q", claim, s.Footnotes)
		}
	}
}

// Only known metrics have a direction. Nothing is marked best by a metric with a similar name.
func TestDirections(t *testing.T) {
	for name, want := range map[string]direction{
		"test_acc": higher, "transfer.hinge.test_acc": higher, "interval.decided": higher, secondsPerUpdate: lower, "last.bound": lower, "interval.high": lower,
		"rebound": unranked, "lossless": unranked, "errorless_acc": unranked, "last.margin_max": unranked,
	} {
		if got := about(name).better; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	rank := "[[claim]]\nid = \"it\"\ntext = \"It is so.\"\nplace = \"Here\"\nkind = \"rank\"\nmetric = \"rebound\"\ntop = 1\ncolumns = [\"slow\"]\n"
	s := parse(t, small+"value = \"rebound\"\n"+rank)
	st := stored(t, s, func(i int, d *store.Draft) { d.Result.Metrics["rebound"] = float64(i) })
	s.Seeds = 1
	r := Load(s, st, keyed)
	for _, e := range r.sheets[0].Rows[0].Cells {
		if e.Place != 0 {
			t.Errorf("%q is marked", e.Text)
		}
	}
	if notes := strings.Join(r.sheets[0].Notes, " "); !strings.Contains(notes, "whether a high or a low rebound is better") {
		t.Errorf("notes %q", notes)
	}
	if got := r.Claims[0].Ours; got.Verdict() != Open {
		t.Errorf("the claim is %v: %s", got.Verdict(), got.evidence())
	}
}

// The joint table has the claims of all experiments, each under the beginning of the title, and
// repeats no footnote.
func TestClaimsTogether(t *testing.T) {
	const claim = "[[claim]]\nid = \"rank\"\ntext = \"It is best.\"\nplace = \"Table 1\"\nkind = \"rank\"\ntop = 1\ncolumns = [\"slow\"]\n" +
		"[[deviation]]\nclaims = [\"rank\"]\nwhy = \"it is cut\"\n"
	acc := map[string][]float64{"slow": {0.5, 0.6}, "fast-lr": {0.7, 0.8}, "fast-ls": {0.6, 0.6}}
	a, b := made(t, small+claim, acc), made(t, strings.Replace(small, "Small", "Other: again", 1)+claim, acc)
	s := claimSheet([]*Results{a, b})
	var got []string
	for _, r := range s.Rows {
		got = append(got, strings.Join(r.Heads, "/")+" "+r.Cells[2].Text+" "+r.Cells[2].Marks)
	}
	want := []string{"Small/1. It is best. fails: 0 of 1 rows 1", "Other/2. It is best. fails: 0 of 1 rows 1"}
	if !slices.Equal(got, want) || !slices.Equal(s.Footnotes, []sheet.Mark{{Sign: "1", Text: "It is cut."}}) {
		t.Errorf("got %q with the footnotes %q, want %q", got, s.Footnotes, want)
	}
}

// The reason why a time is higher is marked where the time is judged, as times have no line for a
// difference.
func TestReasonOfTime(t *testing.T) {
	r := made(t, small+"[[published]]\nsource = \"They\"\nmetric = \"seconds_per_iteration\"\ntolerance = 0.001\nvalues = { slow = 0.01 }\n"+
		"[[deviation]]\nwhen = { method = \"slow\" }\nwhy = \"another machine\"\n", map[string][]float64{"slow": {0.9}})
	got := string(r.further("reproduced").Markdown())
	if !regexp.MustCompile(`\| Iteration \(s\) \| ours \| .* higher<sup>1</sup> \|`).MatchString(got) || !strings.Contains(got, "- <sup>1</sup> Another machine.") {
		t.Errorf("got\n%s", got)
	}
	if strings.Contains(got, "| difference |") {
		t.Errorf("a time has a line for its difference:\n%s", got)
	}
}

// The time of an iteration covers all of its updates and the training of networks. The time of a
// set covers all iterations, at the speed of the timed runs.
func TestTimesOfIterations(t *testing.T) {
	record := func(updates int, timing store.Timing, settings map[string]any) *store.Record {
		rec := &store.Record{}
		rec.Result.Updates, rec.Result.Identity.Method.Settings = updates, settings
		rec.Provenance.Timing, rec.Provenance.Wall, rec.Provenance.Scoring = timing, 70, 10
		return rec
	}
	thirty := map[string]any{"iterations": json.Number("30")}
	for name, c := range map[string]struct {
		rec                   *store.Record
		iterations, each, per float64
	}{
		"timed":                    {record(300, store.Timing{Median: 0.1, Iteration: 2, PerIteration: 10}, nil), 30, 2, 0.2},
		"one update each":          {record(300, store.Timing{Median: 0.1}, nil), 300, 0.1, 0.1},
		"before they were timed":   {record(300, store.Timing{Median: 0.1}, thirty), 30, 2, 0.2},
		"before, with one each":    {record(30, store.Timing{Median: 0.1}, thirty), 30, 0.1, 0.1},
		"stopped before it was up": {record(20, store.Timing{Median: 0.1}, thirty), 20, 0.1, 0.1},
		"no updates":               {record(0, store.Timing{}, nil), 0, 0, 0},
	} {
		if n, each, per := iterations(c.rec), perIteration(c.rec), perUpdate(c.rec); n != c.iterations || each != c.each || math.Abs(per-c.per) > 1e-12 {
			t.Errorf("%s: %v iterations of %v s, %v s an update", name, n, each, per)
		}
		cell := &CellRuns{Runs: []Run{{Record: c.rec}}, timedBy: &CellRuns{Runs: []Run{{Record: record(5, store.Timing{Median: 3}, nil)}}}}
		if s := new(Results).cell(cell, makingSeconds); s.N != 1 || s.Mean != 3*c.iterations {
			t.Errorf("%s: %v s to make", name, s.Mean)
		}
	}
}
