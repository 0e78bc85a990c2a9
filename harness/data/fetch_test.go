package data

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func whole(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(b)))
	}
}

// status answers with a page that is not the file.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no file", code) }
}

// broken sends n bytes and drops the connection.
func broken(b []byte, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		w.Write(b[:n])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
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

// trickle sends a byte at a time, for as long as the client listens.
func trickle(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		for i := range b {
			if _, err := w.Write(b[i : i+1]); err != nil || r.Context().Err() != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func described(b []byte, urls ...string) download {
	return download{"file", int64(len(b)), sumOf(b), urls}
}

func TestFetch(t *testing.T) {
	b := []byte(strings.Repeat("all work and no play makes jack a dull boy\n", 5000))
	changed := edit(b, 1000, '!')
	handlers := func(h ...http.HandlerFunc) []http.HandlerFunc { return h }
	for _, c := range []struct {
		name    string
		mirrors []http.HandlerFunc
		want    error
		text    string
	}{
		{name: "at once", mirrors: handlers(whole(b))},
		{name: "dropped, then from a mirror", mirrors: handlers(broken(b, 1000), whole(b))},
		{name: "not found, then a mirror", mirrors: handlers(status(404), whole(b))},
		{name: "changed, then a mirror", mirrors: handlers(whole(changed), whole(b))},
		{name: "silent, then a mirror", mirrors: handlers(silent, whole(b))},
		{name: "slow, then a mirror", mirrors: handlers(trickle(b), whole(b))},
		{name: "slow", mirrors: handlers(trickle(b)), want: ErrFetch, text: "slower than 1000 bytes a second"},
		{name: "changed", mirrors: handlers(whole(changed)), want: ErrChecksum, text: "sha-256"},
		{name: "not found anywhere", mirrors: handlers(status(404), status(403)), want: ErrFetch, text: "404 Not Found"},
		{name: "another file", mirrors: handlers(whole(b[:500])), want: ErrChecksum, text: "the response has 500 bytes"},
		{name: "endless", mirrors: handlers(endless(b[:1001])), want: ErrOversized, text: "more than"},
		{name: "silent", mirrors: handlers(silent), want: ErrFetch, text: "nothing arrived for"},
		{name: "dropped", mirrors: handlers(broken(b, 10)), want: ErrFetch, text: "after 10 of 215000 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "new")
			var urls []string
			for _, h := range c.mirrors {
				server := httptest.NewServer(h)
				defer server.Close()
				urls = append(urls, server.URL+"/file")
			}
			d := described(b, urls...)
			var last int64
			f := &fetcher{func(_ string, done, total int64) { last = done }, 200 * time.Millisecond, 1000, 300 * time.Millisecond}
			err := f.get(context.Background(), d, dir)
			got, _ := os.ReadFile(filepath.Join(dir, "file"))
			if c.want == nil {
				if err != nil || string(got) != string(b) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
				if last != d.size {
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
			if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); left != nil {
				t.Errorf("%v is still there", left)
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

// TestFetchTwice downloads a file to the same folder several times at once.
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

// What a killed process left is deleted after a day, and nothing else is.
func TestFetchSweeps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[odd] *")
	files := map[string]bool{"file.1.part": false, "file.2.part": true, "file.part": false, "other.1.part": true, "file.gz": true}
	os.Mkdir(dir, 0o777)
	old := time.Now().Add(-25 * time.Hour)
	for name := range files {
		os.WriteFile(filepath.Join(dir, name), nil, 0o666)
		if name != "file.2.part" {
			os.Chtimes(filepath.Join(dir, name), old, old)
		}
	}
	sweep(dir, "file")
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
