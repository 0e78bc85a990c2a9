package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// place is a directory to search, and why.
type place struct{ dir, origin string }

// places lists where published files may be, the first to be searched first.
func (o *Options) places() []place {
	list := []place{{o.Dir, "-data"}, {os.Getenv("DGKIP_DATA"), "DGKIP_DATA"}, {o.cache(), "cache"}}
	n := 0
	for _, p := range list {
		if p.dir != "" {
			list[n] = p
			n++
		}
	}
	return list[:n]
}

// cache returns the directory downloads go to, or "" where the system has none.
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
		return nil, at(s.Name, err) // before anything is downloaded
	}
	for _, p := range o.places() {
		set, err := s.find(ctx, p.dir, classes)
		if err != errAbsent {
			return set, err
		}
	}
	if o.Offline {
		return nil, s.missing(fmt.Errorf("%s: %w, and downloading is switched off", s.Name, ErrMissing), o)
	}
	cache := o.cache()
	if cache == "" {
		err := fmt.Errorf("%s: %w, and there is no cache directory to download to", s.Name, ErrMissing)
		return nil, s.missing(err, o)
	}
	dir := filepath.Join(cache, s.Name)
	for _, d := range s.downloads {
		if first(dir, d.name) != "" {
			continue
		}
		if err := o.fetcher().get(ctx, d, dir); errors.Is(err, ErrFetch) {
			return nil, s.missing(fmt.Errorf("%s: %w, and %w", s.Name, ErrMissing, err), o)
		} else if err != nil {
			return nil, at(s.Name, err)
		}
	}
	set, err := s.find(ctx, cache, classes)
	if err == errAbsent {
		err = fmt.Errorf("%s: %w in %s just after the download", s.Name, ErrMissing, dir)
	}
	return set, err
}

// missing adds to err all one needs to know to provide the files by hand: what to
// do, where they were looked for and what they are.
func (s *source) missing(err error, o *Options) error {
	err = hint(err, "give the folder that holds the files by -data DIR or in $DGKIP_DATA")
	err = hint(err, "without the files: %q is a built-in set of the same kind, with other results", s.standIn)
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
		err = hint(err, "searched %s, each also in its folder %s", strings.Join(searched, ", "), s.folders[0])
	}
	return s.list(err)
}
