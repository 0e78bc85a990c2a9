package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/method"
)

// numbers returns an array's values, bytes too, as float64.
func (a Array) numbers() ([]float64, bool) {
	switch v := a.Values.(type) {
	case []float64:
		return v, true
	case []uint8:
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = float64(x)
		}
		return out, true
	}
	return nil, false
}

func (a Array) float32s() ([]float32, bool) {
	v, ok := a.numbers()
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out, ok
}

// ReadDistilled reads a distilled set, of this program's making or of another's.
//
// A file of another program needs pixels, bytes from 0 to 255 or numbers from 0 to
// 1, or images, normalised by the mean and std it gives or by those of the data
// set; with the shape [n, h, w, c] or [n, c, h, w]; and labels, class numbers [n]
// or rows [n, classes]. What it leaves out is taken from data.
func ReadDistilled(file string, data *method.Data) (*method.Distilled, error) {
	arrays, err := ReadNPZ(file)
	if err != nil {
		return nil, err
	}
	d, err := distilled(arrays, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

func distilled(arrays map[string]Array, data *method.Data) (*method.Distilled, error) {
	text := func(name string) string { s, _ := arrays[name].Values.(string); return s }
	d := &method.Distilled{Classes: data.Classes, Prep: data.Prep, H: data.Train.H, W: data.Train.W, C: data.Train.C, Loss: text("loss")}
	if names := text("classes"); names != "" {
		// The names may differ, as spellings do; their number must not.
		if got := strings.Split(names, "\n"); len(got) != len(data.Classes) {
			return nil, fmt.Errorf("it has the classes %s, but the data set has %s", strings.Join(got, ", "), strings.Join(data.Classes, ", "))
		}
	}
	if p := text("preprocess"); p != "" && p != data.Prep.Name {
		return nil, fmt.Errorf("its preprocessing is %q, but the data set's here is %q", p, data.Prep.Name)
	}
	if err := readImages(d, arrays); err != nil {
		return nil, err
	}
	if err := readLabels(d, arrays, text("label_kind")); err != nil {
		return nil, err
	}
	for name, a := range arrays {
		if name, ok := strings.CutPrefix(name, "extra."); ok {
			if v, ok := a.numbers(); ok {
				if d.Extra == nil {
					d.Extra = map[string]method.Array{}
				}
				d.Extra[name] = method.Array{Shape: a.Shape, Data: v}
			}
		}
	}
	if n := text("notes"); n != "" {
		d.Notes = strings.Split(n, "\n")
	}
	return d, d.Check()
}

func readImages(d *method.Distilled, arrays map[string]Array) error {
	a, normalised := arrays["images"]
	_, bytes := a.Values.([]uint8)
	if p, ok := arrays["pixels"]; ok && (!normalised || bytes) {
		a, normalised = p, false
	}
	x, ok := a.float32s()
	if !ok {
		return errors.New("it has neither an array images nor an array pixels")
	}
	if _, bytes := a.Values.([]uint8); bytes {
		normalised = false
		for i := range x {
			x[i] /= 255
		}
	}
	if !normalised {
		for _, v := range x {
			if v > 16 { // learned images may leave [0, 1], but not so far
				return fmt.Errorf("its pixels go up to %v; they are bytes, or numbers from 0 to 1 (divide by 255)", slices.Max(x))
			}
		}
	}
	s := a.Shape
	if len(s) == 3 { // one channel, left out
		s = append(s, 1)
	}
	if len(s) != 4 || s[0] < 1 {
		return fmt.Errorf("its images have the shape %v, not [n, h, w, c]", a.Shape)
	}
	h, w, c := d.H, d.W, d.C
	switch {
	case s[1] == h && s[2] == w && s[3] == c:
	case s[1] == c && s[2] == h && s[3] == w:
		x = channelsLast(x, s[0], c, h*w)
	default:
		return fmt.Errorf("its images have the shape %v; the data set's are %dx%d with %d channels", a.Shape, h, w, c)
	}
	if !normalised {
		if d.Prep.Restore != nil {
			return errors.New("it has images in pixel units only, which cannot be whitened; it needs an array images")
		}
		d.Images = d.Prep.Normalise(x)
		return nil
	}
	mean, haveMean := arrays["mean"].float32s()
	std, haveStd := arrays["std"].float32s()
	if haveMean != haveStd || haveMean && (len(mean) != len(std) || len(mean) != c && len(mean) != 0) {
		return errors.New("mean and std must both have one value a channel")
	}
	d.Images = x
	if haveMean && len(mean) > 0 && d.Prep.Restore == nil && !same(mean, std, d.Prep) {
		own := method.Preprocessing{Mean: mean, Std: std}
		d.Images = d.Prep.Normalise(own.Pixels(x))
	}
	return nil
}

// same tells whether a file's normalisation is the data set's, up to rounding.
func same(mean, std []float32, p method.Preprocessing) bool {
	if len(mean) != len(p.Mean) {
		return false
	}
	near := func(a, b float32) bool { return math.Abs(float64(a)-float64(b)) <= 1e-6*(1+math.Abs(float64(b))) }
	for i := range mean {
		if !near(mean[i], p.Mean[i]) || !near(std[i], p.Std[i]) {
			return false
		}
	}
	return true
}

func channelsLast(x []float32, n, c, plane int) []float32 {
	out := make([]float32, len(x))
	for i := range n {
		for k := range c {
			for p := range plane {
				out[(i*plane+p)*c+k] = x[(i*c+k)*plane+p]
			}
		}
	}
	return out
}

func readLabels(d *method.Distilled, arrays map[string]Array, kind string) error {
	a, ok := arrays["labels"]
	v, isNumbers := a.numbers()
	n := len(d.Images) / d.Size()
	if !ok || !isNumbers || len(a.Shape) == 0 || a.Shape[0] != n {
		return fmt.Errorf("it needs an array labels with one label for each of its %d images", n)
	}
	classes := len(d.Classes)
	classOf := func(x float64) (int, error) {
		if x != math.Trunc(x) || x < 0 || x >= float64(classes) {
			return 0, fmt.Errorf("label %v is not a class; there are %d", x, classes)
		}
		return int(x), nil
	}
	d.Of = make([]int, n)
	if of, ok := arrays["of"].numbers(); ok && len(of) == n {
		for i, x := range of {
			y, err := classOf(x)
			if err != nil {
				return err
			}
			d.Of[i] = y
		}
	} else if len(a.Shape) == 1 {
		for i, x := range v {
			y, err := classOf(x)
			if err != nil {
				return err
			}
			d.Of[i] = y
		}
	} else if len(v) == n*classes {
		for i := range d.Of {
			row := v[i*classes:][:classes]
			for k, x := range row {
				if x > row[d.Of[i]] {
					d.Of[i] = k
				}
			}
		}
	} else {
		return fmt.Errorf("its labels have the shape %v, not [n] or [n, %d]", a.Shape, classes)
	}
	switch {
	case kind != "":
		d.Kind = method.LabelKind(kind)
		d.Labels, _ = a.float32s()
	case len(a.Shape) == 1:
		d.Kind, d.Labels = method.Hard, method.OneHot(d.Of, classes)
	default:
		d.Kind = method.Soft
		d.Labels, _ = a.float32s()
	}
	return nil
}
