package toml

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Limits of a file. Experiments are far below them, and files within them are read quickly.
const (
	MaxSize  = 1 << 20 // bytes
	maxDepth = 32      // nested tables and lists
	maxKeys  = 10_000  // names in keys and headers; a.b counts as two
)

// Parse reads a document. The node is nil if there are faults.
func Parse(file, text string) (*Node, Faults) {
	if len(text) > MaxSize {
		return nil, Faults{{File: file, Message: fmt.Sprintf("the file is larger than %d kB", MaxSize/1000), Hint: "keep results and data in other files"}}
	}
	src := &Source{file, strings.TrimPrefix(text, "\ufeff")} // a mark that some editors write
	root, sound, open, fault := locate(src)
	// The TOML package only gets the part within the limits. It has no nesting limit, so
	// deep nesting would overflow the stack.
	var doc map[string]any
	if _, err := toml.Decode(src.Text[:sound], &doc); err != nil {
		return nil, Faults{src.invalid(err, open)}
	}
	if fault != nil {
		return nil, Faults{*fault}
	}
	root.fill(doc)
	return root, nil
}

// invalid returns the fault of a text that is not TOML. The hint names a list that is not closed, because
// the error only appears after it.
func (s *Source) invalid(err error, open int) Fault {
	var bad toml.ParseError
	if !errors.As(err, &bad) {
		return Fault{File: s.File, Message: err.Error()}
	}
	from := max(0, bad.Position.Start)
	to := min(from+max(1, bad.Position.Len), len(s.Text))
	from = to - len(strings.TrimLeft(s.Text[from:to], " \t"))
	hint := ""
	if line := 1 + strings.Count(s.Text[:max(0, open)], "\n"); open >= 0 && line < bad.Position.Line {
		hint = fmt.Sprintf("the list that begins in line %d is not closed, or lacks a comma", line)
	}
	return s.fault(from, to, bad.Message, hint)
}

// fill adds the values of a document to its tree.
func (n *Node) fill(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range n.Table {
			x.fill(v[k])
		}
	case []map[string]any:
		for i, x := range n.List[:min(len(n.List), len(v))] { // the package drops some elements of a list under an empty key
			x.fill(v[i])
		}
	case []any:
		for i, x := range n.List {
			x.fill(v[i])
		}
	case time.Time:
		n.Value = Date(n.Source.Text[n.val:n.valEnd])
	default:
		n.Value = v
	}
}
