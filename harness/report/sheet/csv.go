package sheet

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
)

// CSV writes the texts of a sheet. Numbers are without the plus in front that other
// forms show.
func (s *Sheet) CSV() []byte {
	lines := [][]string{append(append([]string{}, s.Heads...), s.Columns...)}
	for _, r := range s.Rows {
		l := append([]string{}, r.Heads...)
		for _, e := range r.Cells {
			text := e.Plain()
			if bare, signed := strings.CutPrefix(text, "+"); signed {
				if _, err := strconv.ParseFloat(bare, 64); err == nil {
					text = bare
				}
			}
			l = append(l, text)
		}
		lines = append(lines, l)
	}
	return CSV(lines)
}

// CSV writes lines of fields.
func CSV(lines [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(lines); err != nil {
		panic("sheet: a buffer refused a line of CSV")
	}
	return b.Bytes()
}
