package report

import (
	"strings"
	"testing"
)

// A model of all images has one row, whatever the sets beside it; sets have none.
func TestModelSheet(t *testing.T) {
	r := made(t, small, map[string][]float64{"slow": {0.9, 0.8}, "fast-lr": {0.9}})
	if r.models() != nil {
		t.Error("models of experiments without any")
	}
	give := func(run int, gap, train, test float64) {
		m := r.Cells[0].Runs[run].Record.Result.Metrics
		m["teacher_gap"], m["train_acc"], m["test_acc"] = gap, train, test
	}
	give(0, 0.00917, 0.9513, 0.9)
	give(1, 0.5, 0.5, 0.5)
	r.Cells[1].Runs[0].Record.Result.Metrics["train_acc"] = 1 // of a set's own model
	got := string(r.models().Markdown())
	if !strings.Contains(got, "| 0.0092 | 95.13 | 90.00 |") || strings.Count(got, "\n|") != 3 {
		t.Error(got)
	}
}
