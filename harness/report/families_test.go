package report

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A published number of another family is shown with a mark and not judged: neither the tally nor a
// check counts it. A number of our own family is preferred.
func TestMixedFamilies(t *testing.T) {
	const other = "[[published]]\nsource = \"They\"\nwhen = { ipc = 1 }\nfamily = \"kernel\"\ntolerance = 1\nvalues = { slow = [80, 0.1] }\n"
	r := made(t, small+other, map[string][]float64{"slow": {0.9, 0.9}})
	if got, want := tallyOf(r.Published, func(Comparison) bool { return true }), (tally{OtherFamily: 1}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	judged, open := r.Checks()
	if f := r.Failures(); f != nil || judged != 0 || open != 0 {
		t.Errorf("failures %q, %d judged, %d open", f, judged, open)
	}
	if _, open := made(t, small+other, nil).Checks(); open != 0 {
		t.Errorf("%d open, and no run can bring a verdict", open)
	}
	text := string(r.further("reproduced").Markdown())
	for _, want := range []string{
		"| published | 80.00 ± 0.10<sup>k</sup> |", "| ours | 90.00 ± 0.00<sup>n</sup> |", "| difference | ≠ |", "0 of 1 within tolerance, 0 higher, 0 lower, 1 of another family",
		"kernel, marked k (", "network, marked n (", "≠: different protocol families, so the numbers are not comparable.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if csv := string(r.comparisonCSV()); !strings.Contains(csv, ",not judged,,kernel,network,true\n") {
		t.Errorf("comparison\n%s", csv)
	}

	same := strings.NewReplacer("kernel", "network", "80", "89.5").Replace(other)
	r = made(t, small+other+same, map[string][]float64{"slow": {0.9, 0.9}})
	if b := r.Published; len(b) != 1 || b[0].Published.Mean != 89.5 || b[0].Outcome != Within {
		t.Errorf("with one of our own family: %+v", b)
	}
	if text := string(r.further("reproduced").Markdown()); strings.Contains(text, "≠") || !strings.Contains(text, "Protocol family: network (") {
		t.Errorf("got\n%s", text)
	}
}

// In a column of several families, every number is marked with its family.
func TestColumnOfSeveralFamilies(t *testing.T) {
	text := strings.NewReplacer(`rows = ["dataset", "ipc"]`, `rows = ["method"]`, `columns = ["method"]`, `columns = ["dataset"]`).Replace(small) +
		"[method.fast-lr]\nsoft = true\n"
	r := made(t, text, map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.8, 0.8}})
	got := string(r.sheets[0].Markdown())
	for _, want := range []string{"90.00 ± 0.00<sup>n</sup>", "80.00 ± 0.00<sup>s</sup>", "network, marked n (", "network-soft, marked s ("} {
		if !strings.Contains(strings.ReplaceAll(got, "**", ""), want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	var screen bytes.Buffer
	if err := r.Terminal(&screen, 0); err != nil || !strings.Contains(screen.String(), "80.00±0.00ˢ") {
		t.Errorf("%v\n%s", err, &screen)
	}
	if csv := string(r.tableCSV()); !strings.Contains(csv, ",network-soft\n") || !strings.Contains(csv, "false,\n") {
		t.Errorf("got\n%s", csv)
	}
	if csv := string(r.runsCSV()); !strings.Contains(csv, ",family,") || !strings.Contains(csv, ",network-soft,") {
		t.Errorf("got\n%s", csv)
	}
	if page := string(page([]section{r.section(nil, "")}, false)); !strings.Contains(page, "80.00 ± 0.00 % (network-soft)") {
		t.Error("the page does not name the protocol family of a cell")
	}
}

// Numbers are ranked only within a protocol family, and among columns that differ in nothing but
// their method.
func TestLeagues(t *testing.T) {
	acc := map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.8, 0.8}, "fast-ls": {0.85, 0.85}}
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(small) }
	ofIPC := replace("ipc = [1]", "ipc = [1, 10]", `rows = ["dataset", "ipc"]`, `rows = ["method"]`, `columns = ["method"]`, `columns = ["ipc"]`)
	for name, c := range map[string]struct {
		text   string
		places []int // in the first row
		rules  string
	}{
		"one family":     {small, []int{1, 0, 2}, ""},
		"two families":   {small + "[method.fast-ls]\nsoft = true\n", []int{1, 2, 0}, "scores are ranked only within a protocol family"},
		"three":          {small + "[method.fast-ls]\nsoft = true\n[method.fast-lr]\nsoft = true\n", []int{0, 2, 1}, "scores are ranked only within a protocol family"},
		"a control":      {replace("[table]", "[table]\nunmarked = [\"fast-lr\"]") + "[method.fast-lr]\nsoft = true\n", []int{1, 0, 2}, "not ranked: Fast-LR"},
		"ipc":            {ofIPC, []int{0, 0}, ""},
		"ipc and method": {replace("ipc = [1]", "ipc = [1, 10]", `rows = ["dataset", "ipc"]`, `rows = ["dataset"]`, `columns = ["method"]`, `columns = ["ipc", "method"]`), []int{1, 0, 2, 1, 0, 2}, "only columns of the same IPC are ranked with each other"},
		"protocols":      {replace("ipc = [1]", "ipc = [1]\n\"eval.protocol\" = [\"fake-score\", \"fake-kernel\"]", `rows = ["dataset", "ipc"]`, `rows = ["method"]`, `columns = ["method"]`, `columns = ["eval.protocol"]`), []int{0, 0}, ""},
		"settings":       {replace("ipc = [1]", "ipc = [1]\n\"method.steps\" = [1, 2]", `rows = ["dataset", "ipc"]`, `rows = ["method"]`, `columns = ["method"]`, `columns = ["method.steps"]`), []int{1, 1}, ""},
	} {
		r := made(t, c.text, acc)
		var got []int
		for _, e := range r.sheets[0].Rows[0].Cells {
			got = append(got, e.Place)
		}
		if text := string(r.sheets[0].Markdown()); !slices.Equal(got, c.places) || !strings.Contains(text, c.rules) || c.rules == "" && strings.Contains(text, "ranked") {
			t.Errorf("%s: places %v, want %v; rules %q are not in\n%s", name, got, c.places, c.rules, text)
		}
	}
}

// A published number is compared only with the cell of its own family, if there is one.
func TestPublishedBesideItsFamily(t *testing.T) {
	text := strings.Replace(small, "ipc = [1]", "ipc = [1]\n\"eval.protocol\" = [\"fake-score\", \"fake-kernel\"]", 1) +
		"[[published]]\nsource = \"They\"\nfamily = \"kernel\"\ntolerance = 1\nvalues = { slow = 89.5 }\n"
	r := made(t, text, map[string][]float64{"slow": {0.9, 0.9}})
	if len(r.Published) != 1 || r.Published[0].Outcome != Within {
		t.Errorf("got %+v", r.Published)
	}
}

// A check is open if further runs can bring a verdict.
func TestOpenChecks(t *testing.T) {
	const they = "[[published]]\nsource = \"They\"\nfamily = \"network\"\n"
	const time = "[[published]]\nsource = \"They\"\nmetric = \"seconds_per_iteration\"\n"
	for text, want := range map[string]int{
		they + "values = { slow = 80, fast-lr = [80, 1] }\n":                      2, // of two seeds
		time + "values = { slow = [1, 0.1] }\n":                                   0,
		time + "tolerance = 1\nvalues = { slow = 1 }\n":                           1,
		"[seeds]\ncount = 1\n" + they + "values = { slow = 80 }\n":                0,
		"[seeds]\ncount = 1\n" + they + "values = { slow = [80, 1] }\n":           1,
		"[seeds]\ncount = 1\n" + they + "tolerance = 1\nvalues = { slow = 80 }\n": 1,
	} {
		head := small
		if strings.HasPrefix(text, "[seeds]") {
			head = strings.Replace(small, "[seeds]\ncount = 2\n", "", 1)
		}
		if _, open := made(t, head+text, nil).Checks(); open != want {
			t.Errorf("%d open, want %d:\n%s", open, want, text)
		}
	}
}

// Numbers for built-in data are never judged, because they cannot reproduce published ones. A run
// without the metric is neither missing nor out of tolerance.
func TestPublishedNeverJudged(t *testing.T) {
	const they = "[[published]]\nsource = \"They\"\ntolerance = 1\n"
	for text, row := range map[string]string{
		strings.Replace(small, "mnist", "glyphs", 1) + they + "family = \"network\"\nvalues = { slow = 99 }\n": "| difference | not judged |",
		small + they + "metric = \"absent\"\nvalues = { slow = 3 }\n":                                          "| ours |  |",
	} {
		r := made(t, text, map[string][]float64{"slow": {0.9, 0.9}})
		if got, want := tallyOf(r.Published, func(Comparison) bool { return true }), (tally{NotJudged: 1}); !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if judged, open := r.Checks(); r.Failures() != nil || judged != 0 || open != 0 {
			t.Errorf("failures %q, %d judged, %d open", r.Failures(), judged, open)
		}
		if got := string(r.further("reproduced").Markdown()); !strings.Contains(got, row) {
			t.Errorf("there is no %q in\n%s", row, got)
		}
	}
}

// A fraction among published accuracies draws a warning, because it is hardly meant in percent.
func TestPublishedFractions(t *testing.T) {
	const entry = "[[published]]\nsource = \"They\"\nfamily = \"network\"\nvalues = { slow = 0.991, fast-lr = 99.1 }\n[[published]]\nsource = \"They\"\nmetric = \"seconds_per_iteration\"\nvalues = { slow = 0.5 }\n"
	want := []string{"published by They: slow = 0.991 is read as 0.991 %: give accuracies in percent"}
	if got := made(t, small+entry, nil).Problems; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
