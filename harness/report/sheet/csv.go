package sheet

import (
	"bytes"
	"encoding/csv"
)

// CSV writes lines of fields.
func CSV(lines [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(lines); err != nil {
		panic("sheet: writing CSV to a buffer failed")
	}
	return b.Bytes()
}
