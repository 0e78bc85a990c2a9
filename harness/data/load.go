package data

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// Options say where data come from. The zero value searches $DGKIP_DATA and the
// user's cache directory, and downloads what is not there.
type Options struct {
	Dir      string // searched first
	CacheDir string // for downloads; "" means dgkip in the user's cache directory
	Offline  bool   // never download

	// Progress is called while a file is downloaded, often.
	Progress func(file string, done, total int64)
	Client   *http.Client // nil means http.DefaultClient

	Custom map[string]Config // people's own datasets, by name
	Base   string            // directory that their relative paths start from
}

// Info describes a dataset without loading it.
type Info struct {
	Name    string
	Text    string // one line
	BuiltIn bool
	Classes []string
	H, W, Ch,
	Train, Test int // size of an image, and how many there are of all classes
}

// Names lists the published datasets, then the built-in ones.
func Names() []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.name)
	}
	for _, b := range builtins {
		names = append(names, b.name)
	}
	return names
}

// Describe returns what is known of a dataset by its name.
func Describe(name string) (Info, error) {
	for _, s := range sources {
		if s.name == name {
			return Info{s.name, s.text, false, s.classes, s.h, s.w, s.ch, s.train, s.test}, nil
		}
	}
	for _, b := range builtins {
		if b.name == name {
			return Info{b.name, b.text, true, b.classes, b.h, b.w, b.ch, builtinTrain, builtinTest}, nil
		}
	}
	return Info{}, unknown(name, nil)
}

func unknown(name string, custom map[string]Config) error {
	err := hint(fmt.Errorf("%w: %q", ErrUnknown, name), "there are %s", strings.Join(Names(), ", "))
	if custom != nil {
		err = hint(err, "images of your own are described in the experiment, in a table [data.%s]", name)
	}
	return err
}

// Load returns the dataset called name, restricted to the classes of these
// numbers. They get the labels 0, 1, ... in this order. Classes nil means all of
// them, or those a Config asks for.
//
// A published dataset that is not found is never replaced by a built-in one.
func Load(ctx context.Context, name string, classes []int, o Options) (*Set, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	config, custom := o.Custom[name]
	for i := range sources {
		if s := &sources[i]; s.name == name && !custom {
			return s.open(ctx, classes, &o)
		}
	}
	for i := range builtins {
		if b := &builtins[i]; b.name == name && !custom {
			set, err := b.contents().choose(name, classes)
			if err != nil {
				return nil, at(name, err)
			}
			set.BuiltIn, set.Verified = true, true
			return set, nil
		}
	}
	if !custom {
		return nil, unknown(name, o.Custom)
	}
	return config.load(ctx, name, classes, o.Base)
}
