package report

import (
	"strings"
	"testing"
)

// An axis that only another profile has changes nothing, wherever a spec names it.
func TestAxisOfAnotherProfile(t *testing.T) {
	const shows = `
[[figure]]
name = "spread"
title = "Spread"
kind = "scatter"
x = "test_acc"
y = ["seconds_per_iteration"]
series = ["method", "method.rate"]
panels = ["method.rate"]
[[claim]]
id = "growth"
text = "It grows."
place = "Nowhere"
kind = "growth"
metric = "test_acc"
axis = "method.rate"
factor = 2
columns = ["slow"]
[profile.smoke.grid]
"method.rate" = [1, 2]
`
	acc := map[string][]float64{"slow": {0.5, 0.6}, "fast-lr": {0.7, 0.8}}
	plain := made(t, small, acc)
	text := strings.Replace(small, `rows = ["dataset", "ipc"]`, `rows = ["dataset", "ipc", "method.rate"]`, 1)
	text = strings.Replace(text, `columns = ["method"]`, `columns = ["method", "method.rate"]`, 1)
	r := made(t, text+shows, acc)
	if got, want := string(r.tableCSV()), string(plain.tableCSV()); got != want {
		t.Errorf("the table:\n%s\nwithout the axis:\n%s", got, want)
	}
	if heads := r.sheets[0].Heads; len(heads) != 2 {
		t.Errorf("headings of rows: %q", heads)
	}
	if r.figure(r.Spec.Figures[0]).picture == nil {
		t.Error("no figure")
	}
	if r.Claims[0].Ours.Verdict() != Open {
		t.Errorf("the claim: %v", r.Claims[0].Ours.Verdict())
	}
}
