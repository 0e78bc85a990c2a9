package experiment

import (
	"errors"
	"reflect"

	"dgkip/harness/data"
	"dgkip/harness/method"
	"dgkip/harness/toml"
)

// Data is a [data.NAME] section. It describes your own dataset, or known data under another name, with
// different classes, preprocessing or fewer images.
type Data struct {
	Name       string `toml:"-"`
	Dir        string `toml:"-"` // base of relative paths: the folder of the file
	Title      string `toml:"title"`
	Use        string `toml:"use"` // a known dataset; by default the name of the section
	Preprocess string `toml:"preprocess" enum:"standard,zca,norm-zca"`
	Images     int    `toml:"images" min:"0"` // use only the first N training images of each class; 0 uses all
	data.Config
}

// Own reports whether the images come from your own files.
func (d Data) Own() bool { return d.Format != "" }

// Check implements method.Checker.
func (d Data) Check() error {
	switch {
	case d.Use != "" && (d.Format != "" || d.Train != "" || d.Test != ""):
		return &method.BadSetting{Key: "use", Why: "names known data, so it cannot be combined with format or files"}
	case d.Format == "" && (d.Train != "" || d.Test != ""):
		return &method.BadSetting{Key: "train", Why: "needs format = \"npz\" or \"folder\""}

	case d.Own():
		return d.Config.Check()
	}
	var errs []error
	given, none := toml.Settings(d.Config), toml.Settings(data.Config{})
	for _, key := range sortedKeys(given) {
		if key != "classes" && !reflect.DeepEqual(given[key], none[key]) {
			errs = append(errs, &method.BadSetting{Key: key, Why: "only applies to your own files, given by format and train"})
		}
	}
	return errors.Join(errs...)
}
