package experiment

import (
	"errors"
	"maps"
	"reflect"
	"slices"

	"dgkip/harness/data"
	"dgkip/harness/method"
	"dgkip/harness/toml"
)

// Data is a [data.NAME] section: a dataset of one's own, or known data under
// another name, with other classes, another preprocessing or fewer images.
type Data struct {
	Name       string `toml:"-"`
	Dir        string `toml:"-"` // that relative paths start from: the file's
	Title      string `toml:"title"`
	Use        string `toml:"use"` // a known dataset; the section's own name if that is one
	Preprocess string `toml:"preprocess" enum:"standard,zca,norm-zca"`
	Images     int    `toml:"images" min:"0"` // of each class to train on, the first; 0 for all
	data.Config
}

// Own reports whether the images are not of a dataset that this program knows.
func (d Data) Own() bool { return d.Format != "" }

// Check implements method.Checker.
func (d Data) Check() error {
	switch {
	case d.Use != "" && (d.Format != "" || d.Train != "" || d.Test != ""):
		return &method.BadSetting{Key: "use", Why: "names known data, so format and files have no place beside it"}
	case d.Format == "" && (d.Train != "" || d.Test != ""):
		return &method.BadSetting{Key: "train", Why: "needs format = \"npz\" or \"folder\" beside it"}
	case d.Format != "" && d.Train == "":
		return &method.BadSetting{Key: "format", Why: "needs train = \"PATH\" beside it"}
	case d.Own():
		return d.Config.Check()
	}
	var errs []error
	given, none := toml.Settings(d.Config), toml.Settings(data.Config{})
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if key != "classes" && !reflect.DeepEqual(given[key], none[key]) {
			errs = append(errs, &method.BadSetting{Key: key, Why: "is for files of one's own, which format and train name"})
		}
	}
	return errors.Join(errs...)
}
