package store

import (
	"bytes"
	"encoding/json"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/npz"
	"dgkip/harness/spec"
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
//	preprocess  string                standard, none or zca
//	mean, std   float32 [c]           images = (pixels - mean)/std, but for zca
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

// recipe names the array that holds where a set comes from.
const recipe = "recipe"

// encodeSet returns distilled.npz and its digest. The recipe is left out of that: it
// says what the record's key says.
func encodeSet(d *method.Distilled, id spec.Identity) (file []byte, digest string, err error) {
	file, err = npz.Encode(append(Arrays(d), npz.Text(recipe, string(spec.Canonical(id)))))
	if err != nil {
		return nil, "", err
	}
	z, err := npz.New("distilled.npz", bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, "", err
	}
	digest, err = z.Digest(recipe)
	return file, digest, err
}

// ReadRecipe returns the identity of the run that made the set in a file, false if
// the file does not say.
func ReadRecipe(file string) (id spec.Identity, ok bool) {
	z, err := npz.Open(file)
	if err != nil {
		return id, false
	}
	defer z.Close()
	a, err := z.Read(recipe, maxText)
	if err != nil {
		return id, false
	}
	text, ok := a.Texts()
	return id, ok && len(text) == 1 && json.Unmarshal([]byte(text[0]), &id) == nil
}
