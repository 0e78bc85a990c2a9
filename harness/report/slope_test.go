package report

import (
	"testing"

	"dgkip/harness/report/chart"
)

// A line that rises by 3 over its last 30, whatever it did before, and lines that are too
// short for one to be laid through.
func TestRise(t *testing.T) {
	at := func(xy ...float64) []chart.Point {
		var out []chart.Point
		for i := 0; i < len(xy); i += 2 {
			out = append(out, chart.Point{X: xy[i], Y: xy[i+1]})
		}
		return out
	}
	long := at(0, 90, 10, 20, 70, 50, 80, 51, 90, 52, 100, 53)
	for _, c := range []struct {
		points  []chart.Point
		stretch float64
		want    float64
		ok      bool
	}{
		{long, 30, 3, true},
		{long, 25, 2.5, true},
		{long, 15, 0, false},
		{long, 0, 0, false},
		{long, 200, 0, false},
		{nil, 30, 0, false},
	} {
		if got, ok := rise(c.points, c.stretch); got != c.want || ok != c.ok {
			t.Errorf("over %v: got %v and %v, want %v and %v", c.stretch, got, ok, c.want, c.ok)
		}
	}
}
