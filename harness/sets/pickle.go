package sets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
)

// maxPickle limits the bytes of a pickle, and therefore the number of values: every instruction
// makes at most one.
const maxPickle = 1 << 20

// unpickler executes a pickle, a program for a stack machine. In Python, a pickle may call any
// function. The unpickler only knows the instructions that torch.save writes, and only calls the
// functions in known.
//
// Its values are nil, bool, int64, float64, string, *list, global, storage, *tensor and mark.
type unpickler struct {
	in    []byte
	stack []any
	memo  map[uint32]any
}

type (
	mark struct{} // the start of a list of arguments
	list struct { // a list, a tuple, or a dictionary: a key, its value, the next key
		items []any
		dict  bool
	}
	global string // a name with its module, as in torch.Size
)

// storage is the entry of the archive that holds a tensor's values.
type storage struct {
	kind string // as in Array, or bf2 for bfloat16
	key  string
}

// tensor is a view of a storage.
type tensor struct {
	storage
	offset        int
	shape, stride []int
}

var storageKinds = map[global]string{
	"torch.FloatStorage": "f4", "torch.DoubleStorage": "f8", "torch.HalfStorage": "f2", "torch.BFloat16Storage": "bf2",
	"torch.LongStorage": "i8", "torch.IntStorage": "i4", "torch.ShortStorage": "i2", "torch.CharStorage": "i1",
	"torch.ByteStorage": "u1", "torch.BoolStorage": "b1",
}

// known lists the functions that a pickle may call. Numbers of numpy, which DC stores as
// accuracies, become nil.
var known = map[global]func(args []any) any{
	"torch._utils._rebuild_tensor_v2": rebuildTensor,
	"torch._utils._rebuild_parameter": func(args []any) any { return args[0] },
	"collections.OrderedDict":         func([]any) any { return &list{dict: true} },
	"torch.Size":                      ignore,
	"numpy.dtype":                     ignore,
	"numpy.core.multiarray.scalar":    ignore,
	"numpy._core.multiarray.scalar":   ignore,
	"_codecs.encode":                  ignore,
}

func ignore([]any) any { return nil }

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
		case runtime.Error: // an index out of range, or a value of another type
			err = fmt.Errorf("%w: the pickle makes no sense, or ends early", ErrCorrupt)
		default:
			panic(r)
		}
	}()
	u := &unpickler{in: in, memo: map[uint32]any{}}
	for {
		op := u.take(1)[0]
		if op == '.' {
			return u.pop(1)[0], nil
		}
		u.step(op)
	}
}

// take takes n bytes of the program.
func (u *unpickler) take(n int) []byte {
	b := u.in[:n]
	u.in = u.in[n:]
	return b
}

// number takes an integer of n bytes, the low byte first.
func (u *unpickler) number(n int) (x uint32) {
	for i, v := range u.take(n) {
		x |= uint32(v) << (8 * i)
	}
	return x
}

// line takes a text that ends with a line break.
func (u *unpickler) line() string {
	line, rest, _ := bytes.Cut(u.in, []byte("\n"))
	u.in = rest
	return string(line)
}

func (u *unpickler) push(v any) { u.stack = append(u.stack, v) }

func (u *unpickler) top() any { return u.stack[len(u.stack)-1] }

// pop takes the last n values.
func (u *unpickler) pop(n int) []any {
	v := slices.Clone(u.stack[len(u.stack)-n:])
	u.stack = u.stack[:len(u.stack)-n]
	return v
}

// popMark takes the values above the last mark, and the mark.
func (u *unpickler) popMark() []any {
	n := 0
	for u.stack[len(u.stack)-1-n] != any(mark{}) {
		n++
	}
	return u.pop(n + 1)[1:]
}

// operand is the size of the number that follows an instruction.
var operand = map[byte]int{0x80: 1, 'K': 1, 'M': 2, 'J': 4, 0x8a: 1, 'X': 4, 'T': 4, 'U': 1, 'q': 1, 'r': 4, 'h': 1, 'j': 4}

// step executes an instruction.
func (u *unpickler) step(op byte) {
	n := u.number(operand[op])
	switch op {
	case 0x80:
		if n != 2 {
			fail(ErrFormat, "has protocol %d\nhint: leave out pickle_protocol in torch.save, which then writes protocol 2", n)
		}
	case '(':
		u.push(mark{})
	case '}', ']', ')':
		u.push(&list{dict: op == '}'})
	case 'N':
		u.push(nil)
	case 0x88, 0x89:
		u.push(op == 0x88)
	case 'K', 'M', 'J':
		u.push(int64(int32(n)))
	case 'G':
		u.push(math.Float64frombits(binary.BigEndian.Uint64(u.take(8))))
	case 0x8a:
		u.push(long(u.take(int(n))))
	case 'X', 'T', 'U':
		u.push(string(u.take(int(n))))
	case 'q', 'r':
		u.memo[n] = u.top()
	case 'h', 'j':
		u.push(u.memo[n])
	case 't':
		u.push(&list{items: u.popMark()})
	case 0x85, 0x86, 0x87:
		u.push(&list{items: u.pop(int(op - 0x84))})
	case 'a':
		u.extend(u.pop(1))
	case 's':
		u.extend(u.pop(2))
	case 'e', 'u':
		u.extend(u.popMark())
	case 'c':
		g := global(u.line() + "." + u.line())
		if known[g] == nil && storageKinds[g] == "" {
			fail(ErrFormat, "asks for %.80q, but only tensors, lists, dictionaries, numbers and texts are read\nhint: write two tensors by torch.save({\"images\": images, \"labels\": labels}, FILE); torch.as_tensor converts arrays", string(g))
		}
		u.push(g)
	case 'Q': // ('storage', torch.FloatStorage, '0', 'cpu', 24)
		t := u.pop(1)[0].(*list).items
		u.push(storage{storageKinds[t[1].(global)], t[2].(string)})
	case 'R':
		v := u.pop(2)
		call := known[v[0].(global)]
		if call == nil {
			fail(ErrFormat, "calls %s, which is not an allowed function", v[0])
		}
		u.push(call(v[1].(*list).items))
	case 'b': // the state of an OrderedDict or of a type of numpy, which no set needs
		u.pop(1)
	default:
		fail(ErrFormat, "has the instruction 0x%02x, which no set needs", op)
	}
}

// long returns an integer of any length, nil if it exceeds 64 bits.
func long(b []byte) any {
	n := len(b)
	if n > 8 {
		return nil
	}
	var x int64
	for i, v := range b {
		x |= int64(v) << (8 * i)
	}
	return x << (64 - 8*n) >> (64 - 8*n) // extends the sign
}

// extend adds values to the list or dictionary below them.
func (u *unpickler) extend(v []any) {
	l := u.top().(*list)
	l.items = append(l.items, v...)
}

// rebuildTensor takes (storage, offset, shape, strides, ...).
func rebuildTensor(args []any) any {
	t := &tensor{args[0].(storage), int(args[1].(int64)), ints(args[2]), ints(args[3])}
	negative := func(n int) bool { return n < 0 }
	if t.kind == "" || t.offset < 0 || len(t.shape) != len(t.stride) || slices.ContainsFunc(slices.Concat(t.shape, t.stride), negative) {
		fail(ErrCorrupt, "describes an invalid tensor")
	}
	return t
}

func ints(v any) (out []int) {
	for _, x := range v.(*list).items {
		out = append(out, int(x.(int64)))
	}
	return out
}
