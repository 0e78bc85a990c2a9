package sets

import (
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/npz"
)

// Arrays lists what distilled.npz holds:
//
//	images      float32 [n, h, w, c]  as networks see them
//	pixels      float16 [n, h, w, c]  in pixel units, 0 to 1 for real images
//	labels      float32 [n, k]        see label_kind
//	of          int64   [n]           the class every image stands for
//	label_kind  string                hard, soft, logits, gain, target or value
//	loss        string                the loss the labels are for, if one
//	classes     string                names of the classes, one a line
//	preprocess  string                standard, zca or norm-zca
//	mean, std   float32 [c]           images = (pixels - mean)/std, where not whitened
//	extra.NAME  float64               what the method keeps beside its images
//	notes       string                one a line
//	recipe      string                the identity of the run that made it, as JSON; Put adds it
func Arrays(d *method.Distilled) []npz.Array {
	shape := []int{d.Len(), d.H, d.W, d.C}
	of := make([]int64, d.Len())
	for i, y := range d.Of {
		of[i] = int64(y)
	}
	out := []npz.Array{
		npz.Of("images", shape, d.Images),
		npz.Half("pixels", shape, d.Prep.Pixels(d.Images)),
		npz.Of("labels", []int{d.Len(), d.LabelWidth()}, d.Labels),
		npz.Of("of", []int{d.Len()}, of),
		npz.Text("label_kind", string(d.Kind)),
		npz.Text("classes", strings.Join(d.Classes, "\n")),
		npz.Text("preprocess", d.Prep.Name),
		npz.Of("mean", []int{len(d.Prep.Mean)}, d.Prep.Mean),
		npz.Of("std", []int{len(d.Prep.Std)}, d.Prep.Std),
	}
	for name, a := range d.Extra {
		out = append(out, npz.Of("extra."+name, a.Shape, a.Data))
	}
	if d.Loss != "" {
		out = append(out, npz.Text("loss", d.Loss))
	}
	if len(d.Notes) > 0 {
		out = append(out, npz.Text("notes", strings.Join(d.Notes, "\n")))
	}
	return out
}
