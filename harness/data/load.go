package data

import (
	"context"
	"fmt"
	"strings"
)

// Options say where published data come from. The zero value searches $DGKIP_DATA
// and the user's cache directory, and downloads what is not there.
type Options struct {
	Dir      string // searched first
	CacheDir string // for downloads; "" means dgkip in the user's cache directory
	Offline  bool   // never download

	// Progress is called while a file is downloaded, often.
	Progress func(file string, done, total int64)
}

// Info describes a dataset without loading it.
type Info struct {
	Name    string
	Title   string // as tables print it
	Text    string // one line
	Terms   string // its authors, and its licence
	Classes []string
	H, W, Ch,
	Train, Test int // size of an image, and how many there are of all classes
	BuiltIn bool

	Characters bool // a mirror image of one is none
}

func (i *Info) shape() shape { return shape{i.H, i.W, i.Ch} }

// known lists the published datasets, then the drawn ones.
func known() (list []Info) {
	for _, s := range sources {
		list = append(list, s.Info)
	}
	return append(list, drawnSets...)
}

// Names lists the names of the datasets that this program knows.
func Names() (names []string) {
	for _, i := range known() {
		names = append(names, i.Name)
	}
	return names
}

// Describe returns what is known of a dataset by its name.
func Describe(name string) (Info, error) {
	for _, i := range known() {
		if i.Name == name {
			return i, nil
		}
	}
	err := hint(fmt.Errorf("%w: %q", ErrUnknown, name), "there are %s", strings.Join(Names(), ", "))
	return Info{}, hint(err, "images of your own are described in the experiment, in a table [data.%s]", name)
}

// Load returns the dataset called name, restricted to the classes of these
// numbers. They get the labels 0, 1, ... in this order. Classes nil means all of
// them.
//
// A published dataset that is not found is never replaced by a drawn one.
func Load(ctx context.Context, name string, classes []int, o Options) (*Set, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := Describe(name); err != nil {
		return nil, err
	}
	set, err := load(ctx, name, classes, &o)
	if err != nil {
		return nil, at(name, err)
	}
	return set, nil
}

func load(ctx context.Context, name string, classes []int, o *Options) (*Set, error) {
	for i := range sources {
		if s := &sources[i]; s.Name == name {
			return s.open(ctx, classes, o)
		}
	}
	for i := range drawnSets {
		if drawn := &drawnSets[i]; drawn.Name == name {
			return drawn.draw().choose(name, classes)
		}
	}
	return nil, ErrUnknown
}
