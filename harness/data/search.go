package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is a directory to search, and why.
type place struct{ dir, origin string }

// places lists the directories with published files, in the order of the search.
func (o *Options) places() []place {
	list := []place{{o.Dir, "-data"}, {os.Getenv("DGKIP_DATA"), "DGKIP_DATA"}, {o.cache(), "cache"}}
	return slices.DeleteFunc(list, func(p place) bool { return p.dir == "" })
}

// cache returns the directory for downloads, or "" if the system has none.
func (o *Options) cache() string {
	if o.CacheDir != "" {
		return o.CacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "dgkip")
}

// open finds a published dataset, or downloads it.
func (s *source) open(ctx context.Context, classes []int, o *Options) (*Set, error) {
	if _, err := relabel(s.Classes, classes); err != nil {
		return nil, err // before anything is downloaded
	}
	for _, p := range o.places() {
		set, err := s.find(ctx, p.dir, classes)
		if err != errAbsent {
			return set, err
		}
	}
	if o.Offline {
		return nil, s.missing(fmt.Errorf("%w, and downloading is switched off", ErrMissing), o)
	}
	cache := o.cache()
	if cache == "" {
		return nil, s.missing(fmt.Errorf("%w, and there is no cache directory to download to", ErrMissing), o)
	}
	dir := filepath.Join(cache, s.Name)
	for _, d := range s.downloads {
		if first(dir, d.name) != "" {
			continue
		}
		if err := o.fetcher().get(ctx, d, dir); errors.Is(err, ErrFetch) {
			return nil, s.missing(fmt.Errorf("%w, and %w", ErrMissing, err), o)
		} else if err != nil {
			return nil, err
		}
	}
	set, err := s.find(ctx, cache, classes)
	if err == errAbsent {
		err = fmt.Errorf("%w in %s just after the download", ErrMissing, dir)
	}
	return set, err
}

// missing adds hints on how to provide the files by hand, where they were searched, and which files
// they are.
func (s *source) missing(err error, o *Options) error {
	err = hint(err, "name the folder that holds the files by -data DIR or in $DGKIP_DATA")
	err = hint(err, "without the files, use %q, a built-in dataset of the same kind with other results", s.standIn)
	var searched []string
	for _, p := range o.places() {
		absent := ""
		if info, e := os.Stat(p.dir); e != nil {
			absent = ": no such folder"
		} else if !info.IsDir() {
			absent = ": not a folder"
		}
		searched = append(searched, fmt.Sprintf("%s (%s%s)", p.dir, p.origin, absent))
	}
	if len(searched) > 0 {
		inside := slices.DeleteFunc(slices.Clone(s.folders), func(name string) bool { return name == "" })
		err = hint(err, "searched %s, and in each %s", strings.Join(searched, ", "), strings.Join(inside, ", "))
	}
	return s.list(err)
}
