package sets

import (
	"cmp"
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
	Loss       string    `toml:"loss,omitzero" enum:",logistic,hinge,softmax,squared"` // what the labels are for
}

// Check implements method.Checker.
func (o Options) Check() error {
	switch {
	case len(o.Mean) != len(o.Std):
		return &method.BadSetting{Key: "mean", Why: fmt.Sprintf("has %d values and std %d; both need one for each channel", len(o.Mean), len(o.Std))}
	case len(o.Mean) > 0 && o.Normalised != "":
		return &method.BadSetting{Key: "normalised", Why: "has no place beside mean and std"}
	case !ofPixels(slices.Concat(o.Mean, o.Std)):
		return &method.BadSetting{Key: "mean", Why: "and std must be of pixels from 0 to 1; divide those of bytes by 255"}
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

// guess is a normalisation that images may have, and what to write beside path if so.
type guess struct {
	write string
	method.Preprocessing
}

// plain are normalisations of no data set in particular: pixels as they are, and those of
// programs that bring them to [-1, 1].
func plain(channels int) []guess {
	all := func(v float32) []float32 { return slices.Repeat([]float32{v}, channels) }
	halves := strings.TrimSuffix(strings.Repeat("0.5, ", channels), ", ")
	return []guess{
		{`normalised = "no"`, method.Preprocessing{Mean: all(0), Std: all(1)}},
		{fmt.Sprintf("mean = [%s], std = [%[1]s]", halves), method.Preprocessing{Mean: all(0.5), Std: all(0.5)}},
	}
}

// unclear says that images may be normalised in a way which the file does not tell, and
// guesses: that with which the smallest and the largest value of each channel come nearest
// to 0 and 1, as those of pixels are. Learned pixels may leave that range a little. What is
// called pixels is probably that.
func unclear(name string, x []float32, channels int, data *method.Data) error {
	low, high := extremes(x, channels)
	if top := slices.Max(high); slices.Min(low) >= 0 && top > maxPixel && top <= 255 {
		return fmt.Errorf("its images go from %.4g to %.4g, and it does not say in what unit; the guess is normalised = \"bytes\", since no value is negative or above 255\nhint: write normalised = \"bytes\" beside path, or divide by 255", slices.Min(low), top)
	}
	guesses, names := plain(channels), []string{"no", "dataset"}
	whitened := data.Prep.Restore != nil
	if len(data.Prep.Mean) == channels && !whitened {
		guesses = append(guesses, guess{`normalised = "dataset"`, data.Prep})
	}
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		if m := usual[name]; len(m.Mean) == channels {
			names = append(names, name)
			if strings.HasPrefix(name, data.Name) {
				guesses = append(guesses, guess{fmt.Sprintf("normalised = %q", name), m})
			}
		}
	}
	// off is how far the ends of channels are from 0 and 1, on average.
	off := func(m guess) (sum float64) {
		for c := range channels {
			mean, std := float64(m.Mean[c]), float64(m.Std[c])
			sum += math.Abs(low[c]*std+mean) + math.Abs(high[c]*std+mean-1)
		}
		return sum / float64(2*channels)
	}
	best := slices.MinFunc(guesses, func(a, b guess) int { return cmp.Compare(off(a), off(b)) })
	why, doubt := "of what is usual it brings the smallest and largest value of each channel nearest to 0 and 1", ""
	if whitened {
		names = append(names, data.Prep.Name)
	}
	switch far := off(best) > 0.2; {
	case name == "pixels":
		best, why = guesses[0], "the array is called pixels, and learned ones may leave 0 to 1"
	case far && whitened:
		best.write = fmt.Sprintf("normalised = %q", data.Prep.Name)
		why = "nothing usual brings the smallest and largest value of each channel near to 0 and 1, and the images here are whitened"
	case far:
		doubt = fmt.Sprintf("; but they are %.2f from there on average, so that it may well be another", off(best))
	}
	return fmt.Errorf("its images go from %.4g to %.4g, and it does not say how they are normalised; the guess is %s, since %s%s\nhint: write %s beside path in the experiment, if that is right (normalised knows bytes, %s), or mean and std; or give the file arrays mean and std",
		slices.Min(low), slices.Max(high), best.write, why, doubt, best.write, strings.Join(names, ", "))
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
