package data

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"time"
)

// fetcher downloads files.
type fetcher struct {
	client   *http.Client
	progress func(file string, done, total int64)
	stall    time.Duration // give up an attempt when nothing arrives for so long
	tries    int           // at one address, as long as each brings bytes
}

func (o *Options) fetcher() *fetcher {
	f := &fetcher{client: o.Client, progress: o.Progress, stall: 30 * time.Second, tries: 5}
	if f.client == nil {
		f.client = http.DefaultClient
	}
	if f.progress == nil {
		f.progress = func(string, int64, int64) {}
	}
	return f
}

// failed is an error with several causes.
type failed struct {
	err    error
	causes []error
}

func (f *failed) Error() string   { return f.err.Error() }
func (f *failed) Unwrap() []error { return append([]error{f.err}, f.causes...) }

// get downloads d to dir. What has arrived is kept in a file NAME.part, and is
// continued by the next attempt, from any address: the checksums decide in the
// end, and only then the file gets its name.
//
// Two processes may download the same file at once: both write the same bytes at
// the same places, and the second to finish finds the work done.
func (f *fetcher) get(ctx context.Context, d download, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return hint(err, "downloads go to the cache directory; choose another by setting XDG_CACHE_HOME, or give the files by -data DIR")
	}
	part := filepath.Join(dir, d.name+".part")
	var causes []error
	for _, url := range d.urls {
		for range f.tries {
			old, _ := os.Stat(part)
			more, err := f.attempt(ctx, d, url, part)
			if err == nil {
				if err = publish(part, d); err == nil {
					return nil
				}
				// What an earlier attempt left may have been at fault.
				more = errors.Is(err, ErrChecksum) && old != nil && old.Size() > 0
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if u := (*neturl.Error)(nil); errors.As(err, &u) {
				err = u.Err // the address once, not twice
			}
			causes = append(causes, fmt.Errorf("%s: %w", url, err))
			if !more {
				break
			}
		}
	}
	var err error = &failed{fmt.Errorf("%w: %s", ErrFetch, d.name), causes}
	for _, cause := range causes {
		err = hint(err, "tried %v", cause)
	}
	return err
}

// attempt continues part from one address. It tells whether it got anywhere.
func (f *fetcher) attempt(ctx context.Context, d download, url, part string) (more bool, err error) {
	file, err := os.OpenFile(part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false, err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	have, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return false, err
	}
	if have == d.size {
		return false, nil
	}
	if have > d.size { // not our file
		if err := file.Truncate(0); err != nil {
			return false, err
		}
		have = 0
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(f.stall, func() { cancel(fmt.Errorf("nothing arrived for %v", f.stall)) })
	defer watch.Stop()
	body, from, err := f.request(ctx, d, url, have)
	if err != nil {
		return false, stalled(ctx, err)
	}
	defer body.Close()
	// Nothing is cut off here: another process may be ahead of us.
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return false, err
	}
	f.progress(d.name, from, d.size)
	done := from
	buf := make([]byte, 1<<16)
	for {
		n, err := body.Read(buf)
		watch.Reset(f.stall)
		if done+int64(n) > d.size {
			os.Remove(part)
			return false, fmt.Errorf("%w: more than %d bytes", ErrOversized, d.size)
		}
		if _, err := file.Write(buf[:n]); err != nil {
			return false, err
		}
		done += int64(n)
		if n > 0 {
			f.progress(d.name, done, d.size)
		}
		switch {
		case done == d.size && (err == nil || err == io.EOF):
			return false, file.Sync()
		case err == io.EOF:
			return done > from, fmt.Errorf("%w after %d of %d bytes", io.ErrUnexpectedEOF, done, d.size)
		case err != nil:
			return done > from, fmt.Errorf("after %d of %d bytes: %w", done, d.size, stalled(ctx, err))
		}
	}
}

// stalled returns why a request was given up, where that was our doing.
func stalled(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// request asks for d from byte have on, and returns the byte the answer starts at.
func (f *fetcher) request(ctx context.Context, d download, url string, have int64) (body io.ReadCloser, from int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept-Encoding", "identity") // the checksums are of the file as it is
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	res, err := f.client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	switch res.StatusCode {
	case http.StatusOK:
		if n := res.ContentLength; n >= 0 && n != d.size {
			err = fmt.Errorf("%w: the answer has %d bytes, the file %d", ErrChecksum, n, d.size)
		}
	case http.StatusPartialContent:
		var start int64
		_, e := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-", &start)
		if from = have; e != nil || start != have {
			err = fmt.Errorf("asked for bytes from %d on, got %q", have, res.Header.Get("Content-Range"))
		}
	default:
		err = fmt.Errorf("status %s", res.Status)
	}
	if err != nil {
		res.Body.Close()
		return nil, 0, err
	}
	return res.Body, from, nil
}

// publish gives a complete file its name if its checksums are right, and deletes
// it otherwise. Where another process was faster the file has its name already,
// and what is in the place of part, if anything, is the beginning of a third one's.
func publish(part string, d download) error {
	final := part[:len(part)-len(".part")]
	err := check(part, d)
	if err == nil {
		err = os.Rename(part, final)
	}
	if err != nil && check(final, d) == nil {
		return nil
	}
	if errors.Is(err, ErrChecksum) {
		os.Remove(part)
	}
	return err
}

// check compares a file's checksums.
func check(path string, d download) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	long, short := sha256.New(), md5.New()
	n, err := io.Copy(io.MultiWriter(long, short), f)
	if err != nil {
		return err
	}
	sha, md := hex.EncodeToString(long.Sum(nil)), hex.EncodeToString(short.Sum(nil))
	switch {
	case n != d.size:
		return fmt.Errorf("%w: %d bytes, expected %d", ErrChecksum, n, d.size)
	case sha != d.sha:
		return fmt.Errorf("%w: sha-256 %s, expected %s", ErrChecksum, sha, d.sha)
	case md != d.md5:
		return fmt.Errorf("%w: md5 %s, expected %s", ErrChecksum, md, d.md5)
	}
	return nil
}
