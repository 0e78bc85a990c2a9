package data

import (
	"errors"
	"fmt"
	"io"
)

const (
	cifarSide   = 32
	cifarPlane  = cifarSide * cifarSide
	cifarRecord = 1 + 3*cifarPlane
	cifarBatch  = 10000 // records of a whole batch; a cut to some classes has fewer
)

// parseCIFAR reads a batch of the binary version: records of a label and three
// planes, red, green and blue. It appends to s the records whose class has
// wanted[class], brought to [h, w, channel], and counts all.
func parseCIFAR(r io.Reader, s *Split, wanted []bool, count []int) error {
	record := make([]byte, cifarRecord)
	for i := 0; ; i++ {
		n, err := io.ReadFull(r, record)
		switch {
		case err == io.EOF && i > 0:
			return nil
		case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%w: record %d has %d of %d bytes", ErrTruncated, i, n, cifarRecord)
		case err != nil:
			return damage(err)
		case i == cifarBatch:
			return fmt.Errorf("%w: more than %d records", ErrOversized, cifarBatch)
		}
		label := int(record[0])
		if label >= len(wanted) {
			return badLabel(i, label, len(wanted))
		}
		count[label]++
		if !wanted[label] {
			continue
		}
		s.Labels = append(s.Labels, label)
		at := len(s.Images)
		s.Images = append(s.Images, record[1:]...)
		for c := range 3 {
			plane := record[1+c*cifarPlane : 1+(c+1)*cifarPlane]
			for p, v := range plane {
				s.Images[at+3*p+c] = v
			}
		}
	}
}
