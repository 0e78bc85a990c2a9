package report

import (
	"slices"

	"dgkip/harness/report/sheet"
)

// models is the table of the models of all real images, one for each dataset and kind of
// networks: how far each was solved, and how good it is. It is nil where there are none.
func (r *Results) models() *sheet.Sheet {
	s := &sheet.Sheet{Name: r.stem() + "-models", Title: r.Spec.Title + ": models of all images", Heads: []string{"Dataset", "Networks"}, Merge: 1,
		Columns: []string{"Gap", "Training images (%)", "Test images (%)"}}
	for _, c := range r.Cells {
		for _, run := range c.done() {
			m := run.Record.Result.Metrics
			gap, solved := m["teacher_gap"]
			train, whole := m["train_acc"]
			if !solved || !whole {
				continue
			}
			heads := []string{r.valueTitle("dataset", c.Cell.Dataset), r.valueTitle("model", c.Cell.Model)}
			if slices.ContainsFunc(s.Rows, func(x sheet.Row) bool { return slices.Equal(x.Heads, heads) }) {
				continue // of another seed, or beside sets of another size
			}
			s.Rows = append(s.Rows, sheet.Row{Heads: heads, Cells: []sheet.Entry{
				sheet.Text(significant(gap, 2)), sheet.Text(fixed(100*train, 2)), sheet.Text(fixed(100*m["test_acc"], 2)),
			}})
		}
	}
	if s.Rows == nil {
		return nil
	}
	s.Caption = r.selected("Models of all real images, of the first seed: the duality gap to which each was solved, over its objective, and its accuracy.")
	return s
}
