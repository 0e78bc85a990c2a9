package sets

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dgkip/harness/method"
)

// Options say what a file of another program does not.
type Options struct {
	Images     string    `toml:"images,omitzero"` // names of the arrays; those in lists and dictionaries have dots, as in data.0.1
	Labels     string    `toml:"labels,omitzero"`
	Layout     string    `toml:"layout,omitzero" enum:",channels-first,channels-last"`
	Normalised string    `toml:"normalised,omitzero" enum:",no,bytes,dataset,zca,norm-zca,cifar-10,cifar-10-dc,mnist,fashion-mnist"`
	Mean       []float64 `toml:"mean,omitzero"` // of pixels from 0 to 1, a value for each channel
	Std        []float64 `toml:"std,omitzero"`
	LabelKind  string    `toml:"label_kind,omitzero" enum:",hard,soft,logits,gain,target,value"`
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

// usual are those that programs normalise known images by. Those of cifar-10-dc are
// in use with DC, DSA, DM and MTT.
var usual = map[string]method.Preprocessing{
	"cifar-10":      {Mean: []float32{0.4914, 0.4822, 0.4465}, Std: []float32{0.2470, 0.2435, 0.2616}},
	"cifar-10-dc":   {Mean: []float32{0.4914, 0.4822, 0.4465}, Std: []float32{0.2023, 0.1994, 0.2010}},
	"mnist":         {Mean: []float32{0.1307}, Std: []float32{0.3081}},
	"fashion-mnist": {Mean: []float32{0.2861}, Std: []float32{0.3530}},
}

// unclear says that images are normalised in a way which the file does not tell, and
// guesses: the data set's own units, or the usual moments of such images with which the
// smallest and the largest value of each channel come nearest to 0 and 1, as those of
// pixels are.
func unclear(x []float32, channels int, data *method.Data) error {
	low, high := extremes(x, channels)
	off := func(m method.Preprocessing) (sum float64) {
		for c := range channels {
			mean, std := float64(m.Mean[c]), float64(m.Std[c])
			sum += math.Abs(low[c]*std+mean) + math.Abs(high[c]*std+mean-1)
		}
		return sum
	}
	if top := slices.Max(high); slices.Min(low) >= 0 && top > maxPixel && top <= 255 {
		return fmt.Errorf("its images go from %.4g to %.4g, and it does not say in what unit; the guess is normalised = \"bytes\", since no value is negative or above 255\nhint: write normalised = \"bytes\" beside path, or divide by 255", slices.Min(low), top)
	}
	names := []string{"dataset"}
	best, why, least := "dataset", "there are no usual means of images of this name", math.Inf(1)
	if len(data.Prep.Mean) == channels {
		least = off(data.Prep)
	}
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		m := usual[name]
		if len(m.Mean) != channels {
			continue
		}
		names = append(names, name)
		if !strings.HasPrefix(name, data.Name) {
			continue
		}
		why = "its means bring the smallest and largest value of each channel nearest to 0 and 1"
		if got := off(m); got < least {
			best, least = name, got
		}
	}
	return fmt.Errorf("its images go from %.4g to %.4g, so that they are normalised, and it does not say how; the guess is normalised = %q, since %s\nhint: write normalised = %q (known are %s), or mean and std, beside path in the experiment; or give the file arrays mean and std",
		slices.Min(low), slices.Max(high), best, why, best, strings.Join(names, ", "))
}

// extremes returns the smallest and the largest value of each channel.
func extremes(x []float32, channels int) (low, high []float64) {
	low, high = slices.Repeat([]float64{math.Inf(1)}, channels), slices.Repeat([]float64{math.Inf(-1)}, channels)
	for i, v := range x {
		c := i % channels
		low[c], high[c] = min(low[c], float64(v)), max(high[c], float64(v))
	}
	return low, high
}
