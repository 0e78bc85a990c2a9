package sets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/method"
)

// agreed returns the value of a key in the settings or the file, or "" if neither has one. It
// returns an error if the two differ.
func agreed(key, setting, told string) (string, error) {
	if setting != "" && told != "" && setting != told {
		return "", fmt.Errorf("%s is %q in the settings, but %q in the file\nhint: leave out %[1]s", key, setting, told)
	}
	return cmp.Or(setting, told), nil
}

// readLabels reads the labels. Labels that are not class numbers need a kind, from the settings
// or the file.
func (f setFile) readLabels(d *method.Distilled, name, told string) error {
	n, classes := len(d.Images)/d.Size(), len(d.Classes)
	labels, shape, err := f.numbers(name)
	if err != nil {
		return err
	}
	if len(shape) == 0 || len(shape) > 2 || shape[0] != n || len(labels) == 0 {
		return fmt.Errorf("it needs one label for each of its %d images, but %s has the shape %v\nhint: write class numbers [n] from 0 on, in the order of the classes: %s", n, name, shape, Listed(d.Classes))
	}
	text, err := agreed("label_kind", f.LabelKind, told)
	if err != nil {
		return err
	}
	kind, width := method.LabelKind(text), len(labels)/n
	if kind == "" && width > 1 {
		return fmt.Errorf("its labels have the shape %v, but their kind is not given\nhint: next to path, write label_kind = \"hard\" for one-hot rows, \"soft\" for probabilities, \"logits\" for inputs to a softmax; or \"value\", \"gain\" or \"target\" as in sets of this program", shape)
	}
	hard := kind == "" || kind == method.Hard
	var of []float64
	switch {
	case hard && width == 1:
		of = labels
	case width == classes:
		for row := range slices.Chunk(labels, classes) {
			of = append(of, float64(largest(row)))
		}
	}
	if f.Has("of") {
		given, _, err := f.numbers("of")
		if err != nil {
			return err
		}
		if hard && len(given) == n && len(of) == n {
			for i, class := range of {
				if class != given[i] {
					return fmt.Errorf("its arrays %q and \"of\" give image %d the classes %v and %v\nhint: correct one of them, or remove \"of\"", name, i, class, given[i])
				}
			}
		}
		of = given
	}
	if f.Has("of") && len(of) != n {
		return fmt.Errorf("its array \"of\" has %d class numbers for %d images\nhint: write the class of each image, int64 [%[2]d], or remove \"of\" if labels are class numbers or rows over the classes", len(of), n)
	}
	if len(of) != n {
		return fmt.Errorf("its labels have the shape %v; the kind %q also needs an array \"of\", int64 [n], with the class of each of the %d images", shape, kind, n)
	}
	if d.Of, err = classesOf(of, classes); err != nil {
		return err
	}
	d.Labels = make([]float32, len(labels))
	for i, v := range labels {
		d.Labels[i] = float32(v)
	}
	if hard {
		oneHot := method.OneHot(d.Of, classes)
		if width > 1 && !slices.Equal(d.Labels, oneHot) {
			return fmt.Errorf("its labels are not one-hot rows, which label_kind = %q needs", method.Hard)
		}
		kind, d.Labels = method.Hard, oneHot
	}
	d.Kind = kind
	if kind == method.Soft && told == "" && !probabilities(labels, width) {
		return fmt.Errorf("its labels are not probabilities: some are negative, or rows do not sum to 1\nhint: write label_kind = %q if they are inputs to a softmax", method.Logits)
	}
	return nil
}

// lossesOf lists the convex losses that suit a kind of labels. Kinds with a row over the classes
// are not listed: they suit any loss.
var lossesOf = map[method.LabelKind][]string{
	method.Gain:   {"logistic", "hinge"},
	method.Target: {"logistic"},
	method.Value:  {"squared"},
}

// readLoss sets the loss that the labels are for, from the file or the settings. Values and
// targets suit only one loss.
func (f setFile) readLoss(d *method.Distilled, told string) error {
	allowed := lossesOf[d.Kind]
	if !f.own && !slices.Contains(allowed, told) {
		told = "" // the loss of another program's networks
	}
	loss, err := agreed("loss", f.Loss, told)
	if err != nil {
		return err
	}
	if loss == "" && len(allowed) == 1 {
		loss = allowed[0]
	}
	if allowed != nil && !slices.Contains(allowed, loss) {
		why := fmt.Sprintf("does not suit the loss %q", loss)
		if loss == "" {
			why = "needs a loss"
		}
		return fmt.Errorf("its labels are of the kind %q, which %s\nhint: next to path, write loss = \"%s\", or another label_kind", d.Kind, why, strings.Join(allowed, `" or "`))
	}
	d.Loss = loss
	return nil
}

// probabilities reports whether rows are not negative and sum to 1, up to rounding to bfloat16.
func probabilities(labels []float64, classes int) bool {
	for row := range slices.Chunk(labels, classes) {
		sum := 0.0
		for _, v := range row {
			if sum += v; v < 0 {
				return false
			}
		}
		if !(math.Abs(sum-1) <= 5e-3) {
			return false
		}
	}
	return true
}

// classesOf converts numbers to classes.
func classesOf(x []float64, classes int) ([]int, error) {
	of := make([]int, len(x))
	for i, v := range x {
		if v != math.Trunc(v) || v < 0 || v >= float64(classes) {
			return nil, fmt.Errorf("label %v is not a class number from 0 to %d\nhint: class numbers start at 0; for labels of another kind, write label_kind next to path", v, classes-1)
		}
		of[i] = int(v)
	}
	return of, nil
}

// largest returns the index of the largest value, the first of equal ones.
func largest(row []float64) int {
	best := 0
	for k, x := range row {
		if x > row[best] {
			best = k
		}
	}
	return best
}
