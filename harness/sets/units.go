package sets

import (
	"fmt"
	"math"
	"slices"

	"dgkip/harness/method"
)

// Options describe a file of another program.
type Options struct {
	Images     string    `toml:"images,omitzero"`                                                                       // name of the array of images; inside lists and dictionaries it has dots, as in data.0.1
	Labels     string    `toml:"labels,omitzero"`                                                                       // name of the array of labels
	Normalised string    `toml:"normalised,omitzero" enum:",no,bytes,dataset,cifar-10,cifar-10-dc,mnist,fashion-mnist"` // units of the images
	Mean       []float64 `toml:"mean,omitzero"`                                                                         // means of pixels from 0 to 1, one for each channel
	Std        []float64 `toml:"std,omitzero"`                                                                          // standard deviations of pixels from 0 to 1, one for each channel
	LabelKind  string    `toml:"label_kind,omitzero" enum:",hard,soft,logits,gain,target,value"`                        // meaning of labels that are not class numbers
	Loss       string    `toml:"loss,omitzero" enum:",logistic,hinge,softmax,squared"`                                  // convex loss that the labels are for
}

// Check implements method.Checker.
func (o Options) Check() error {
	switch {
	case len(o.Mean) != len(o.Std):
		return &method.BadSetting{Key: "mean", Why: fmt.Sprintf("has %d values and std %d; both need one for each channel", len(o.Mean), len(o.Std))}
	case len(o.Mean) > 0 && o.Normalised != "":
		return &method.BadSetting{Key: "normalised", Why: "cannot be combined with mean and std"}
	case slices.ContainsFunc(o.Std, func(x float64) bool { return !(x > 0) }):
		return &method.BadSetting{Key: "std", Why: "must be positive"}
	}
	return nil
}

// usual holds the means and standard deviations by which programs usually normalise known images.
// DC, DSA, DM and MTT use cifar-10-dc.
var usual = map[string]method.Preprocessing{
	"cifar-10":      {Mean: []float32{0.4914, 0.4822, 0.4465}, Std: []float32{0.2470, 0.2435, 0.2616}},
	"cifar-10-dc":   {Mean: []float32{0.4914, 0.4822, 0.4465}, Std: []float32{0.2023, 0.1994, 0.2010}},
	"mnist":         {Mean: []float32{0.1307}, Std: []float32{0.3081}},
	"fashion-mnist": {Mean: []float32{0.2861}, Std: []float32{0.3530}},
}

// units returns the preprocessing of the values x of an array. It scales bytes in x to pixels from
// 0 to 1.
func (f setFile) units(x []float32, a Array, prep method.Preprocessing) (as method.Preprocessing, err error) {
	how, o := f.Normalised, f.Options
	switch {
	case how != "" || len(o.Mean) > 0:
	case a.Type == "u1":
		how = "bytes"
	case a.Name == "pixels":
		how = "no"
	case f.own && prep.Restore != nil:
		how = "dataset"
	default: // the file may have arrays mean and std
		if o.Mean, _, err = f.numbers("mean"); err == nil {
			o.Std, _, err = f.numbers("std")
		}
		if err == nil {
			err = o.Check()
		}
		if err != nil {
			return as, err
		}
	}
	switch {
	case len(o.Mean) > 0:
		for c := range o.Mean {
			as.Mean, as.Std = append(as.Mean, float32(o.Mean[c])), append(as.Std, float32(o.Std[c]))
		}
		return as, nil
	case how == "dataset":
		return prep, nil
	case how == "no":
		return as, nil
	case how == "bytes":
		for i := range x {
			x[i] /= 255
		}
		return as, nil
	case how != "":
		return usual[how], nil
	}
	return as, fmt.Errorf("its images go from %.4g to %.4g, but their normalisation is not given\nhint: %s", slices.Min(x), slices.Max(x), choices)
}

// choices is the hint about normalisation.
const choices = `next to path, write normalised = "no" for pixels from 0 to 1, "bytes" for 0 to 255, "dataset" for images normalised or whitened as here, or "cifar-10", "cifar-10-dc", "mnist" or "fashion-mnist" for the usual means; or mean = [...] and std = [...]`

// normalised returns the values x of an array with c channels, normalised like the dataset's
// images.
func (f setFile) normalised(x []float32, a Array, c int, prep method.Preprocessing) ([]float32, error) {
	as, err := f.units(x, a, prep)
	switch {
	case err != nil:
		return nil, err
	case as.Restore != nil: // whitened like the dataset's images
		return x, nil
	case len(as.Mean) > 0 && len(as.Mean) != c:
		return nil, fmt.Errorf("its images are normalised by %d means, but the dataset's have %d channels", len(as.Mean), c)
	}
	pixels := as.Pixels(x)
	if far := func(v float32) bool { return v > maxPixel || v < -maxPixel }; !f.own && slices.ContainsFunc(pixels, far) {
		return nil, fmt.Errorf("its pixels would go from %.4g to %.4g, far beyond 0 and 1\nhint: %s", slices.Min(pixels), slices.Max(pixels), choices)
	}
	if prep.Restore == nil && slices.EqualFunc(as.Mean, prep.Mean, near) && slices.EqualFunc(as.Std, prep.Std, near) {
		return x, nil
	}
	return prep.Normalise(pixels), nil
}

// near reports whether two values are equal up to rounding in another program.
func near(a, b float32) bool {
	return math.Abs(float64(a)-float64(b)) <= 1e-6*(1+math.Abs(float64(b)))
}

// maxPixel is the largest plausible absolute value of a pixel. Learned images may leave [0, 1], but
// not by as much.
const maxPixel = 16
