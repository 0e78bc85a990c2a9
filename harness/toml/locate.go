package toml

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The tokens of a document. The TOML package checks numbers, dates and escapes.
var (
	blanks   = regexp.MustCompile(`^[ \t]*`)
	lines    = regexp.MustCompile(`^(?:[ \t]|\r?\n|#[^\n]*)*`)
	lineEnd  = regexp.MustCompile(`^(?:$|\r?\n|#)`)
	name     = regexp.MustCompile(`^(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
	scalar   = regexp.MustCompile(`^(?:"""(?s:[^\\]|\\.)*?"{3,5}|'''(?s:.)*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^,\]}\n\r#]*)`)
	anything = regexp.MustCompile(`^(?:\r\n|(?s:.))`)
)

// locator builds a tree of nodes with positions, which the TOML package does not report, but without
// values. The locator's methods return false if they cannot continue.
type locator struct {
	src   *Source
	pos   int
	root  *Node
	table *Node  // the current table
	depth int    // depth of table
	names int    // names in keys so far
	last  span   // position of the last key, or of its first name
	fault *Fault // a mistake other than a syntax error
	open  int    // start of the innermost list that is not closed, or -1
}

// locate returns the tree, or the first fault. Bytes [0, sound) end before or at the fault, and are within
// the limits on depth and keys. open is the start of a list that is not closed, or -1.
func locate(src *Source) (root *Node, sound, open int, fault *Fault) {
	root = &Node{Table: map[string]*Node{}, Source: src}
	l := &locator{src: src, root: root, table: root, open: -1}
	for l.take(lines); l.rest() != ""; l.take(lines) {
		start := l.pos
		ok := false
		if l.has("[") {
			ok = l.header()
		} else {
			ok = l.pair(l.table, l.depth)
		}
		if l.fault != nil {
			return nil, start, -1, l.fault
		}
		l.take(blanks)
		if !ok || !lineEnd.MatchString(l.rest()) {
			f := src.fault(l.pos, l.pos+1, "this is not TOML", "")
			l.take(anything) // so that the TOML package sees the error
			return nil, l.pos, l.open, &f
		}
	}
	return root, l.pos, -1, nil
}

func (l *locator) rest() string { return l.src.Text[l.pos:] }

func (l *locator) has(s string) bool { return strings.HasPrefix(l.rest(), s) }

// eat moves past s if it comes next.
func (l *locator) eat(s string) bool {
	ok := l.has(s)
	if ok {
		l.pos += len(s)
	}
	return ok
}

// take moves past a token if it comes next, and returns it.
func (l *locator) take(token *regexp.Regexp) string {
	s := token.FindString(l.rest())
	l.pos += len(s)
	return s
}

func (l *locator) refuse(at span, format string, args ...any) bool {
	f := l.src.fault(at.key, at.keyEnd, fmt.Sprintf(format, args...), "")
	l.fault = &f
	return false
}

func (l *locator) notTooDeep(depth int) bool {
	return depth <= maxDepth || l.refuse(l.last, "tables and lists are nested more than %d deep", maxDepth)
}

// part is a name in a dotted key.
type part struct {
	name string
	span
}

// escapes converts TOML escapes that Go lacks.
var escapes = strings.NewReplacer(`\\`, `\\`, `\e`, `\u001b`, `\x`, `\u00`)

// key reads a key, dotted or not, in a table at the given depth.
func (l *locator) key(depth int) (parts []part, ok bool) {
	for {
		l.take(blanks)
		from := l.pos
		s := l.take(name)
		if s == "" {
			return nil, false
		}
		at := span{from, l.pos, from, l.pos}
		if len(parts) == 0 {
			l.last = at
		}
		l.names++
		switch {
		case !l.notTooDeep(depth + len(parts) + 1):
			return nil, false
		case l.names > maxKeys:
			return nil, l.refuse(l.last, "the file has more than %d keys", maxKeys)
		case s[0] == '"':
			s, _ = strconv.Unquote(escapes.Replace(s)) // the TOML package reports invalid escapes
		case s[0] == '\'':
			s = s[1 : len(s)-1]
		}
		parts = append(parts, part{s, at})
		l.take(blanks)
		if !l.eat(".") {
			return parts, true
		}
	}
}

// origin is the way a node was defined. It decides what may extend the node.
type origin int

const (
	implied origin = iota // by the header of a table inside it
	headed                // by its own header
	listed                // by headers in [[ ]]
	dotted                // by a dotted key
	written               // by a value
)

// header opens [table] or [[table]].
func (l *locator) header() bool {
	how, end := headed, "]"
	if l.eat("[[") {
		how, end = listed, "]]"
	} else {
		l.eat("[")
	}
	parts, ok := l.key(0)
	if !ok || !l.eat(end) {
		return false
	}
	at := l.root
	for i, p := range parts {
		want := implied
		if i == len(parts)-1 {
			want = how
		}
		if at = l.child(at, p, want); at == nil {
			return false
		}
	}
	l.table, l.depth = at, len(parts)
	return true
}

// child returns the table under a key, or the last table of a list. It creates the table, or a new element
// of the list, if needed. It returns nil after reporting a key that is already defined.
func (l *locator) child(at *Node, p part, want origin) *Node {
	old := at.Table[p.name]
	table := &Node{Table: map[string]*Node{}, Source: l.src, span: p.span, origin: want}
	switch {
	case old == nil && want == listed:
		at.Set(p.name, &Node{List: []*Node{table}, Source: l.src, span: p.span, origin: want})
		return table
	case old == nil:
		at.Set(p.name, table)
		return table
	case want == listed && old.origin == listed:
		old.List = append(old.List, table)
		return table
	case want == implied && old.origin == listed:
		return old.List[len(old.List)-1]
	case want == headed && old.origin == implied:
		old.origin = headed
		return old
	case want == implied && old.origin != written, want == dotted && old.origin == dotted:
		return old
	}
	l.twice(p)
	return nil
}

func (l *locator) twice(p part) bool {
	return l.refuse(p.span, "key %s is already defined", p.name)
}

// pair reads key = value into a table.
func (l *locator) pair(at *Node, depth int) bool {
	parts, ok := l.key(depth)
	if !ok || !l.eat("=") {
		return false
	}
	p := parts[len(parts)-1]
	for _, q := range parts[:len(parts)-1] {
		if at = l.child(at, q, dotted); at == nil {
			return false
		}
	}
	if at.Table[p.name] != nil {
		return l.twice(p)
	}
	n := &Node{Source: l.src, origin: written}
	at.Set(p.name, n)
	l.take(blanks)
	ok = l.value(n, depth+len(parts))
	n.key, n.keyEnd = p.key, p.keyEnd
	return ok
}

// value reads the value of a node.
func (l *locator) value(n *Node, depth int) bool {
	from, ok := l.pos, true
	switch {
	case l.eat("["):
		ok = l.items("]", func() bool {
			x := &Node{Source: l.src}
			n.List = append(n.List, x)
			return l.notTooDeep(depth+1) && l.value(x, depth+1)
		})
		if !ok && l.open < 0 {
			l.open = from
		}
	case l.eat("{"):
		n.Table = map[string]*Node{}
		ok = l.items("}", func() bool { return l.pair(n, depth) })
	default:
		l.pos += len(strings.TrimRight(scalar.FindString(l.rest()), " \t"))
	}
	n.span = span{from, l.pos, from, l.pos}
	return ok
}

// items reads comma-separated items up to end.
func (l *locator) items(end string, one func() bool) bool {
	for l.take(lines); !l.eat(end); l.take(lines) {
		if !one() {
			return false
		}
		if l.take(lines); !l.eat(",") && !l.has(end) {
			return false
		}
	}
	return true
}
