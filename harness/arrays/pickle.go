package arrays

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"dgkip/harness/npz"
)

// maxPickle bounds a pickle, in bytes, and with it the values that it makes: every
// instruction makes one at most.
const maxPickle = 1 << 20

// A pickle is a program for a stack machine, which in Python may call any function.
// unpickler carries out those instructions that torch.save writes, and knows the few
// names in known: nothing else can happen.
//
// Its values are nil, bool, int64, float64, string, tuple, *list, *dict, global,
// storage, *tensor and mark.
type unpickler struct {
	in    []byte
	stack []any
	memo  map[uint32]any
}

type (
	mark   struct{} // where a list of arguments starts
	tuple  []any
	list   struct{ items []any }
	dict   struct{ keys, values []any }
	global string // a module, a blank and a name in it
)

// storage is where a tensor has its values: an entry of the archive.
type storage struct {
	kind string // as in npz.Array, or bf for bfloat16
	key  string
}

// tensor is a view of a storage.
type tensor struct {
	storage
	offset        int
	shape, stride []int
}

var storageKinds = map[global]string{
	"torch FloatStorage": "f4", "torch DoubleStorage": "f8", "torch HalfStorage": "f2", "torch BFloat16Storage": "bf",
	"torch LongStorage": "i8", "torch IntStorage": "i4", "torch ShortStorage": "i2", "torch CharStorage": "i1",
	"torch ByteStorage": "u1", "torch BoolStorage": "b1",
}

// known are the functions that a pickle may call, and what comes out. DC keeps accuracies
// as numbers of numpy, which no set needs.
var known = map[global]func(args tuple) any{
	"torch._utils _rebuild_tensor_v2": rebuildTensor,
	"torch._utils _rebuild_parameter": func(args tuple) any { return args[0] },
	"collections OrderedDict":         func(tuple) any { return new(dict) },
	"torch Size":                      nothing,
	"numpy dtype":                     nothing,
	"numpy.core.multiarray scalar":    nothing,
	"numpy._core.multiarray scalar":   nothing,
	"_codecs encode":                  nothing,
}

func nothing(tuple) any { return nil }

// fault is an error that ends the reading of a pickle.
type fault struct{ error }

func fail(kind error, format string, args ...any) {
	panic(fault{fmt.Errorf("%w: the pickle "+format, append([]any{kind}, args...)...)})
}

// unpickle returns the value that a pickle describes.
func unpickle(in []byte) (v any, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fault:
			err = r.error
		case runtime.Error: // it takes what is not there, or for another kind than it is
			err = fmt.Errorf("%w: the pickle makes no sense, or ends early", npz.ErrCorrupt)
		default:
			panic(r)
		}
	}()
	u := &unpickler{in: in, memo: map[uint32]any{}}
	for {
		op := u.take(1)[0]
		if op == '.' {
			return u.pop(), nil
		}
		u.step(op)
	}
}

// take takes n bytes.
func (u *unpickler) take(n int) []byte {
	b := u.in[:n]
	u.in = u.in[n:]
	return b
}

// number takes an integer of n bytes, the low one first.
func (u *unpickler) number(n int) (x uint32) {
	for i, v := range u.take(n) {
		x |= uint32(v) << (8 * i)
	}
	return x
}

// line takes a text that ends with a line break.
func (u *unpickler) line() string {
	line := u.take(bytes.IndexByte(u.in, '\n') + 1)
	return string(line[:len(line)-1])
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

func (u *unpickler) top() any { return u.stack[len(u.stack)-1] }

func (u *unpickler) pop() any { return u.pops(1)[0] }

// pops takes the last n values, which the next push may overwrite.
func (u *unpickler) pops(n int) []any {
	v := u.stack[len(u.stack)-n:]
	u.stack = u.stack[:len(u.stack)-n]
	return v
}

// sinceMark takes the values above the last mark, and the mark.
func (u *unpickler) sinceMark() []any {
	n := 0
	for u.stack[len(u.stack)-1-n] != any(mark{}) {
		n++
	}
	v := u.pops(n)
	u.pop()
	return v
}

// step carries out an instruction.
func (u *unpickler) step(op byte) {
	switch op {
	case 0x80:
		if version := u.take(1)[0]; version != 2 {
			fail(npz.ErrFormat, "is of protocol %d\nhint: torch.save writes protocol 2 unless it is told otherwise", version)
		}
	case '(':
		u.push(mark{})
	case '}':
		u.push(new(dict))
	case ']':
		u.push(new(list))
	case ')':
		u.push(tuple{})
	case 'N':
		u.push(nil)
	case 0x88, 0x89:
		u.push(op == 0x88)
	case 'K':
		u.push(int64(u.number(1)))
	case 'M':
		u.push(int64(u.number(2)))
	case 'J':
		u.push(int64(int32(u.number(4))))
	case 'G':
		u.push(math.Float64frombits(binary.BigEndian.Uint64(u.take(8))))
	case 0x8a:
		u.push(long(u.take(int(u.number(1)))))
	case 'X', 'T':
		u.push(string(u.take(int(u.number(4)))))
	case 'U':
		u.push(string(u.take(int(u.number(1)))))
	case 'q':
		u.memo[u.number(1)] = u.top()
	case 'r':
		u.memo[u.number(4)] = u.top()
	case 'h':
		u.push(u.memo[u.number(1)])
	case 'j':
		u.push(u.memo[u.number(4)])
	case 't':
		u.push(tuple(slices.Clone(u.sinceMark())))
	case 0x85, 0x86, 0x87:
		u.push(tuple(slices.Clone(u.pops(int(op - 0x84)))))
	case 'a':
		u.extend(u.pops(1))
	case 'e':
		u.extend(u.sinceMark())
	case 's':
		u.set(u.pops(2))
	case 'u':
		u.set(u.sinceMark())
	case 'c':
		u.name(global(u.line() + " " + u.line()))
	case 'Q':
		// ('storage', torch.FloatStorage, '0', 'cpu', 24)
		t := u.pop().(tuple)
		u.push(storage{storageKinds[t[1].(global)], t[2].(string)})
	case 'R':
		u.call(u.pops(2))
	case 'b': // the state of an OrderedDict or of a type of numpy, which no set needs
		u.pop()
	default:
		fail(npz.ErrFormat, "has the instruction 0x%02x, which no set needs", op)
	}
}

// long returns an integer of any length, nil if no computer counts so far.
func long(b []byte) any {
	n := len(b)
	if n > 8 {
		return nil
	}
	var x int64
	for i, v := range b {
		x |= int64(v) << (8 * i)
	}
	if n > 0 { // the sign is that of the last byte
		x = x << (64 - 8*n) >> (64 - 8*n)
	}
	return x
}

// extend appends values to the list below them.
func (u *unpickler) extend(v []any) {
	l := u.top().(*list)
	l.items = append(l.items, v...)
}

// set sets entries of the dictionary below them.
func (u *unpickler) set(v []any) {
	d := u.top().(*dict)
	for i := 0; i < len(v); i += 2 {
		d.keys, d.values = append(d.keys, v[i]), append(d.values, v[i+1])
	}
}

// call is for what in Python would run code.
func (u *unpickler) call(v []any) {
	name, args := v[0].(global), v[1].(tuple)
	if known[name] == nil {
		fail(npz.ErrFormat, "calls %s, which is no function of a set", dotted(name))
	}
	u.push(known[name](args))
}

// name pushes the name of a class or a function.
func (u *unpickler) name(g global) {
	if known[g] == nil && storageKinds[g] == "" {
		fail(npz.ErrFormat, "asks for %.80q, and nothing but tensors, lists, dictionaries, numbers and texts is read\nhint: torch.save({\"images\": images, \"labels\": labels}, FILE) writes no more than that, if both are tensors, as torch.as_tensor makes of arrays", dotted(g))
	}
	u.push(g)
}

// dotted is a name as Python writes it.
func dotted(g global) string { return strings.Replace(string(g), " ", ".", 1) }

// rebuildTensor reads (storage, offset, shape, strides, ...).
func rebuildTensor(args tuple) any {
	t := &tensor{args[0].(storage), int(args[1].(int64)), ints(args[2]), ints(args[3])}
	if t.kind == "" || t.offset < 0 || len(t.shape) != len(t.stride) || slices.ContainsFunc(slices.Concat(t.shape, t.stride), func(n int) bool { return n < 0 }) {
		fail(npz.ErrCorrupt, "describes an invalid tensor")
	}
	return t
}

func ints(v any) (out []int) {
	for _, x := range v.(tuple) {
		out = append(out, int(x.(int64)))
	}
	return out
}
