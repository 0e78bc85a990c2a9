package spec

import (
	"regexp"
	"strconv"
	"strings"
)

// span is where a key and its value stand, in bytes. Tables that are only implied
// by others have the key of the first header that names them.
type span struct{ key, keyEnd, val, valEnd int }

// place names a node of a TOML document: the keys from the root, those of list
// elements being "#" and their index, joined by a character no key may hold.
type place string

const pathSep = "\x00"

func (p place) at(key string) place { return p + pathSep + place(key) }
func (p place) index(i int) place   { return p + pathSep + "#" + place(strconv.Itoa(i)) }

// locator finds where the keys and values of a TOML document stand, which the
// parser does not tell. It expects a document that the parser has accepted; given
// anything else it still ends and stays within the text. On its way it finds what
// TOML 1.1 allows and 1.0 does not.
type locator struct {
	text  string
	pos   int
	spans map[place]span
	count map[place]int // elements of arrays of tables
	newer []newer
	depth int
}

// newer is a construct that TOML 1.0 lacks.
type newer struct {
	from, to int
	what     string
}

func locate(text string) *locator {
	l := &locator{text: text, spans: map[place]span{}, count: map[place]int{}}
	var table place
	for {
		l.blank(true)
		if l.pos >= len(l.text) {
			return l
		}
		before := l.pos
		if l.peek() == '[' {
			table = l.header()
		} else {
			l.pair(table)
		}
		if l.pos == before { // not TOML
			l.pos++
		}
	}
}

func (l *locator) peek() byte {
	if l.pos < len(l.text) {
		return l.text[l.pos]
	}
	return 0
}

func (l *locator) has(s string) bool { return strings.HasPrefix(l.text[l.pos:], s) }

// blank skips spaces, and newlines and comments if lines is set.
func (l *locator) blank(lines bool) {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == ' ' || c == '\t':
		case lines && (c == '\n' || c == '\r'):
		case lines && c == '#':
			for l.pos < len(l.text) && l.text[l.pos] != '\n' {
				l.pos++
			}
			continue
		default:
			return
		}
		l.pos++
	}
}

// part is a component of a dotted key.
type part struct {
	name     string
	from, to int
}

// key reads a key, dotted or not.
func (l *locator) key() []part {
	var parts []part
	for {
		l.blank(false)
		from := l.pos
		var name string
		switch c := l.peek(); c {
		case '"', '\'':
			name = l.str()
		default:
			for l.pos < len(l.text) && bareKey(l.text[l.pos]) {
				l.pos++
			}
			name = l.text[from:l.pos]
		}
		parts = append(parts, part{name, from, l.pos})
		l.blank(false)
		if l.peek() != '.' {
			return parts
		}
		l.pos++
	}
}

func bareKey(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// header reads [table] or [[table]] and returns the place it opens.
func (l *locator) header() place {
	list := l.has("[[")
	l.pos++
	if list {
		l.pos++
	}
	parts := l.key()
	var at place
	for i, p := range parts {
		at = at.at(p.name)
		last := i == len(parts)-1
		if last && list {
			l.note(at, p)
			l.count[at]++
		}
		if n := l.count[at]; n > 0 {
			at = at.index(n - 1)
		}
		l.note(at, p)
	}
	for l.peek() == ']' {
		l.pos++
	}
	return at
}

// note records where a table's key stands, unless it is known.
func (l *locator) note(at place, p part) {
	if _, known := l.spans[at]; !known {
		l.spans[at] = span{p.from, p.to, p.from, p.to}
	}
}

// pair reads key = value.
func (l *locator) pair(table place) {
	parts := l.key()
	at := table
	for _, p := range parts {
		at = at.at(p.name)
		l.note(at, p)
	}
	l.blank(false)
	if l.peek() != '=' {
		return
	}
	l.pos++
	l.blank(false)
	last := parts[len(parts)-1]
	from := l.pos
	l.value(at)
	l.spans[at] = span{last.from, last.to, from, l.pos}
}

var noSeconds = regexp.MustCompile(`(^|[Tt ])\d\d:\d\d($|[Zz+-])`)

// value reads a value and records the places of what is in it.
func (l *locator) value(at place) {
	if l.depth++; l.depth > 1000 {
		l.pos = len(l.text)
	}
	defer func() { l.depth-- }()
	from := l.pos
	switch l.peek() {
	case '"', '\'':
		l.str()
	case '[':
		l.pos++
		for i := 0; ; i++ {
			l.blank(true)
			if c := l.peek(); c == ']' || c == 0 {
				break
			}
			start := l.pos
			l.value(at.index(i))
			l.spans[at.index(i)] = span{start, l.pos, start, l.pos}
			l.blank(true)
			if l.peek() != ',' {
				break
			}
			l.pos++
		}
		if l.peek() == ']' {
			l.pos++
		}
	case '{':
		l.inline(at)
	default:
		for l.pos < len(l.text) && !strings.ContainsRune(",]}\n\r#", rune(l.text[l.pos])) {
			l.pos++
		}
		bare := strings.TrimRight(l.text[from:l.pos], " \t")
		l.pos = from + len(bare)
		if noSeconds.MatchString(bare) {
			l.newer = append(l.newer, newer{from, l.pos, "a time without seconds"})
		}
	}
}

// inline reads an inline table.
func (l *locator) inline(at place) {
	l.pos++
	comma := -1
	for {
		gap := l.pos
		l.blank(true)
		if strings.Contains(l.text[gap:l.pos], "\n") {
			l.newer = append(l.newer, newer{gap, gap, "a line break inside { }"})
		}
		if c := l.peek(); c == '}' || c == 0 {
			if comma >= 0 && c == '}' {
				l.newer = append(l.newer, newer{comma, comma + 1, "a comma before }"})
			}
			break
		}
		before := l.pos
		l.pair(at)
		gap = l.pos
		l.blank(true)
		if strings.Contains(l.text[gap:l.pos], "\n") {
			l.newer = append(l.newer, newer{gap, gap, "a line break inside { }"})
		}
		if l.peek() != ',' {
			if l.pos == before || l.peek() != '}' {
				break
			}
			comma = -1
			continue
		}
		comma = l.pos
		l.pos++
	}
	if l.peek() == '}' {
		l.pos++
	}
}

// str reads a string of any of the four kinds and returns its text, of which
// escapes are undone as far as keys need them.
func (l *locator) str() string {
	quote := l.text[l.pos : l.pos+1]
	if long := strings.Repeat(quote, 3); l.has(long) {
		l.pos += 3
		from := l.pos
		for l.pos < len(l.text) && !l.has(long) {
			l.escape(quote)
		}
		to := l.pos
		for i := 0; i < 5 && l.peek() == quote[0]; i++ { // up to two may belong to the text
			l.pos++
		}
		return l.text[from:to]
	}
	from := l.pos
	l.pos++
	for l.pos < len(l.text) && !l.has(quote) && l.peek() != '\n' {
		l.escape(quote)
	}
	if l.has(quote) {
		l.pos++
	}
	s := l.text[from:l.pos]
	if quote == `"` {
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
	}
	return strings.Trim(s, quote)
}

// escape moves past a character of a string, or past an escaped one.
func (l *locator) escape(quote string) {
	if quote == `"` && l.peek() == '\\' && l.pos+1 < len(l.text) {
		if c := l.text[l.pos+1]; c == 'e' || c == 'x' {
			l.newer = append(l.newer, newer{l.pos, l.pos + 2, `the escape \` + string(c)})
		}
		l.pos++
	}
	l.pos++
}
