package sets

import (
	"slices"
	"strings"

	"dgkip/harness/method"
)

// Arrays lists the arrays of distilled.npz:
//
//	images      float32 [n, h, w, c]  normalised, as networks see them
//	pixels      float16 [n, h, w, c]  in pixel units, 0 to 1 for real images
//	labels      float32 [n, k]        see label_kind
//	of          int64   [n]           the class of every image
//	label_kind  string                hard, soft, logits, gain, target or value
//	loss        string                the loss that the labels are for, if any
//	classes     string                names of the classes, one a line
//	preprocess  string                standard, zca or norm-zca
//	mean, std   float32 [c]           images = (pixels - mean)/std, unless whitened
//	extra.NAME  float64               further results of the method
//	notes       string                one a line
//	recipe      string                identity of the run, as JSON; package store adds it
func Arrays(d *method.Distilled) []Array {
	shape := []int{d.Len(), d.H, d.W, d.C}
	of := make([]int64, d.Len())
	for i, y := range d.Of {
		of[i] = int64(y)
	}
	out := []Array{
		Of("images", shape, d.Images),
		half("pixels", shape, d.Prep.Pixels(d.Images)),
		Of("labels", []int{d.Len(), d.LabelWidth()}, d.Labels),
		Of("of", []int{d.Len()}, of),
		Text("label_kind", string(d.Kind)),
		Text("classes", strings.Join(d.Classes, "\n")),
		Text("preprocess", d.Prep.Name),
		Of("mean", []int{len(d.Prep.Mean)}, d.Prep.Mean),
		Of("std", []int{len(d.Prep.Std)}, d.Prep.Std),
	}
	for name, a := range d.Extra {
		out = append(out, Of("extra."+name, a.Shape, a.Data))
	}
	if d.Loss != "" {
		out = append(out, Text("loss", d.Loss))
	}
	if len(d.Notes) > 0 {
		out = append(out, Text("notes", strings.Join(d.Notes, "\n")))
	}
	return out
}

// Half returns the arrays of a set with images as float16. It leaves out pixels, which are
// images*std + mean, unless the images are whitened.
func Half(arrays []Array) []Array {
	whitened := slices.ContainsFunc(arrays, func(a Array) bool {
		text, _ := a.Texts()
		return a.Name == "preprocess" && !slices.Equal(text, []string{"standard"})
	})
	var out []Array
	for _, a := range arrays {
		if a.Name == "images" {
			x, _ := values[float32](a)
			a = half(a.Name, a.Shape, x)
		}
		if a.Name != "pixels" || whitened {
			out = append(out, a)
		}
	}
	return out
}
