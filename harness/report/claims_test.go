package report

import (
	"fmt"
	"maps"
	"strings"
	"testing"

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
		{"kind = \"rank\"\ntop = 2\ncolumns = [\"fast-lr\"]", full, Holds, "holds in 1 of 1 rows"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]", full, Fails, "Fast-LR 95.00 % against Fast_LS & co 97.00 %"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\", \"fast-ls\"]", full, Holds, ""},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]\nagainst = [\"slow\"]", full, Holds, "Fast-LR 95.00 % against Slow 90.00 %"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]", map[string][]float64{"slow": {0.9}, "fast-lr": {0.95}}, Open, "1 undecided"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]", map[string][]float64{"slow": {0.9}, "fast-lr": {0.8}}, Open, "1 undecided"}, // of two seeds
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]\nagainst = [\"slow\"]", map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.8, 0.8}}, Fails, "Fast-LR 80.00 % against Slow 90.00 %"},
		{"kind = \"rank\"\ntop = 1\ncolumns = [\"fast-lr\"]", nil, Open, ""},
		{"kind = \"less\"\ncolumns = [\"slow\"]\nagainst = [\"fast-lr\", \"fast-ls\"]", full, Holds, ""},
		{"kind = \"less\"\ncolumns = [\"slow\", \"fast-ls\"]\nagainst = [\"fast-lr\"]", full, Fails, "Fast_LS & co 97.00 % against Fast-LR 95.00 %"},
		{"kind = \"less\"\nmetric = \"seconds_per_update\"\ncolumns = [\"fast-lr\"]\nagainst = [\"slow\"]", full, Holds, "s against Slow"},
		{"kind = \"less\"\nmetric = \"seconds_per_update\"\ncolumns = [\"fast-ls\"]\nagainst = [\"slow\"]", full, Open, "-jobs above 1"},
		{"kind = \"growth\"\nmetric = \"seconds_per_update\"\naxis = \"ipc\"\nfactor = 2\ncolumns = [\"slow\"]", full, Open, ""},
		{above, full, Holds, "smallest ratio"},
		{strings.Replace(above, "deviation", "loss", 1), full, Fails, "line 1"},
		{strings.Replace(above, "deviation", "absent", 1), full, Open, ""},
		{"kind = \"together\"\nmetric = \"bound\"\nother = \"deviation\"", full, Holds, "rank correlation"},
		{"kind = \"together\"\nmetric = \"bound\"\nother = \"deviation\"\nfalls = true", full, Holds, "bound from 1"},
		{"kind = \"together\"\nmetric = \"update\"\nother = \"test_acc\"", full, Holds, ""},
		{"kind = \"together\"\nmetric = \"update\"\nother = \"test_acc\"\nfalls = true", full, Fails, "update from 0 to 100"},
		{"kind = \"opposed\"\nmetric = \"bound\"\nother = \"deviation\"", full, Fails, ""},
		{"kind = \"opposed\"\nmetric = \"bound\"\nother = \"test_acc\"", full, Holds, ""},
		{"kind = \"close\"\nother = \"transfer.test_acc\"\ntolerance = 0.05\ncolumns = [\"slow\"]", full, Holds, ""},
		{"kind = \"close\"\nother = \"transfer.test_acc\"\ntolerance = 0.001\ncolumns = [\"slow\"]", full, Fails, ""},
		{"kind = \"close\"\nother = \"absent\"\ntolerance = 0.05\ncolumns = [\"slow\"]", full, Open, ""},
	} {
		text := small + fmt.Sprintf("[[claim]]\nid = \"it\"\ntext = \"It is so.\"\nplace = \"Here\"\n%s\n", c.claim)
		got := made(t, text, c.acc).Claims[0]
		if got.Ours != c.want || !strings.Contains(got.OursEvidence, c.says) {
			t.Errorf("%s\n got %v (%s), want %v (%s)", c.claim, got.Ours, got.OursEvidence, c.want, c.says)
		}
		if got.Published != Open {
			t.Errorf("%s\nis judged on numbers that were not published: %s", c.claim, got.PublishedEvidence)
		}
	}
}

func TestGrowth(t *testing.T) {
	r := loadDemo(t)
	var got Judged
	for _, j := range r.Claims {
		if j.Claim.ID == "growth" {
			got = j
		}
	}
	// The times made up grow by (1 + 50/40)/(1 + 1/40) for both methods.
	if got.Ours != Fails || !strings.Contains(got.OursEvidence, "MNIST Slow: grows × 2.20") {
		t.Errorf("%v: %s", got.Ours, got.OursEvidence)
	}
}

func TestPublished(t *testing.T) {
	const head = "[[published]]\nsource = \"They\"\nwhen = { ipc = 1 }\nfamily = \"network\"\n"
	for _, c := range []struct {
		published string
		ours      []float64
		want      Match
	}{
		{"values = { slow = [90.5, 0.3] }", []float64{0.90, 0.90}, Within},
		{"values = { slow = [90.7, 0.3] }", []float64{0.90, 0.90}, Worse},
		{"values = { slow = [90.7, 0.3] }", []float64{0.895, 0.905}, Within}, // our spread counts, too
		{"values = { slow = [90.64, 0.3] }", []float64{0.90, 0.90}, Worse},
		{"values = { slow = [90.6, 0.3] }", []float64{0.89999, 0.89999}, Within}, // 90.6 stands for 90.55
		{"values = { slow = [90.01, 0.00] }", []float64{0.90, 0.90}, Within},     // 0.00 is known
		{"values = { slow = [90.02, 0.00] }", []float64{0.90, 0.90}, Worse},
		{"values = { slow = [89.2, 0.39], fast-lr = [1.11, 0.1] }", []float64{0.90, 0.90}, Better}, // 89.2 is 89.20
		{"values = { slow = 90.5 }", []float64{0.90}, Unjudged},
		{"tolerance = 1\nvalues = { slow = 90.5 }", []float64{0.90}, Within},
		{"tolerance = 0.1\nvalues = { slow = 90.5 }", []float64{0.90}, Worse},
		{"values = { slow = [90.5, 0.3] }", nil, Unjudged},
		{"metric = \"seconds_per_update\"\nvalues = { slow = 9 }", []float64{0.90}, Unjudged},
		{"metric = \"seconds_per_update\"\ntolerance = 0.5\nvalues = { slow = 0.3 }", []float64{0.90}, Within},
	} {
		r := made(t, small+head+c.published+"\n", map[string][]float64{"slow": c.ours})
		b := r.Published
		if len(b) == 0 || b[0].Match != c.want {
			t.Errorf("%s, ours %v: %+v, want %v", c.published, c.ours, b, c.want)
		}
		if f := r.Failures(); (len(f) == 1) != (c.want > Within) {
			t.Errorf("%s: failures %q", c.published, f)
		}
	}
}

// A run without the number is neither missing nor beyond, whatever tolerance is declared.
func TestPublishedWithoutNumber(t *testing.T) {
	const published = "[[published]]\nsource = \"They\"\nwhen = { ipc = 1 }\nmetric = \"absent\"\ntolerance = 1\nvalues = { slow = 3 }\n"
	all := made(t, small+published, map[string][]float64{"slow": {0.9, 0.9}}).Published
	if got, want := tallyOf(all, nil), (tally{"all": 1, "not judged": 1}); !maps.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A verdict on times says when runs had little of the processor.
func TestPartlyTimedClaim(t *testing.T) {
	const claim = "[[claim]]\nid = \"it\"\ntext = \"It is so.\"\nplace = \"Here\"\nkind = \"less\"\nmetric = \"seconds_per_update\"\ncolumns = [\"fast-lr\"]\nagainst = [\"slow\"]\n"
	r := made(t, small+claim, map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.95, 0.95}})
	const says = "less than half of the processor's time"
	if got := r.Claims[0]; got.Ours != Holds || strings.Contains(got.OursEvidence, says) {
		t.Errorf("%v: %s", got.Ours, got.OursEvidence)
	}
	for _, c := range r.Cells {
		for _, run := range c.done() {
			run.Record.Provenance.CPU = 60 // of 90 seconds on two threads
		}
	}
	if got := r.judgeAll()[0]; got.Ours != Holds || !strings.Contains(got.OursEvidence, says) {
		t.Errorf("%v: %s", got.Ours, got.OursEvidence)
	}
}

// Only what is declared of a metric ranks it: a name that sounds like one of the
// known ones has no direction, and nothing of it is marked best.
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
	st := store.Open(t.TempDir())
	if err := st.Prepare(); err != nil {
		t.Fatal(err)
	}
	for i, c := range s.Cells {
		d := recordOf(c, c.Identity(dataOf(c.Dataset), 0), 0)
		d.Result.Metrics["rebound"] = float64(i)
		if _, err := st.Put(d, false); err != nil {
			t.Fatal(err)
		}
	}
	s.Seeds = s.Seeds[:1]
	r := Load(s, st, keyed)
	for _, e := range r.sheets[0].Rows[0].Cells {
		if e.Place != 0 {
			t.Errorf("%q is marked", e.Text)
		}
	}
	if notes := strings.Join(r.sheets[0].Notes, " "); !strings.Contains(notes, "whether a high or a low rebound is better") {
		t.Errorf("notes %q", notes)
	}
	if r.Claims[0].Ours != Open {
		t.Errorf("the claim is %v: %s", r.Claims[0].Ours, r.Claims[0].OursEvidence)
	}
}
