package sets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/npz"
)

// units say how the values of a file become pixels.
type units struct {
	asData  bool                  // they are normalised as the data set's are
	scale   float32               // of pixels that are not: 1, or 255 of bytes
	moments *method.Preprocessing // by which they are normalised
	note    string                // of what was guessed
	own     bool                  // as this program wrote them, and right
}

// units finds out what the images, as [n, h, w, c], are given in.
func (f setFile) units(a npz.Array, name string, x []float32, data *method.Data) (units, error) {
	given, err := f.moments(data.Train.C)
	if err != nil {
		return units{}, err
	}
	whole := strings.Contains("ui", a.Type[:1])
	within := !slices.ContainsFunc(x, func(v float32) bool { return v < 0 || v > 1 })
	switch {
	case whole && (len(f.Mean) > 0 || !slices.Contains([]string{"", "no", "bytes"}, f.Normalised)):
		return units{}, fmt.Errorf("its images are whole numbers, which are bytes and not normalised\nhint: leave normalised, mean and std out; or divide by 255 and normalise before saving")
	case len(f.Mean) > 0:
		return units{moments: moments(f.Mean, f.Std)}, nil
	case f.Normalised == "bytes" && !whole && within:
		return units{}, errors.New("its images are all from 0 to 1, as pixels are, and normalised = \"bytes\" would leave them nearly black\nhint: write normalised = \"no\" beside path")
	case f.Normalised != "":
		return f.named(data)
	case whole:
		for _, v := range x {
			if v < 0 || v > 255 {
				return units{}, fmt.Errorf("its images are whole numbers, and %v is no byte\nhint: save bytes, or pixels from 0 to 1 as floating point", v)
			}
		}
		if within {
			return units{}, errors.New("its images are the whole numbers 0 and 1, and it does not say whether 1 is a byte or full light\nhint: write normalised = \"no\" beside path for full light, or \"bytes\"")
		}
		return units{scale: 255}, nil
	case f.own && name == "pixels":
		return units{scale: 1, own: true}, nil
	case f.own && given != nil && data.Prep.Restore == nil:
		return units{moments: given, own: true}, nil
	case f.own:
		return units{asData: true, own: true}, nil
	case name == "pixels" && !slices.ContainsFunc(x, func(v float32) bool { return v < -0.5 || v > 1.5 }): // as learned ones are
		return units{scale: 1, note: "its array pixels was taken for pixels from 0 to 1; normalised says otherwise"}, nil
	case given != nil && within:
		return units{}, errors.New("its images are all from 0 to 1, as pixels are, and it has arrays mean and std, as if they were normalised\nhint: write normalised = \"no\" beside path if they are pixels, or mean and std if they are not")
	case given != nil && !ofPixels(slices.Concat(given.Mean, given.Std)):
		return units{}, errors.New("its mean and std must be of pixels from 0 to 1: divide those of bytes by 255, or write normalised beside path")
	case given != nil:
		return units{moments: given, note: "its images were taken as normalised by the mean and std in it"}, nil
	case within:
		return units{scale: 1, note: "its images were taken for pixels, since all values are from 0 to 1; normalised says otherwise"}, nil
	}
	return units{}, unclear(name, x, data.Train.C, data)
}

// named are the units that the settings name.
func (f setFile) named(data *method.Data) (units, error) {
	switch f.Normalised {
	case "no":
		return units{scale: 1}, nil
	case "bytes":
		return units{scale: 255}, nil
	case "dataset":
		return units{asData: true}, nil
	case "zca", "norm-zca":
		if data.Prep.Name != f.Normalised {
			return units{}, fmt.Errorf("normalised = %q: the data set's images here are not whitened so\nhint: preprocess = %q in [data.NAME] whitens them", f.Normalised, f.Normalised)
		}
		return units{asData: true, note: fmt.Sprintf("its images were taken as whitened by the same map as the data set's here (%s, regulariser 0.1 trace/d)", f.Normalised)}, nil
	}
	m := usual[f.Normalised]
	if len(m.Mean) != data.Train.C {
		return units{}, fmt.Errorf("normalised = %q is for images of %d channels; the data set's have %d", f.Normalised, len(m.Mean), data.Train.C)
	}
	return units{moments: &m}, nil
}

// moments are the mean and std that the file gives, nil if it gives none.
func (f setFile) moments(channels int) (*method.Preprocessing, error) {
	mean, _, err := numbers(f, "mean", maxExtra)
	if err != nil {
		return nil, err
	}
	std, _, err := numbers(f, "std", maxExtra)
	if err != nil {
		return nil, err
	}
	if len(mean) != len(std) || len(mean) != channels && len(mean) != 0 || slices.ContainsFunc(std, func(x float64) bool { return !(x > 0) }) {
		return nil, errors.New("mean and std must both have one value a channel, and those of std be positive")
	}
	if len(mean) == 0 {
		return nil, nil
	}
	return moments(mean, std), nil
}

// ofPixels reports whether moments can be of pixels from 0 to 1.
func ofPixels[T float32 | float64](moments []T) bool {
	return !slices.ContainsFunc(moments, func(v T) bool { return math.Abs(float64(v)) > 1 })
}

// moments returns a mean and a standard deviation for each channel as a preprocessing.
func moments(mean, std []float64) *method.Preprocessing {
	p := &method.Preprocessing{}
	for c := range mean {
		p.Mean, p.Std = append(p.Mean, float32(mean[c])), append(p.Std, float32(std[c]))
	}
	return p
}

// maxPixel is far above 1: learned images may leave [0, 1], but not so far.
const maxPixel = 16

// apply makes the images of a set of values in these units.
func (u units) apply(d *method.Distilled, x []float32) error {
	if u.note != "" {
		d.Notes = append(d.Notes, u.note)
	}
	switch {
	case u.asData:
		d.Images = x
		if u.own {
			return nil
		}
		if d.Prep.Restore != nil {
			noteWhitening(d)
			return nil
		}
		return u.check(d.Prep.Pixels(x))
	case u.moments != nil && len(u.moments.Mean) != d.C:
		return fmt.Errorf("mean and std have %d values; the images have %d channels", len(u.moments.Mean), d.C)
	case u.moments != nil && same(*u.moments, d.Prep):
		d.Images = x
		if u.own {
			return nil
		}
		return u.check(u.moments.Pixels(x))
	case u.moments != nil:
		x = u.moments.Pixels(x)
	case u.scale != 1:
		for i := range x {
			x[i] /= u.scale
		}
	}
	if err := u.check(x); err != nil {
		return err
	}
	if d.Prep.Whiten != nil {
		d.Notes = append(d.Notes, "its pixels were whitened by the map of the data set's images here")
	}
	d.Images = d.Prep.Normalise(x)
	return nil
}

// same reports whether two normalisations are one, up to rounding.
func same(m, p method.Preprocessing) bool {
	near := func(a, b float32) bool {
		return math.Abs(float64(a)-float64(b)) <= 1e-6*(1+math.Abs(float64(b)))
	}
	return p.Restore == nil && slices.EqualFunc(m.Mean, p.Mean, near) && slices.EqualFunc(m.Std, p.Std, near)
}

// noteWhitening notes that images which are said to be whitened may not be. Whitening
// weakens what neighbours have in common. To undo it makes several times too much of that in
// images that were not whitened: those of CIFAR-10, brought to [-1, 1], come to -5 to 8.
func noteWhitening(d *method.Distilled) {
	if d.Prep.Outline {
		return
	}
	pixels := d.Prep.Restore(d.Images)
	if low, high := slices.Min(pixels), slices.Max(pixels); low < -3 || high > 4 {
		d.Notes = append(d.Notes, fmt.Sprintf("its images may not be whitened as those here: if that is undone, its pixels go from %.3g to %.3g", low, high))
	}
}

// check refuses pixels far from 0 to 1, which come of a wrong unit.
func (u units) check(pixels []float32) error {
	far := func(v float32) bool { return v > maxPixel || v < -maxPixel }
	switch {
	case u.own || !slices.ContainsFunc(pixels, far):
		return nil
	case u.asData || u.moments != nil:
		return fmt.Errorf("so normalised, its pixels would go from %.4g to %.4g, far beyond 0 and 1\nhint: normalised, mean and std beside path say how its images were made of pixels from 0 to 1", slices.Min(pixels), slices.Max(pixels))
	}
	return fmt.Errorf("its pixels go from %.4g to %.4g; they are bytes, or numbers from 0 to 1 (divide by 255, or write normalised = \"bytes\" beside path)", slices.Min(pixels), slices.Max(pixels))
}
