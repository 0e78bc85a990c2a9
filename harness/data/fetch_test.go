package data

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// host serves a file. Each of its handlers answers one request, the last all
// that follow.
type host struct {
	mu       sync.Mutex
	handlers []http.HandlerFunc
	ranges   []string // asked for
}

func (m *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	h := m.handlers[0]
	if len(m.handlers) > 1 {
		m.handlers = m.handlers[1:]
	}
	m.ranges = append(m.ranges, r.Header.Get("Range"))
	m.mu.Unlock()
	h(w, r)
}

func whole(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(b)))
	}
}

// status answers with a page that is not the file.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no file", code) }
}

// broken sends the next n bytes and drops the connection. It knows ranges.
func broken(b []byte, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from := 0
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(b)-1, len(b)))
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(b)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		w.Write(b[from : from+n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// noRanges sends everything, whatever was asked for.
func noRanges(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { w.Write(b) }
}

// wrongRange answers a question for a part with another part.
func wrongRange(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(b)-1, len(b)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(b)
	}
}

// endless sends more than the file has, without announcing how much.
func endless(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		for range 1000 {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	}
}

// silent sends nothing until the client gives up.
func silent(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func described(b []byte, urls ...string) download {
	sha, md := sha256.Sum256(b), md5.Sum(b)
	return download{"file", int64(len(b)), hex.EncodeToString(sha[:]), hex.EncodeToString(md[:]), urls}
}

func TestFetch(t *testing.T) {
	b := []byte(strings.Repeat("all work and no play makes jack a dull boy\n", 5000))
	changed := edit(b, 1000, '!')
	handlers := func(h ...http.HandlerFunc) []http.HandlerFunc { return h }
	for _, c := range []struct {
		name    string
		part    []byte // left by an earlier attempt
		mirrors [][]http.HandlerFunc
		want    error
		text    string
		ranges  []string // what the first mirror was asked for, if given
	}{
		{name: "at once", mirrors: [][]http.HandlerFunc{handlers(whole(b))}, ranges: []string{""}},
		{name: "continued", part: b[:70000], mirrors: [][]http.HandlerFunc{handlers(whole(b))}, ranges: []string{"bytes=70000-"}},
		{name: "was complete", part: b, mirrors: [][]http.HandlerFunc{handlers(status(500))}},
		{name: "dropped twice", mirrors: [][]http.HandlerFunc{handlers(broken(b, 1000), broken(b, 2000), whole(b))},
			ranges: []string{"", "bytes=1000-", "bytes=3000-"}},
		{name: "dropped, then from a mirror", mirrors: [][]http.HandlerFunc{handlers(broken(b, 1000), status(503)), handlers(whole(b))}},
		{name: "not found, then a mirror", mirrors: [][]http.HandlerFunc{handlers(status(404)), handlers(whole(b))}, ranges: []string{""}},
		{name: "no ranges", part: b[:70000], mirrors: [][]http.HandlerFunc{handlers(noRanges(b))}},
		{name: "wrong range", part: b[:70000], mirrors: [][]http.HandlerFunc{handlers(wrongRange(b)), handlers(whole(b))}},
		{name: "bad beginning", part: changed[:70000], mirrors: [][]http.HandlerFunc{handlers(whole(b))}, ranges: []string{"bytes=70000-", ""}},
		{name: "bad beginning, complete", part: changed, mirrors: [][]http.HandlerFunc{handlers(whole(b))}, ranges: []string{""}},
		{name: "too long a beginning", part: append(slices.Clone(b), 'x'), mirrors: [][]http.HandlerFunc{handlers(whole(b))}},
		{name: "changed, then a mirror", mirrors: [][]http.HandlerFunc{handlers(whole(changed)), handlers(whole(b))}, ranges: []string{""}},
		{name: "changed", mirrors: [][]http.HandlerFunc{handlers(whole(changed))}, want: ErrChecksum, text: "sha-256"},
		{name: "not found anywhere", mirrors: [][]http.HandlerFunc{handlers(status(404)), handlers(status(403))}, want: ErrFetch, text: "404 Not Found"},
		{name: "another file", mirrors: [][]http.HandlerFunc{handlers(whole(b[:500]))}, want: ErrChecksum, text: "the answer has 500 bytes"},
		{name: "endless", mirrors: [][]http.HandlerFunc{handlers(endless(b[:1001]))}, want: ErrOversized, text: "more than"},
		{name: "silent, then a mirror", mirrors: [][]http.HandlerFunc{handlers(silent), handlers(whole(b))}},
		{name: "silent", mirrors: [][]http.HandlerFunc{handlers(silent)}, want: ErrFetch, text: "nothing arrived for"},
		{name: "always dropped", mirrors: [][]http.HandlerFunc{handlers(broken(b, 10))}, want: ErrFetch, text: "of 215000 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "new")
			if c.part != nil {
				os.MkdirAll(dir, 0o777)
				os.WriteFile(filepath.Join(dir, "file.part"), c.part, 0o666)
			}
			var urls []string
			var first *host
			for _, h := range c.mirrors {
				m := &host{handlers: h}
				if first == nil {
					first = m
				}
				server := httptest.NewServer(m)
				defer server.Close()
				urls = append(urls, server.URL+"/file")
			}
			d := described(b, urls...)
			var last int64
			f := &fetcher{http.DefaultClient, func(_ string, done, total int64) { last = done }, 200 * time.Millisecond, 5}
			err := f.get(context.Background(), d, dir)
			got, _ := os.ReadFile(filepath.Join(dir, "file"))
			if c.want == nil {
				if err != nil || string(got) != string(b) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
				if _, err := os.Stat(filepath.Join(dir, "file.part")); err == nil {
					t.Error("the part is still there")
				}
				if last != d.size && c.ranges != nil {
					t.Errorf("progress ended at %d", last)
				}
			} else {
				if !errors.Is(err, c.want) || !errors.Is(err, ErrFetch) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("got %v, want %v with %q", err, c.want, c.text)
				}
				if got != nil {
					t.Errorf("a file of %d bytes was left", len(got))
				}
			}
			if c.ranges != nil && !slices.Equal(first.ranges, c.ranges) {
				t.Errorf("asked for %q, want %q", first.ranges, c.ranges)
			}
		})
	}
}

func TestFetchCancelled(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(silent))
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	o := Options{}
	err := o.fetcher().get(ctx, described([]byte("x"), server.URL, server.URL), t.TempDir())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestFetchTwice downloads one file to one place from two sides at once.
func TestFetchTwice(t *testing.T) {
	b := []byte(strings.Repeat("0123456789", 100000))
	server := httptest.NewServer(whole(b))
	defer server.Close()
	dir := t.TempDir()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			o := Options{}
			if err := o.fetcher().get(context.Background(), described(b, server.URL), dir); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(got) != string(b) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestFetchNowhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o666)
	o := Options{}
	err := o.fetcher().get(context.Background(), described([]byte("x")), filepath.Join(file, "sub"))
	if err == nil || !strings.Contains(err.Error(), "hint: downloads go to the cache directory") {
		t.Errorf("got %v", err)
	}
}
