package report

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A published number of another family stands beside ours with a mark, and is not judged:
// neither the tally nor a check counts it. One of our own family is preferred.
func TestMixedFamilies(t *testing.T) {
	const other = "[[published]]\nsource = \"They\"\nwhen = { ipc = 1 }\nfamily = \"kernel\"\ntolerance = 1\nvalues = { slow = [80, 0.1] }\n"
	r := made(t, small+other, map[string][]float64{"slow": {0.9, 0.9}})
	if got, want := tallyOf(r.Published, nil), (tally{"all": 1, otherFamily: 1}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	judged, open := r.Checks()
	if f := r.Failures(); f != nil || judged != 0 || open != 0 {
		t.Errorf("failures %q, %d judged, %d open", f, judged, open)
	}
	text := string(r.further("reproduced").Markdown())
	for _, want := range []string{
		"| published | 80.00 ± 0.10<sup>k</sup> |", "| ours | +10.00 ≠<sup>n</sup> |", "0 within tolerance, 0 better, 0 worse, 1 of another family",
		"kernel, marked k (", "network, marked n (", "≠ protocols of two families",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if csv := string(r.comparisonCSV()); !strings.Contains(csv, ",not judged,kernel,network,true\n") {
		t.Errorf("comparison\n%s", csv)
	}

	same := strings.NewReplacer("kernel", "network", "80", "89.5").Replace(other)
	r = made(t, small+other+same, map[string][]float64{"slow": {0.9, 0.9}})
	if b := r.Published; len(b) != 1 || b[0].Published.Mean != 89.5 || b[0].Match != Within {
		t.Errorf("with one of our own family: %+v", b)
	}
	if text := string(r.further("reproduced").Markdown()); strings.Contains(text, "≠") || !strings.Contains(text, "Protocol family: network (") {
		t.Errorf("got\n%s", text)
	}
}

// In a column of several families every number has its family's mark.
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
	if err := r.Terminal(&screen, Screen{}); err != nil || !strings.Contains(screen.String(), "80.00±0.00ˢ") {
		t.Errorf("%v\n%s", err, &screen)
	}
	if csv := string(r.tableCSV()); !strings.Contains(csv, ",network-soft\n") || !strings.Contains(csv, "false,\n") {
		t.Errorf("got\n%s", csv)
	}
	if csv := string(r.runsCSV()); !strings.Contains(csv, ",family,") || !strings.Contains(csv, ",network-soft,") {
		t.Errorf("got\n%s", csv)
	}
	if page := string(page([]section{r.section(nil)})); !strings.Contains(page, "80.00 ± 0.00 % (network-soft)") {
		t.Error("the page does not say by what a cell was scored")
	}
}

// Numbers of methods that the experiment does not run stand in a table of their own, each
// family in a column.
func TestPublishedElsewhere(t *testing.T) {
	const own = "[[published]]\nsource = \"They\"\nunchecked = true\nfamily = \"kernel\"\nvalues = { slow = 80 }\n"
	r := made(t, small, map[string][]float64{"slow": {0.9}})
	r.Spec.Published = append(r.Spec.Published, parse(t, small+own).Published...)
	if s := r.elsewhere(); s != nil {
		t.Errorf("a table where nothing is foreign: %+v", s)
	}
	p := parse(t, small+own).Published[0]
	p.Values = maps.Clone(p.Values)
	p.Values["foreign"] = p.Values["slow"]
	r.Spec.Published = append(r.Spec.Published[:0], p)
	s := r.elsewhere()
	if s == nil || !slices.Equal(s.Columns, []string{"kernel", "network"}) || len(s.Rows) != 3 {
		t.Fatalf("got %+v", s)
	}
	got := string(s.Markdown())
	for _, want := range []string{"| foreign | They | 80.00 |  |", "| Slow | ours |  | 90.00 |", "Not checked against the publication: the numbers of They."} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}

// A best that is chosen among several families is said to be.
func TestRankingAcrossFamilies(t *testing.T) {
	const note = "Best and second are chosen across protocol families."
	acc := map[string][]float64{"slow": {0.9}, "fast-lr": {0.8}}
	soft := "[method.fast-lr]\nsoft = true\n"
	for text, want := range map[string]bool{
		small:        false,
		small + soft: true,
		strings.Replace(small, "[table]", "[table]\nunmarked = [\"fast-lr\"]", 1) + soft: false,
	} {
		if got := slices.Contains(made(t, text, acc).sheets[0].Notes, note); got != want {
			t.Errorf("noted %v, want %v:\n%s", got, want, text)
		}
	}
}
