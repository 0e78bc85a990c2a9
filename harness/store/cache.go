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

// Cache keeps large values in files under work/cache/. If they exceed the budget, it removes the
// files not used for the longest time. Several processes may use the same folder, because the same
// key always has the same value.
//
// A file holds the content, then the SHA-256 of key and content. It appears by a rename, so it is
// never incomplete. Load finds a damaged file by its checksum and removes it.
type Cache struct {
	s      *Store
	budget int64
	note   func(string)

	mu   sync.Mutex // one Save at a time; two at once could exceed the budget
	told sync.Once
}

// Cache returns the store's cache, limited to budget bytes. The cache calls note with the first
// reason for which a value was not kept.
func (s *Store) Cache(budget int64, note func(string)) *Cache {
	return &Cache{s: s, budget: budget, note: note}
}

// Trim removes files until the cache fits into its budget. An earlier budget may have been larger.
func (c *Cache) Trim() { c.trim(c.budget) }

func (c *Cache) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := hex.EncodeToString(sum[:])
	return filepath.Join(c.s.work("cache"), name[:2], name)
}

// sumOf returns a hash that has already consumed the key.
func sumOf(key string) hash.Hash {
	sum := sha256.New()
	fmt.Fprintf(sum, "dgkip/cache/2 %d %s", len(key), key)
	return sum
}

// Part is the part of a cache whose keys have a prefix. It implements method.Disk.
type Part struct {
	*Cache
	ctx    context.Context
	prefix string
}

// Part returns a part of the cache, until ctx ends.
func (c *Cache) Part(ctx context.Context, prefix string) Part { return Part{c, ctx, prefix} }

// Load implements method.Disk. If the context ends, Load returns false and keeps the file.
func (p Part) Load(key string, read func(io.Reader) error) bool {
	ctx, key := p.ctx, p.prefix+key
	name := p.file(key)
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
		return false // the file itself is sound
	}
	if err != nil {
		f.Close() // some systems cannot remove open files
		os.Remove(name)
		return false
	}
	now := time.Now()
	os.Chtimes(name, now, now) // the time of last use; an error is harmless
	return true
}

var errDamaged = errors.New("a cached file is damaged")

// verified checks the checksum of a file and seeks back to the start. It returns the size of the
// content.
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

// until is a reader that fails once its context is done, since reading gigabytes of features can take
// a minute.
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

// Save implements method.Disk.
func (p Part) Save(key string, size int64, write func(io.Writer) error) {
	p.save(p.prefix+key, size, write)
}

// save writes a value, or notes why it cannot.
func (c *Cache) save(key string, size int64, write func(io.Writer) error) {
	err := c.put(key, size, write)
	if err == nil {
		return
	}
	if full(err) {
		err = errors.New("the disk is full or the quota is used up")
	}
	c.told.Do(func() {
		c.note(fmt.Sprintf("cannot cache a value of %.0f MB in %s: %v", float64(size)/1e6, c.s.work("cache"), err))
	})
}

func (c *Cache) put(key string, size int64, write func(io.Writer) error) error {
	name, all := c.file(key), size+sha256.Size
	if all > c.budget {
		return fmt.Errorf("the budget is only %.0f MB; raise disk in [cache] of the experiment", float64(c.budget)/1e6)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := os.Stat(name); err == nil {
		return nil // another run has saved the value, which the key determines
	}
	c.trim(c.budget - all)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	tmp := filepath.Join(c.s.work("tmp"), cacheTmp+filepath.Base(name)+"."+token())
	defer os.Remove(tmp) // does nothing after the rename
	if err := writeCached(tmp, key, write); err != nil {
		return err
	}
	if err := os.Rename(tmp, name); err != nil {
		return err
	}
	c.trim(c.budget) // another process may have saved a value meanwhile
	return nil
}

// cacheTmp is the prefix of cache files that are being written.
const cacheTmp = "cache."

func writeCached(tmp, key string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, sum := bufio.NewWriterSize(f, 1<<20), sumOf(key)
	if err := write(io.MultiWriter(w, sum)); err != nil {
		return err
	}
	w.Write(sum.Sum(nil)) // an error reappears in Flush
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// trim removes the files not used for the longest time until at most limit bytes are left.
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

// dropCache empties the cache and reports whether it removed any file. Other processes compute
// missing values again.
func (s *Store) dropCache() (some bool) {
	for _, name := range s.cached() {
		some = os.Remove(name) == nil || some
	}
	return some
}

// cached lists the cache files that may be removed. It checks their names, because the folder may be a
// link to one with foreign files.
func (s *Store) cached() []string {
	names, _ := below(s.work("cache"))
	return slices.DeleteFunc(names, func(name string) bool {
		key := filepath.Base(name)
		return !isKey(key) || filepath.Base(filepath.Dir(name)) != key[:2]
	})
}
