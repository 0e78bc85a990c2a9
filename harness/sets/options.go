package sets

import (
	"fmt"
	"math"
	"slices"

	"dgkip/harness/method"
	"dgkip/harness/npz"
)

// Options say what a file of another program does not.
type Options struct {
	Images     string    `toml:"images,omitzero"`                                                                                    // names of the arrays; those in lists and dictionaries have dots, as in data.0.1
	Labels     string    `toml:"labels,omitzero"`                                                                                    // the name of their array
	Normalised string    `toml:"normalised,omitzero" enum:",no,bytes,dataset,zca,norm-zca,cifar-10,cifar-10-dc,mnist,fashion-mnist"` // what the values of the images are
	Mean       []float64 `toml:"mean,omitzero"`                                                                                      // of pixels from 0 to 1, a value for each channel
	Std        []float64 `toml:"std,omitzero"`                                                                                       // and the deviations, likewise
	LabelKind  string    `toml:"label_kind,omitzero" enum:",hard,soft,logits,gain,target,value"`                                     // what labels mean that are no class numbers
	Loss       string    `toml:"loss,omitzero" enum:",logistic,hinge,softmax,squared"`                                               // what the labels are for
}

// Check implements method.Checker.
func (o Options) Check() error {
	switch {
	case len(o.Mean) != len(o.Std):
		return &method.BadSetting{Key: "mean", Why: fmt.Sprintf("has %d values and std %d; both need one for each channel", len(o.Mean), len(o.Std))}
	case len(o.Mean) > 0 && o.Normalised != "":
		return &method.BadSetting{Key: "normalised", Why: "has no place beside mean and std"}
	case slices.ContainsFunc(o.Std, func(x float64) bool { return !(x > 0) }):
		return &method.BadSetting{Key: "std", Why: "must be positive"}
	}
	return nil
}

// usual are the means and deviations that programs normalise known images by. Those of
// cifar-10-dc are in use with DC, DSA, DM and MTT.
var usual = map[string]method.Preprocessing{
	"cifar-10":      {Mean: []float32{0.4914, 0.4822, 0.4465}, Std: []float32{0.2470, 0.2435, 0.2616}},
	"cifar-10-dc":   {Mean: []float32{0.4914, 0.4822, 0.4465}, Std: []float32{0.2023, 0.1994, 0.2010}},
	"mnist":         {Mean: []float32{0.1307}, Std: []float32{0.3081}},
	"fashion-mnist": {Mean: []float32{0.2861}, Std: []float32{0.3530}},
}

// units returns the means and deviations that the values of an array are normalised by,
// nil if they are normalised as the data set's images are. Bytes become pixels from 0 to 1
// in place.
func (f setFile) units(a npz.Array, name string, x []float32, prep method.Preprocessing) (*method.Preprocessing, error) {
	given, err := f.moments()
	if err != nil {
		return nil, err
	}
	switch told := f.Normalised; {
	case len(f.Mean) > 0:
		return moments(f.Mean, f.Std), nil
	case told == "bytes" || told == "" && a.Type == "u1":
		for i := range x {
			x[i] /= 255
		}
		return new(method.Preprocessing), nil
	case told == "no" || told == "" && name == "pixels":
		return new(method.Preprocessing), nil
	case (told == "zca" || told == "norm-zca") && told != prep.Name:
		return nil, fmt.Errorf("normalised = %q: the data set's images here are not whitened so\nhint: preprocess = %[1]q in [data.NAME] whitens them", told)
	case told == "dataset" || told == prep.Name:
		return nil, nil
	case told != "":
		m := usual[told]
		return &m, nil
	case given != nil && (!f.own || prep.Restore == nil):
		return given, nil
	case f.own:
		return nil, nil
	}
	return nil, fmt.Errorf("its images go from %.4g to %.4g, and it does not say how they are normalised\nhint: write normalised = \"no\" beside path if they are pixels from 0 to 1, \"bytes\" if from 0 to 255, \"dataset\" if they are as the images here, \"cifar-10\", \"cifar-10-dc\", \"mnist\" or \"fashion-mnist\" if by the usual means, \"zca\" or \"norm-zca\" if whitened; or mean = [...] and std = [...]", slices.Min(x), slices.Max(x))
}

// moments are the mean and std that the file gives, nil if it gives none.
func (f setFile) moments() (*method.Preprocessing, error) {
	mean, _, err := numbers(f, "mean", maxExtra)
	if err != nil {
		return nil, err
	}
	std, _, err := numbers(f, "std", maxExtra)
	if err != nil {
		return nil, err
	}
	if err := (Options{Mean: mean, Std: std}).Check(); err != nil {
		return nil, err
	}
	if len(mean) == 0 {
		return nil, nil
	}
	return moments(mean, std), nil
}

// moments returns a mean and a standard deviation for each channel as a preprocessing.
func moments(mean, std []float64) *method.Preprocessing {
	p := &method.Preprocessing{}
	for c := range mean {
		p.Mean, p.Std = append(p.Mean, float32(mean[c])), append(p.Std, float32(std[c]))
	}
	return p
}

// normalise returns images that are normalised by m, or as the data set's if it is nil, as the
// data set's are.
func (f setFile) normalise(x []float32, c int, m *method.Preprocessing, prep method.Preprocessing) ([]float32, error) {
	if m == nil && prep.Restore != nil {
		return x, nil
	}
	if m == nil {
		m = &prep
	}
	if len(m.Mean) > 0 && len(m.Mean) != c {
		return nil, fmt.Errorf("its images are normalised by %d means, but the data set's have %d channels", len(m.Mean), c)
	}
	pixels := m.Pixels(x)
	if far := func(v float32) bool { return v > maxPixel || v < -maxPixel }; !f.own && slices.ContainsFunc(pixels, far) {
		return nil, fmt.Errorf("its pixels would go from %.4g to %.4g, far beyond 0 and 1\nhint: normalised, or mean and std, beside path say how its images were made of pixels from 0 to 1", slices.Min(pixels), slices.Max(pixels))
	}
	if same(*m, prep) {
		return x, nil
	}
	return prep.Normalise(pixels), nil
}

// maxPixel is far above 1: learned images may leave [0, 1], but not so far.
const maxPixel = 16

// same reports whether two normalisations are one, up to rounding.
func same(m, p method.Preprocessing) bool {
	near := func(a, b float32) bool {
		return math.Abs(float64(a)-float64(b)) <= 1e-6*(1+math.Abs(float64(b)))
	}
	return p.Restore == nil && slices.EqualFunc(m.Mean, p.Mean, near) && slices.EqualFunc(m.Std, p.Std, near)
}
