package data

import (
	"context"
	"fmt"
	"strings"
)

// Options control where published data is searched for. The zero value searches $DGKIP_DATA and the
// user's cache directory, and downloads missing files.
type Options struct {
	Dir      string // searched first
	CacheDir string // for downloads; "" means dgkip in the user's cache directory
	Offline  bool   // never download

	// Progress, if given, is called often during a download.
	Progress func(file string, done, total int64)
}

// Info describes a dataset without loading it.
type Info struct {
	Name    string
	Title   string // as tables print it
	Text    string // one line
	Terms   string // its authors, and its licence
	Classes []string
	Shape
	BuiltIn bool

	Characters bool // a mirror image no longer belongs to its class
}

// known lists the published datasets, then the drawn ones.
func known() (list []Info) {
	for _, s := range sources {
		list = append(list, s.Info)
	}
	return append(list, drawnSets...)
}

// Names returns the names of the datasets that this program knows.
func Names() (names []string) {
	for _, i := range known() {
		names = append(names, i.Name)
	}
	return names
}

// Describe returns the description of a dataset. The error wraps ErrUnknown.
func Describe(name string) (Info, error) {
	for _, i := range known() {
		if i.Name == name {
			return i, nil
		}
	}
	err := hint(fmt.Errorf("%w: %q", ErrUnknown, name), "known are %s", strings.Join(Names(), ", "))
	return Info{}, hint(err, "describe your own images in the experiment, in a table [data.%s]", name)
}

// Load returns the named dataset, restricted to the classes of these numbers, or with all classes if
// the list is nil. The classes get the labels 0, 1, ... in this order. Load never takes a
// built-in dataset in place of a published one that it cannot find.
func Load(ctx context.Context, name string, classes []int, o Options) (*Set, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := Describe(name); err != nil {
		return nil, err
	}
	var set *Set
	var err error
	for i := range sources {
		if s := &sources[i]; s.Name == name {
			set, err = s.open(ctx, classes, &o)
		}
	}
	for i := range drawnSets {
		if drawn := &drawnSets[i]; drawn.Name == name {
			set, err = drawn.draw().choose(classes)
		}
	}
	if err != nil {
		return nil, at(name, err)
	}
	return set, nil
}
