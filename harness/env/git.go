package env

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Git is the state of the source tree, read from its files: a program started by
// "go run" carries no such stamp, and git itself may be absent.
type Git struct {
	Commit string `json:"commit"` // "unknown" without a repository
	Branch string `json:"branch,omitempty"`

	// State is "clean", "modified" when tracked files differ from the commit or
	// there are source files that git does not track, or "unknown".
	State   string `json:"state"`
	Changed int    `json:"changed,omitempty"` // files that differ, as far as known
	Why     string `json:"why,omitempty"`     // of an unknown state
}

// ReadGit reads the state of the repository that holds dir.
func ReadGit(dir string) Git {
	g := Git{Commit: "unknown", State: "unknown"}
	repo, err := findRepository(dir)
	if err != nil {
		g.Why = err.Error()
		return g
	}
	if g.Commit, g.Branch, err = repo.head(); err != nil {
		g.Commit, g.Why = "unknown", err.Error()
		return g
	}
	if g.Changed, err = repo.changed(g.Commit); err != nil {
		g.Why = err.Error()
	}
	switch {
	case g.Changed > 0:
		g.State, g.Why = "modified", ""
	case err == nil:
		g.State = "clean"
	}
	return g
}

type repository struct {
	root   string // of the working tree
	git    string // of this working tree
	common string // of all working trees
}

func findRepository(dir string) (repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return repository{}, err
	}
	for {
		dot := filepath.Join(dir, ".git")
		if info, err := os.Stat(dot); err == nil {
			r := repository{root: dir, git: dot}
			if !info.IsDir() { // a further working tree, or a submodule
				b, err := os.ReadFile(dot)
				to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
				if err != nil || !ok {
					return r, errors.New(".git is neither a folder nor a pointer to one")
				}
				r.git = resolve(dir, to)
			}
			r.common = r.git
			if b, err := os.ReadFile(filepath.Join(r.git, "commondir")); err == nil {
				r.common = resolve(r.git, strings.TrimSpace(string(b)))
			}
			return r, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return repository{}, errors.New("no git repository")
		}
		dir = up
	}
}

func resolve(dir, to string) string {
	if filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(dir, to)
}

var objectID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// head follows HEAD to a commit.
func (r repository) head() (commit, branch string, err error) {
	b, err := os.ReadFile(filepath.Join(r.git, "HEAD"))
	if err != nil {
		return "", "", err
	}
	at := strings.TrimSpace(string(b))
	for range 10 {
		ref, symbolic := strings.CutPrefix(at, "ref: ")
		if !symbolic {
			if !objectID.MatchString(at) {
				return "", "", errors.New("HEAD leads to no commit")
			}
			return at, branch, nil
		}
		branch = strings.TrimPrefix(ref, "refs/heads/")
		if at, err = r.ref(ref); err != nil {
			return "", "", err
		}
	}
	return "", "", errors.New("HEAD leads in a circle")
}

func (r repository) ref(name string) (string, error) {
	for _, dir := range []string{r.git, r.common} {
		if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return strings.TrimSpace(string(b)), nil
		}
	}
	b, err := os.ReadFile(filepath.Join(r.common, "packed-refs"))
	if err != nil {
		return "", fmt.Errorf("%s: no commit yet", name)
	}
	for l := range strings.Lines(string(b)) {
		if id, ref, ok := strings.Cut(strings.TrimSpace(l), " "); ok && ref == name {
			return id, nil
		}
	}
	return "", fmt.Errorf("%s: no commit yet", name)
}

// changed counts the tracked files that differ from the commit. The error says
// why others may have been missed.
func (r repository) changed(commit string) (int, error) {
	if len(commit) != 40 {
		return 0, errors.New("repositories with SHA-256 are not read")
	}
	index, err := os.ReadFile(filepath.Join(r.git, "index"))
	if err != nil {
		return 0, err
	}
	entries, err := readIndex(index)
	if err != nil {
		return 0, err
	}
	n := 0
	tracked := map[string]bool{}
	for _, e := range entries {
		tracked[e.name] = true
		if r.differs(e) {
			n++
		}
	}
	n += r.untracked(tracked)
	if n > 0 {
		return n, nil
	}
	// Files are as in the index. Is the index as in the commit?
	want, err := r.treeOf(commit)
	switch {
	case err != nil:
		return 0, err
	case fmt.Sprintf("%x", treeID(entries, "")) != want:
		return 1, nil
	}
	return 0, nil
}

// untracked counts source files that the index does not know: they are part of the
// program all the same.
func (r repository) untracked(tracked map[string]bool) (n int) {
	filepath.WalkDir(r.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		name := d.Name()
		if d.IsDir() {
			_, nested := os.Lstat(filepath.Join(file, ".git"))
			if file != r.root && (nested == nil || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		source := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".s")
		if rel, err := filepath.Rel(r.root, file); err == nil && source && !tracked[filepath.ToSlash(rel)] {
			n++
		}
		return nil
	})
	return n
}

type indexEntry struct {
	name string
	mode uint32
	size uint32
	id   [20]byte
	skip bool // not expected in the working tree
}

// readIndex reads versions 2 to 4 of the index.
func readIndex(b []byte) (entries []indexEntry, err error) {
	short := errors.New("the index ends early")
	if len(b) < 32 || string(b[:4]) != "DIRC" {
		return nil, errors.New("the index has another form")
	}
	version := binary.BigEndian.Uint32(b[4:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("version %d of the index is not read", version)
	}
	count := binary.BigEndian.Uint32(b[8:])
	body := b[:len(b)-sha1.Size]
	at, last := 12, ""
	for range count {
		start := at
		if at+62 > len(body) {
			return nil, short
		}
		var e indexEntry
		e.mode = binary.BigEndian.Uint32(body[at+24:])
		e.size = binary.BigEndian.Uint32(body[at+36:])
		copy(e.id[:], body[at+40:])
		flags := binary.BigEndian.Uint16(body[at+60:])
		at += 62
		if flags&0x4000 != 0 && version >= 3 {
			if at+2 > len(body) {
				return nil, short
			}
			e.skip = binary.BigEndian.Uint16(body[at:])&0x4000 != 0
			at += 2
		}
		keep := 0
		if version == 4 { // names share their beginnings
			drop, n := offset(body[at:])
			if n == 0 || int(drop) > len(last) {
				return nil, short
			}
			at += n
			keep = len(last) - int(drop)
		}
		end := bytes.IndexByte(body[at:], 0)
		if end < 0 {
			return nil, short
		}
		e.name = last[:keep] + string(body[at:at+end])
		at += end + 1
		if version < 4 {
			for (at-start)%8 != 0 {
				at++
			}
		} else {
			last = e.name
		}
		if stage := flags >> 12 & 3; stage != 0 {
			return nil, errors.New("a merge is under way")
		}
		entries = append(entries, e)
	}
	for at+8 <= len(body) {
		name, size := string(body[at:at+4]), int(binary.BigEndian.Uint32(body[at+4:]))
		at += 8
		if size < 0 || at+size > len(body) {
			return nil, short
		}
		if name == "link" || name == "sdir" {
			return nil, errors.New("a split or sparse index is not read")
		}
		at += size
	}
	return entries, nil
}

// offset reads the number encoding that version 4 shares with packs.
func offset(b []byte) (n uint64, used int) {
	for i, c := range b {
		if i > 8 {
			break
		}
		if i > 0 {
			n++
		}
		n = n<<7 | uint64(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}

// treeID computes the name of the tree that index entries below a folder amount
// to. Entries come sorted by name, so those of a sub-folder are neighbours.
func treeID(entries []indexEntry, below string) [20]byte {
	type child struct {
		key  string // git sorts folders as if their names ended in a slash
		line []byte
	}
	var children []child
	for i := 0; i < len(entries); {
		rest := entries[i].name[len(below):]
		dir, _, isDir := strings.Cut(rest, "/")
		if !isDir {
			e := entries[i]
			line := fmt.Appendf(nil, "%o %s\x00%s", e.mode, rest, e.id[:])
			children = append(children, child{rest, line})
			i++
			continue
		}
		from, prefix := i, below+dir+"/"
		for i < len(entries) && strings.HasPrefix(entries[i].name, prefix) {
			i++
		}
		id := treeID(entries[from:i], prefix)
		children = append(children, child{dir + "/", fmt.Appendf(nil, "40000 %s\x00%s", dir, id[:])})
	}
	slices.SortFunc(children, func(a, b child) int { return strings.Compare(a.key, b.key) })
	var all []byte
	for _, c := range children {
		all = append(all, c.line...)
	}
	return object("tree", all)
}

// differs compares a file with what the index knows of it.
func (r repository) differs(e indexEntry) bool {
	if e.skip || e.mode&0o170000 == 0o160000 { // a submodule has its own state
		return false
	}
	file := filepath.Join(r.root, filepath.FromSlash(e.name))
	info, err := os.Lstat(file)
	if err != nil {
		return true
	}
	var content []byte
	if e.mode&0o170000 == 0o120000 {
		to, err := os.Readlink(file)
		if err != nil {
			return true
		}
		content = []byte(filepath.ToSlash(to))
	} else {
		if !info.Mode().IsRegular() {
			return true
		}
		if info.Size() != int64(e.size) && info.Size() < 1<<32 && !crlf(file, info.Size(), e.size) {
			return true
		}
		if content, err = os.ReadFile(file); err != nil {
			return true
		}
	}
	return blob(content) != e.id && blob(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))) != e.id
}

// crlf tells whether a file may be longer only because its line ends are.
func crlf(file string, size int64, want uint32) bool {
	if size < int64(want) {
		return false
	}
	b, err := os.ReadFile(file)
	return err == nil && size-int64(bytes.Count(b, []byte("\r\n"))) == int64(want)
}

func blob(content []byte) [20]byte { return object("blob", content) }

// object names an object as git does.
func object(kind string, content []byte) [20]byte {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return [20]byte(h.Sum(nil))
}

// treeOf returns the tree of a commit.
func (r repository) treeOf(commit string) (string, error) {
	b, err := r.read(commit)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(b), "\n")
	tree, ok := strings.CutPrefix(first, "tree ")
	if !ok || !objectID.MatchString(tree) {
		return "", errors.New("the commit names no tree")
	}
	return tree, nil
}

// read reads a commit, loose or packed. Commits packed as a difference to
// another one, which is rare, are not read.
func (r repository) read(id string) ([]byte, error) {
	if f, err := os.Open(filepath.Join(r.common, "objects", id[:2], id[2:])); err == nil {
		defer f.Close()
		z, err := zlib.NewReader(bufio.NewReader(f))
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(io.LimitReader(z, 1<<20))
		if err != nil {
			return nil, err
		}
		_, content, ok := bytes.Cut(b, []byte{0})
		if !ok {
			return nil, errors.New("the commit is damaged")
		}
		return content, nil
	}
	raw, err := hex.DecodeString(id)
	if err != nil {
		return nil, err
	}
	indexes, _ := filepath.Glob(filepath.Join(r.common, "objects", "pack", "*.idx"))
	for _, idx := range indexes {
		if at, ok := packOffset(idx, raw); ok {
			return packed(strings.TrimSuffix(idx, ".idx")+".pack", at)
		}
	}
	return nil, errors.New("the commit is not among this clone's objects")
}

// packOffset finds an object in a pack's index of version 2.
func packOffset(file string, id []byte) (int64, bool) {
	b, err := os.ReadFile(file)
	const head = 8 + 256*4
	if err != nil || len(b) < head || string(b[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return 0, false
	}
	n := int(binary.BigEndian.Uint32(b[head-4:]))
	if n < 0 || len(b) < head+n*28 {
		return 0, false
	}
	from := 0
	if id[0] > 0 {
		from = int(binary.BigEndian.Uint32(b[8+4*(int(id[0])-1):]))
	}
	to := int(binary.BigEndian.Uint32(b[8+4*int(id[0]):]))
	for i := from; i < min(to, n); i++ {
		if bytes.Equal(b[head+20*i:][:20], id) {
			at := binary.BigEndian.Uint32(b[head+24*n+4*i:])
			if at&0x80000000 == 0 {
				return int64(at), true
			}
			far := head + 28*n + 8*int(at&0x7fffffff)
			if far+8 > len(b) {
				return 0, false
			}
			return int64(binary.BigEndian.Uint64(b[far:])), true
		}
	}
	return 0, false
}

func packed(file string, at int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return nil, err
	}
	in := bufio.NewReader(f)
	c, err := in.ReadByte()
	if err != nil {
		return nil, err
	}
	kind := c >> 4 & 7
	for c&0x80 != 0 { // the size, which zlib knows as well
		if c, err = in.ReadByte(); err != nil {
			return nil, err
		}
	}
	if kind != 1 {
		return nil, errors.New("the commit is packed as a difference, which is not read")
	}
	z, err := zlib.NewReader(in)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, 1<<20))
}
