package data

import (
	"math"
	"testing"
)

// TestSymbolsMirrored compares the mean picture of each class with its mirror
// image: augmentations may flip symbols.
func TestSymbolsMirrored(t *testing.T) {
	s := builtinSet(t, "symbols")
	for class, name := range s.Classes {
		mean, n := make([]float64, s.Dim()), 0.0
		for i, l := range s.Train.Labels {
			if l == class {
				n++
				for p, v := range s.Train.Images[i*s.Dim() : (i+1)*s.Dim()] {
					mean[p] += float64(v)
				}
			}
		}
		apart := 0.0
		for p, v := range mean {
			mirrored := mean[p-p%s.W+s.W-1-p%s.W]
			apart += math.Abs(v-mirrored) / n / float64(len(mean))
		}
		t.Logf("%s: %.2f of 255 apart", name, apart)
		if apart > 4 {
			t.Errorf("%s is %.2f of 255 from its mirror image", name, apart)
		}
	}
}
