package toml

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Limits of a file: no experiment comes near them, and nothing that keeps within them
// takes long to read.
const (
	MaxSize  = 1 << 20 // bytes
	maxDepth = 32      // tables and lists in each other
	maxKeys  = 10_000  // keys and headers
)

// Parse reads a document. The node is nil if the text is not TOML.
func Parse(file, text string) (*Node, Faults) {
	if len(text) > MaxSize {
		return nil, Faults{TooLarge(file)}
	}
	p := &parser{src: &Source{file, text}}
	p.root = &Node{Table: map[string]*Node{}, Source: p.src}
	if fault, ok := p.parse(); !ok {
		return nil, Faults{fault}
	}
	// Keys that are given twice, tables that are defined twice, numbers out of range.
	var any map[string]any
	if err := toml.Unmarshal([]byte(text), &any); err != nil {
		return nil, Faults{p.invalid(err)}
	}
	return p.root, nil
}

// TooLarge is the fault of a file of more than MaxSize bytes.
func TooLarge(file string) Fault {
	return Fault{File: file, Message: fmt.Sprintf("the file is larger than %d kB", MaxSize/1000), Hint: "results and data belong elsewhere; an experiment is a page of text"}
}

type parser struct {
	unstable.Parser
	src   *Source
	root  *Node
	table *Node // that keys go to
	depth int   // of table
	keys  int   // so far
}

// parse makes the tree. It makes one of invalid documents, too, whose keys collide.
func (p *parser) parse() (Fault, bool) {
	p.Reset([]byte(p.src.Text))
	p.table = p.root
	for p.NextExpression() {
		e := p.Expression()
		ok := true
		switch e.Kind {
		case unstable.KeyValue:
			ok = p.pair(p.table, e, p.depth)
		case unstable.Table, unstable.ArrayTable:
			ok = p.header(e)
		}
		message := ""
		switch {
		case !ok:
			message = fmt.Sprintf("tables and lists lie in each other more than %d deep", maxDepth)
		case p.keys > maxKeys:
			message = fmt.Sprintf("the file has more than %d keys", maxKeys)
		default:
			continue
		}
		at := e.Key()
		at.Next()
		r := at.Node().Raw
		return p.src.fault(int(r.Offset), int(r.Offset+r.Length), message, ""), false
	}
	var bad *unstable.ParserError
	if errors.As(p.Error(), &bad) {
		r := p.Range(bad.Highlight)
		return p.src.fault(int(r.Offset), int(r.Offset+max(1, r.Length)), bad.Message, ""), false
	}
	return Fault{}, true
}

// invalid returns the fault of a document that no tree stands for.
func (p *parser) invalid(err error) Fault {
	var bad *toml.DecodeError
	if !errors.As(err, &bad) {
		return Fault{File: p.src.File, Message: err.Error()}
	}
	line, col := bad.Position()
	from := 0
	for range line - 1 {
		from += 1 + strings.IndexByte(p.src.Text[from:], '\n')
	}
	from += col - 1
	end := from + strings.IndexAny(p.src.Text[from:]+"\n", " \t\r\n=],}")
	return p.src.fault(from, max(from+1, end), strings.TrimPrefix(bad.Error(), "toml: "), "")
}

// header opens [table] or [[table]].
func (p *parser) header(e *unstable.Node) bool {
	at := p.root
	p.depth = 0
	p.keys++
	for keys := e.Key(); keys.Next(); {
		list := e.Kind == unstable.ArrayTable && keys.IsLast()
		at = p.child(at, keys.Node(), list)
		if p.depth++; p.depth > maxDepth {
			return false
		}
	}
	p.table = at
	return true
}

// child returns the table under a key, the last one if there is a list of them, and
// makes it if need be; another element, if list is set.
func (p *parser) child(at *Node, key *unstable.Node, list bool) *Node {
	name := string(key.Data)
	from := int(key.Raw.Offset)
	to := from + int(key.Raw.Length)
	fresh := func() *Node {
		return &Node{Table: map[string]*Node{}, Source: p.src, span: span{from, to, from, to}}
	}
	old := at.Table[name]
	if list {
		one := fresh()
		if old == nil || old.List == nil {
			all := fresh()
			all.Table, all.List = nil, []*Node{one}
			at.Set(name, all)
		} else {
			old.List = append(old.List, one)
		}
		return one
	}
	if old != nil && len(old.List) > 0 {
		old = old.List[len(old.List)-1]
	}
	if old == nil || old.Table == nil {
		old = fresh()
		at.Set(name, old)
	}
	return old
}

// pair reads key = value into a table.
func (p *parser) pair(at *Node, e *unstable.Node, depth int) bool {
	keys := e.Key()
	for keys.Next() && !keys.IsLast() {
		at = p.child(at, keys.Node(), false)
		if depth++; depth > maxDepth {
			return false
		}
	}
	p.keys++
	last := keys.Node()
	keyEnd := int(last.Raw.Offset + last.Raw.Length)
	// The parser does not say where lists and tables begin.
	from := keyEnd + strings.IndexByte(p.src.Text[keyEnd:], '=') + 1
	from += len(p.src.Text[from:]) - len(strings.TrimLeft(p.src.Text[from:], " \t"))
	n, ok := p.value(e.Value(), from, int(e.Raw.Offset+e.Raw.Length), depth+1)
	n.key, n.keyEnd = int(last.Raw.Offset), keyEnd
	at.Set(string(last.Data), n)
	return ok
}

// value reads the value in bytes [from, to).
func (p *parser) value(e *unstable.Node, from, to, depth int) (*Node, bool) {
	n := &Node{Source: p.src, span: span{from, to, from, to}}
	if depth > maxDepth {
		return n, false
	}
	switch e.Kind {
	case unstable.Array:
		for all := e.Children(); all.Next(); {
			one := all.Node()
			oneFrom, oneTo := from, to // where the parser does not say, the list is meant
			if one.Raw.Length > 0 && one.Kind != unstable.InlineTable {
				oneFrom, oneTo = int(one.Raw.Offset), int(one.Raw.Offset+one.Raw.Length)
			}
			x, ok := p.value(one, oneFrom, oneTo, depth+1)
			if !ok {
				return n, false
			}
			n.List = append(n.List, x)
		}
	case unstable.InlineTable:
		n.Table = map[string]*Node{}
		for all := e.Children(); all.Next(); {
			if !p.pair(n, all.Node(), depth) {
				return n, false
			}
		}
	default:
		n.Value = scalar(e)
	}
	return n, true
}

// scalar returns a string, a number, a boolean or a date. Of numbers out of range,
// which make a document invalid, it returns anything.
func scalar(e *unstable.Node) any {
	text := string(e.Data)
	digits := strings.ReplaceAll(text, "_", "")
	switch e.Kind {
	case unstable.String:
		return text
	case unstable.Bool:
		return text == "true"
	case unstable.Float:
		f, _ := strconv.ParseFloat(digits, 64)
		return f
	case unstable.Integer:
		i, _ := strconv.ParseInt(digits, 0, 64)
		return i
	}
	return Date(text)
}
