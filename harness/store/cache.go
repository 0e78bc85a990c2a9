package store

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Cache keeps large values under work/cache/, of all of them no more than a budget:
// those that were used longest ago make room for others. Several processes may use the
// same folder; what two compute at the same time is the same.
//
// A file there holds the content and after it the SHA-256 of key and content. It
// appears by a rename, so that it is there as a whole or not at all. What a disk or
// a person damages is found by the checksum, and removed.
type Cache struct {
	s      *Store
	budget int64
	note   func(string)

	mu   sync.Mutex // one Save at a time, so that they cannot exceed the budget together
	told sync.Once

	kept sync.Map // key to the time of the last Keep
}

// Cache returns the store's cache, which keeps at most budget bytes. The first
// reason for which it could not keep something goes to note.
func (s *Store) Cache(budget int64, note func(string)) *Cache {
	return &Cache{s: s, budget: budget, note: note}
}

// Trim makes what is kept as small as the budget: it may have been larger.
func (c *Cache) Trim() { c.trim(c.budget) }

func (c *Cache) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := hex.EncodeToString(sum[:])
	return filepath.Join(c.s.work("cache"), name[:2], name)
}

// sumOf returns a checksum that has the key in it.
func sumOf(key string) hash.Hash {
	sum := sha256.New()
	fmt.Fprintf(sum, "dgkip/cache/2 %d %s", len(key), key)
	return sum
}

// Load is that of method.Disk, until ctx ends: what is kept is not lost for that.
func (c *Cache) Load(ctx context.Context, key string, read func(io.Reader) error) bool {
	name := c.file(key)
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	size, err := verified(ctx, f, key)
	if err == nil {
		err = read(bufio.NewReaderSize(io.LimitReader(until{ctx, f}, size), 1<<20))
	}
	if err != nil && ctx.Err() != nil {
		return false // nothing is wrong with the file
	}
	if err != nil {
		f.Close() // some systems do not remove open files
		os.Remove(name)
		return false
	}
	now := time.Now()
	os.Chtimes(name, now, now) // used last; no matter if that cannot be written down
	return true
}

var errDamaged = errors.New("a cached file is damaged")

// verified checks a file against its checksum and leaves it at its content.
func verified(ctx context.Context, f *os.File, key string) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size = info.Size() - sha256.Size
	if size < 0 {
		return 0, errDamaged
	}
	sum, want := sumOf(key), make([]byte, sha256.Size)
	if _, err := io.CopyN(sum, until{ctx, f}, size); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(f, want); err != nil {
		return 0, err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return 0, errDamaged
	}
	_, err = f.Seek(0, io.SeekStart)
	return size, err
}

// until reads until the context ends: features of gigabytes take most of a minute.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(b)
}

// Save keeps a value: see method.Disk.
func (c *Cache) Save(key string, size int64, write func(io.Writer) error) {
	c.tell(size, c.save(key, size, write, false))
}

// keepEvery is how often Keep writes.
const keepEvery = 10 * time.Second

// Keep keeps a state: see method.Disk. The first call for a key writes nothing, because most
// computations are short.
func (c *Cache) Keep(key string, size int64, write func(io.Writer) error) {
	now := time.Now()
	last, before := c.kept.LoadOrStore(key, now)
	if !before || now.Sub(last.(time.Time)) < keepEvery {
		return
	}
	c.tell(size, c.save(key, size, write, true))
	c.kept.Store(key, time.Now())
}

func (c *Cache) tell(size int64, err error) {
	if err == nil {
		return
	}
	if full(err) {
		err = errors.New("the disk is full, or a quota used up")
	}
	c.told.Do(func() {
		if c.note != nil {
			c.note(fmt.Sprintf("what runs share (%.0f MB) is not kept in %s: %v", float64(size)/1e6, c.s.work("cache"), err))
		}
	})
}

func (c *Cache) save(key string, size int64, write func(io.Writer) error, replace bool) error {
	name, all := c.file(key), size+sha256.Size
	if size < 0 || all > c.budget {
		return fmt.Errorf("the budget of %.0f MB has no room for it", float64(c.budget)/1e6)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	room := c.budget - all
	if info, err := os.Stat(name); err == nil {
		if !replace {
			return nil // another run was first, and the content is a function of the key
		}
		room += info.Size()
	}
	c.trim(room)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	tmp := filepath.Join(c.s.work("tmp"), cacheTmp+filepath.Base(name)+"."+token())
	defer os.Remove(tmp) // in vain once it is renamed
	if err := writeCached(tmp, key, size, write); err != nil {
		return err
	}
	if err := os.Rename(tmp, name); err != nil {
		return err
	}
	c.trim(c.budget) // for another process may have saved something, too
	return nil
}

// cacheTmp begins the names of files of the cache that are being written.
const cacheTmp = "cache."

func writeCached(tmp, key string, size int64, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	c := &checked{w, sumOf(key), size}
	if err := write(c); err != nil {
		return err
	}
	if c.left != 0 {
		return fmt.Errorf("%d bytes of it were not written", c.left)
	}
	w.Write(c.sum.Sum(nil)) // Flush returns its error
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// checked sums what is written, and takes no more than was announced.
type checked struct {
	w    io.Writer
	sum  hash.Hash
	left int64
}

func (c *checked) Write(b []byte) (int, error) {
	if int64(len(b)) > c.left {
		return 0, errors.New("it is larger than was announced")
	}
	c.left -= int64(len(b))
	c.sum.Write(b)
	return c.w.Write(b)
}

// trim removes what was used longest ago until no more than limit bytes are left.
func (c *Cache) trim(limit int64) {
	type entry struct {
		name string
		size int64
		used time.Time
	}
	var all []entry
	var total int64
	for _, name := range c.s.cached() {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			all = append(all, entry{name, info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name))
	})
	for _, e := range all {
		if total <= limit {
			return
		}
		if err := os.Remove(e.name); err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= e.size
		}
	}
}

// dropCache removes what the cache keeps, and reports whether that was anything. A
// process that is reading from it computes what it does not find.
func (s *Store) dropCache() (some bool) {
	for _, name := range s.cached() {
		some = os.Remove(name) == nil || some
	}
	return some
}

// cached lists the files of the cache that may go, by the names that it gives: none behind a
// link, for what that leads to may be anybody's.
func (s *Store) cached() []string {
	if s.linked("cache") {
		return nil
	}
	names, _ := below(s.work("cache"))
	return slices.DeleteFunc(names, func(name string) bool {
		key := filepath.Base(name)
		return !isKey(key) || filepath.Base(filepath.Dir(name)) != key[:2]
	})
}
