package data

import (
	"cmp"
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
		return nil, s.missing(errors.New("downloading is switched off"), o)
	}
	cache := o.cache()
	if cache == "" {
		return nil, s.missing(errors.New("there is no cache directory to download to"), o)
	}
	dir := filepath.Join(cache, s.Name)
	for _, d := range s.downloads {
		if first(dir, d.name) != "" {
			continue
		}
		if err := o.fetcher().get(ctx, d, dir); errors.Is(err, ErrFetch) {
			return nil, s.missing(err, o)
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

// missing returns the error for files that were not found, with the directories that were searched and
// why nothing was downloaded.
func (s *source) missing(why error, o *Options) error {
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
	inside := slices.DeleteFunc(slices.Clone(s.folders), func(name string) bool { return name == "" })
	err := fmt.Errorf("%w: searched %s, and in each %s; %w", ErrMissing, cmp.Or(strings.Join(searched, ", "), "no folder"), strings.Join(inside, ", "), why)
	return hint(s.provide(err), "or use %q, a built-in dataset of the same kind with other results", s.standIn)
}
