package sets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/npz"
)

// readLabels reads the labels. The file itself may say of what kind they are; class numbers
// need no kind.
func readLabels(d *method.Distilled, f setFile, name, told string) error {
	n, classes := len(d.Images)/d.Size(), len(d.Classes)
	labels, shape, err := numbers(f.labels, name, f.most*classes)
	if err != nil {
		return err
	}
	if len(shape) == 0 || len(shape) > 2 || shape[0] != n || len(labels) == 0 {
		return fmt.Errorf("it needs an array labels with one label for each of its %d images, and %s has the shape %v\nhint: class numbers [n] from 0 on, in the order of the classes: %s", n, name, shape, npz.Listed(d.Classes))
	}
	if f.LabelKind != "" && told != "" && f.LabelKind != told {
		return fmt.Errorf("label_kind is %q here, and the file says that its labels are %q", f.LabelKind, told)
	}
	kind := method.LabelKind(cmp.Or(f.LabelKind, told))
	width := len(labels) / n
	if kind == "" && width > 1 {
		return fmt.Errorf("its labels have the shape %v, and it does not say what they mean\nhint: write label_kind = \"hard\" beside path if each row is one 1 and zeros, \"soft\" if probabilities, \"logits\" if they become those by a softmax; or \"value\", \"gain\" or \"target\", as sets of this program have them", shape)
	}
	hard := kind == "" || kind == method.Hard
	var named []float64 // the classes that the labels name
	switch {
	case hard && width == 1:
		named = labels
	case width == classes:
		for row := range slices.Chunk(labels, classes) {
			named = append(named, float64(largest(row)))
		}
	}
	of, ofShape, err := numbers(f.with("of"), "of", f.most)
	switch {
	case err != nil:
		return err
	case ofShape != nil && len(of) != n:
		return fmt.Errorf("its array of has the shape %v; it needs the class of each of its %d images, int64 [n]", ofShape, n)
	case ofShape == nil && named == nil:
		return fmt.Errorf("its labels have the shape %v; of the kind %q they need an array of, int64 [n], beside them, with the class that each image stands for", shape, kind)
	case ofShape == nil:
		of = named
	}
	if d.Of, err = classesOf(of, classes); err != nil {
		return err
	}
	if hard {
		if width > 1 && (named == nil || !rowsSumToOne(labels, width, 0, func(v float64) bool { return v == 0 || v == 1 })) {
			return fmt.Errorf("its labels are no rows of one 1 and zeros, as those of the kind %q are", method.Hard)
		}
		for i, y := range d.Of {
			if float64(y) != named[i] {
				return fmt.Errorf("its arrays %s and of give image %d the classes %v and %d", name, i, named[i], y)
			}
		}
		d.Kind, d.Labels = method.Hard, method.OneHot(d.Of, classes)
		return nil
	}
	d.Kind, d.Labels = kind, make([]float32, len(labels))
	for i, v := range labels {
		d.Labels[i] = float32(v)
	}
	// Rounding to bfloat16 changes a row's sum.
	if kind == method.Soft && told == "" && !rowsSumToOne(labels, width, 5e-3, func(v float64) bool { return v >= 0 }) {
		return fmt.Errorf("its labels are no probabilities: some are negative, or rows do not sum to 1\nhint: label_kind = %q takes those before a softmax", method.Logits)
	}
	return nil
}

// losses are all convex losses, and lossesOf those that labels of a kind can be for, if they are
// no rows over the classes, which can be for any.
var losses = []string{"logistic", "hinge", "softmax", "squared"}
var lossesOf = map[method.LabelKind][]string{
	method.Gain:   {"logistic", "hinge"},
	method.Target: {"logistic"},
	method.Value:  {"squared"},
}

// readLoss finds out for which loss the labels are, by the text told in the file or by the
// settings. Where neither says it, values and targets are for the only one they can be for, and
// of rows over the classes their number decides.
func readLoss(d *method.Distilled, f setFile, told string) error {
	allowed, some := lossesOf[d.Kind]
	if !f.own && !some || !slices.Contains(losses, told) {
		told = "" // another program's is that of its networks
	}
	if told != "" && f.Loss != "" && told != f.Loss {
		return fmt.Errorf("loss is %q here, and the file says that its labels are for the %s loss\nhint: leave loss out", f.Loss, told)
	}
	d.Loss = cmp.Or(told, f.Loss)
	if d.Loss == "" && len(allowed) == 1 {
		d.Loss = allowed[0]
	}
	switch {
	case d.Loss == "" && d.Kind == method.Gain:
		return fmt.Errorf("its labels are of the kind %q, and it does not say for which loss\nhint: write loss = \"logistic\" (or \"hinge\") beside path; or give the file a text loss", d.Kind)
	case d.Loss != "" && some && !slices.Contains(allowed, d.Loss):
		return fmt.Errorf("its labels are of the kind %q, which is not for the %s loss\nhint: write loss = \"%s\" beside path, or another label_kind", d.Kind, d.Loss, strings.Join(allowed, `" or "`))
	}
	return nil
}

// rowsSumToOne reports whether every row has only allowed values, whose sum is 1 within
// a tolerance.
func rowsSumToOne(labels []float64, classes int, tolerance float64, allowed func(float64) bool) bool {
	for row := range slices.Chunk(labels, classes) {
		sum := 0.0
		for _, v := range row {
			if !allowed(v) {
				return false
			}
			sum += v
		}
		if math.Abs(sum-1) > tolerance {
			return false
		}
	}
	return true
}

// classesOf checks that numbers are classes.
func classesOf(x []float64, classes int) ([]int, error) {
	of := make([]int, len(x))
	for i, v := range x {
		if v != math.Trunc(v) || v < 0 || v >= float64(classes) {
			return nil, fmt.Errorf("label %v is not a class; there are %d, and the first is 0\nhint: label_kind beside path says what labels mean that are no class numbers", v, classes)
		}
		of[i] = int(v)
	}
	return of, nil
}

// largest returns the index of the largest value, the first where some are equal.
func largest(row []float64) int {
	best := 0
	for k, x := range row {
		if x > row[best] {
			best = k
		}
	}
	return best
}
