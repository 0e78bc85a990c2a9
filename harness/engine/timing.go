package engine

import (
	"maps"
	"math"
	"slices"

	"dgkip/harness/store"
)

// table lays lines of the trace out in columns.
func table(lines []traced) store.Trace {
	names := map[string]bool{}
	for _, l := range lines {
		for name := range l.Values {
			names[name] = true
		}
	}
	t := store.Trace{Columns: append([]string{"update"}, slices.Sorted(maps.Keys(names))...)}
	for _, l := range lines {
		row := []float64{float64(l.Update)}
		for _, name := range t.Columns[1:] {
			v, ok := l.Values[name]
			if !ok {
				v = math.NaN()
			}
			row = append(row, v)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// blocks averages neighbouring times where there are too many to list.
func blocks(rows []store.TimingRow) []store.TimingRow {
	if len(rows) <= maxTimingRows {
		return rows
	}
	size := (len(rows) + maxTimingRows - 1) / maxTimingRows
	var out []store.TimingRow
	for part := range slices.Chunk(rows, size) {
		var sum, n float64
		for _, r := range part {
			sum += r.Seconds * float64(r.To-r.From)
			n += float64(r.To - r.From)
		}
		out = append(out, store.TimingRow{From: part[0].From, To: part[len(part)-1].To, Seconds: sum / n})
	}
	return out
}

// median is over updates, of which it returns the number: a row of several counts as many.
func median(rows []store.TimingRow) (seconds float64, updates int) {
	var all []float64
	for _, r := range rows {
		all = append(all, slices.Repeat([]float64{r.Seconds}, r.To-r.From)...)
	}
	return medianOf(all), len(all)
}

// medianOf is the median, 0 of nothing.
func medianOf(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// iteration is the median time of an iteration of so many updates, over those of which
// all updates were timed. Where there is none, the one of which most were stands for it.
func iteration(rows []store.TimingRow, updates int) float64 {
	type timed struct {
		seconds float64
		updates int
	}
	by := map[int]timed{}
	for _, r := range rows {
		n := r.To - r.From
		one := by[r.From/updates]
		by[r.From/updates] = timed{one.seconds + float64(n)*(r.Seconds+r.Before), one.updates + n}
	}
	most := 0
	for _, one := range by {
		most = max(most, one.updates)
	}
	var all []float64
	for _, one := range by {
		if one.updates == most {
			all = append(all, one.seconds*float64(updates)/float64(most))
		}
	}
	return medianOf(all)
}
