package data

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fetcher downloads files.
type fetcher struct {
	progress func(file string, done, total int64)

	// The next address is tried if nothing arrives for the time stall, or fewer than least
	// bytes a second for the time window.
	stall  time.Duration
	least  int64
	window time.Duration
}

func (o *Options) fetcher() *fetcher {
	f := &fetcher{progress: o.Progress, stall: 30 * time.Second, least: 1000, window: time.Minute}
	if f.progress == nil {
		f.progress = func(string, int64, int64) {}
	}
	return f
}

// get downloads d to dir from the first address that has it. The file only gets its name once its
// checksum is verified, so several processes may download it at the same time.
func (f *fetcher) get(ctx context.Context, d download, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return hint(err, "change its permissions, because downloads go there, or name a folder with the files by -data DIR")
	}
	sweep(dir, d.name)
	failed := fmt.Errorf("%w: %s", ErrFetch, d.name)
	for _, url := range d.urls {
		err := f.attempt(ctx, d, url, dir)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if u := (*neturl.Error)(nil); errors.As(err, &u) {
			err = u.Err // without the address, which follows
		}
		failed = fmt.Errorf("%w; %s: %w", failed, url, err)
	}
	return failed
}

// sweep deletes partial downloads that killed processes left more than a day ago.
func sweep(dir, name string) {
	entries, _ := os.ReadDir(dir) // files in an unreadable folder stay
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), name+".") && strings.HasSuffix(e.Name(), ".part") && time.Since(info.ModTime()) > 24*time.Hour {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// attempt downloads d from one address.
func (f *fetcher) attempt(ctx context.Context, d download, url, dir string) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(f.stall, func() { cancel(fmt.Errorf("nothing arrived for %v", f.stall)) })
	defer watch.Stop()
	defer func() {
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
	}()
	body, err := f.request(ctx, d, url)
	if err != nil {
		return err
	}
	defer body.Close()
	part, err := os.CreateTemp(dir, d.name+".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // has no effect once the file is renamed
	defer part.Close()
	sum, done := sha256.New(), int64(0)
	began, before := time.Now(), int64(0)
	arrived := func(b []byte) (int, error) {
		watch.Reset(f.stall)
		done += int64(len(b))
		f.progress(d.name, done, d.size)
		if took := time.Since(began); took >= f.window {
			if rate := float64(done-before) / took.Seconds(); rate < float64(f.least) {
				return 0, fmt.Errorf("slower than %d bytes a second for %v", f.least, f.window)
			}
			began, before = time.Now(), done
		}
		return len(b), nil
	}
	if _, err := io.Copy(io.MultiWriter(part, sum, writer(arrived)), io.LimitReader(body, d.size+1)); err != nil {
		return fmt.Errorf("after %d of %d bytes: %w", done, d.size, err)
	}
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case done > d.size:
		return fmt.Errorf("%w: more than %d bytes", ErrOversized, d.size)
	case got != d.sha:
		return fmt.Errorf("%w: %d bytes with sha-256 %s, expected %d with %s", ErrChecksum, done, got, d.size, d.sha)
	}
	return publish(part, filepath.Join(dir, d.name))
}

// writer is a function as an io.Writer.
type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// request starts the download of d from an address. It returns an error if the response has another
// size than d.
func (f *fetcher) request(ctx context.Context, d download, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity") // the checksum covers the file without further compression
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	switch n := res.ContentLength; {
	case res.StatusCode != http.StatusOK:
		err = fmt.Errorf("status %s", res.Status)
	case n >= 0 && n != d.size:
		err = fmt.Errorf("%w: the response has %d bytes, but the file has %d", ErrChecksum, n, d.size)
	default:
		return res.Body, nil
	}
	res.Body.Close()
	return nil, err
}

// publish gives a complete file its name and the usual permissions.
func publish(part *os.File, name string) error {
	if err := errors.Join(part.Chmod(0o644), part.Sync(), part.Close()); err != nil {
		return err
	}
	err := os.Rename(part.Name(), name)
	if _, there := os.Stat(name); err != nil && there == nil {
		return nil // another process was faster, and has the file open
	}
	return err
}
