package sets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/npz"
)

// readLabels reads the labels. The file itself may say of what kind they are.
func readLabels(d *method.Distilled, f setFile, name, told string) error {
	n, classes := len(d.Images)/d.Size(), len(d.Classes)
	labels, shape, err := numbers(f.labels, name, f.most*classes)
	if err != nil {
		return err
	}
	if labels == nil && len(shape) > 0 {
		return fmt.Errorf("%s holds texts\nhint: labels are class numbers from 0 on, in the order of the classes: %s", name, npz.Listed(d.Classes))
	}
	if len(shape) == 0 || len(shape) > 2 || shape[0] != n || len(labels) == 0 {
		return fmt.Errorf("it needs an array labels with one label for each of its %d images; %s has the shape %v", n, name, shape)
	}
	if err := finite(name, labels, n); err != nil {
		return err
	}
	if f.LabelKind != "" && told != "" && f.LabelKind != told {
		return fmt.Errorf("label_kind is %q here, and the file says that its labels are %q", f.LabelKind, told)
	}
	kind := method.LabelKind(cmp.Or(f.LabelKind, told))
	if len(shape) == 2 && shape[1] == 1 && classes > 1 && (kind == "" || kind == method.Hard) && !f.with("of").Has("of") && allClasses(labels, classes) {
		shape = shape[:1] // a column of class numbers
	}
	if len(shape) == 1 && kind != "" && kind != method.Hard && !f.with("of").Has("of") {
		return fmt.Errorf("its labels are one number an image; of the kind %q they need an array of, int64 [n], beside them, with the class that each image stands for\nhint: if they are class numbers, leave label_kind out", kind)
	}
	if err := readClasses(d, f, labels, shape); err != nil {
		return err
	}
	if len(shape) == 1 && (kind == "" || kind == method.Hard) && allClasses(labels, classes) {
		d.Kind, d.Labels = method.Hard, method.OneHot(d.Of, classes)
		return agree(d, name, labels)
	}
	if kind == "" {
		if kind, err = guessKind(d, labels, classes); err != nil {
			return err
		}
	}
	d.Kind, d.Labels = kind, make([]float32, len(labels))
	for i, v := range labels {
		d.Labels[i] = float32(v)
	}
	if kind == method.Soft && told == "" && !probabilities(labels, classes) {
		return fmt.Errorf("its labels are no probabilities: some are negative, or rows do not sum to 1\nhint: label_kind = %q takes those before a softmax", method.Logits)
	}
	if kind == method.Hard && !oneHot(labels, classes) {
		return fmt.Errorf("its labels are no rows of one 1 and zeros, as those of the kind %q are", method.Hard)
	}
	if kind == method.Hard {
		var numbers []float64
		for row := range slices.Chunk(labels, classes) {
			numbers = append(numbers, float64(largest(row)))
		}
		return agree(d, name, numbers)
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
	if !f.own && (!some || !slices.Contains(losses, told)) {
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

// agree holds class numbers to the array of, where there is one.
func agree(d *method.Distilled, name string, numbers []float64) error {
	for i, y := range d.Of {
		if float64(y) != numbers[i] {
			return fmt.Errorf("its arrays %s and of give image %d the classes %v and %d", name, i, numbers[i], y)
		}
	}
	return nil
}

// readClasses finds out which class each image stands for.
func readClasses(d *method.Distilled, f setFile, labels []float64, shape []int) error {
	n, classes := shape[0], len(d.Classes)
	of, ofShape, err := numbers(f.with("of"), "of", f.most)
	if err == nil && of == nil && ofShape != nil {
		err = errors.New("its array of holds texts; it needs the class of each image, int64 [n]")
	}
	if err != nil {
		return err
	}
	switch {
	case len(of) == n:
		d.Of, err = classesOf(of, classes)
	case of != nil:
		return fmt.Errorf("its array of has %d values; it needs the class of each of its %d images", len(of), n)
	case len(shape) == 1:
		d.Of, err = classesOf(labels, classes)
	case len(labels) == n*classes:
		for row := range slices.Chunk(labels, classes) {
			d.Of = append(d.Of, largest(row))
		}
	default:
		return fmt.Errorf("its labels have the shape %v, not [n] or [n, %d]: then it needs an array of, int64 [n], with the class that each image stands for", shape, classes)
	}
	if err == nil && !f.at.Noted {
		noteBalance(d, f.at.IPC)
	}
	return err
}

// noteBalance notes that classes have other numbers of images than they should: ipc, or
// any at all where that is 0.
func noteBalance(d *method.Distilled, ipc int) {
	count := make([]int, len(d.Classes))
	for _, y := range d.Of {
		count[y]++
	}
	few, many := slices.Min(count), slices.Max(count)
	switch {
	case ipc == 0 && few == 0:
		var none []string
		for class, n := range count {
			if n == 0 {
				none = append(none, d.Classes[class])
			}
		}
		if note := "none of its images stands for " + npz.Listed(none); !slices.Contains(d.Notes, note) {
			d.Notes = append(d.Notes, note)
		}
	case ipc > 0 && (few != ipc || many != ipc):
		d.Notes = append(d.Notes, fmt.Sprintf("its labels stand for %d to %d images of a class, and not for %d of each", few, many, ipc))
	}
}

// guessKind returns the kind of labels of which neither the file nor the settings say
// any: that of which there can be no doubt, or soft for probabilities.
func guessKind(d *method.Distilled, labels []float64, classes int) (method.LabelKind, error) {
	if len(labels) == d.Len()*classes {
		if oneHot(labels, classes) {
			return method.Hard, nil
		}
		if probabilities(labels, classes) {
			d.Notes = append(d.Notes, "its labels were taken for probabilities, since none is negative and each row sums to 1; label_kind says otherwise")
			return method.Soft, nil
		}
	}
	guess, why := method.Logits, "some rows do not sum to 1"
	if slices.Max(labels) <= 1 && slices.Min(labels) >= -1 {
		guess, why = method.Value, "they do not sum to 1, and lie from -1 to 1, as targets of a squared loss do"
	}
	var others []string
	for _, kind := range []method.LabelKind{method.Soft, method.Logits, method.Value, method.Gain, method.Target} {
		if kind != guess {
			others = append(others, string(kind))
		}
	}
	return "", fmt.Errorf("it does not say what its labels mean; the guess is label_kind = %q, since %s\nhint: write label_kind = %q (or %s) beside path; or give the file a text label_kind", guess, why, guess, strings.Join(others, ", "))
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

func oneHot(labels []float64, classes int) bool {
	return rowsSumToOne(labels, classes, 0, func(v float64) bool { return v == 0 || v == 1 })
}

// probabilities reports whether rows are distributions, which may have been rounded to
// bfloat16, by 1/512.
func probabilities(labels []float64, classes int) bool {
	return rowsSumToOne(labels, classes, 5e-3, func(v float64) bool { return v >= 0 })
}

func allClasses(x []float64, classes int) bool {
	_, err := classesOf(x, classes)
	return err == nil
}

// classesOf checks that numbers are classes.
func classesOf(x []float64, classes int) ([]int, error) {
	of := make([]int, len(x))
	for i, v := range x {
		if v != math.Trunc(v) || v < 0 || v >= float64(classes) {
			return nil, fmt.Errorf("label %v is not a class; there are %d, and the first is 0", v, classes)
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
