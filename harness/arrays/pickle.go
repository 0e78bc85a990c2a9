package arrays

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/npz"
)

// Limits on a pickle: what a set of images needs many times over.
const (
	maxPickle = 8 << 20 // bytes
	maxValues = 1 << 18 // that it makes, or keeps for later
	maxStack  = 1 << 16
	maxMarks  = 256
)

// A pickle is a program for a stack machine, which in Python may call any function.
// unpickler carries out those instructions that torch.save writes, and knows the few
// names in known: nothing else can happen.
//
// Its values are nil, bool, int64, float64, string, tuple, *list, *dict, global,
// storage, *tensor and opaque.
type unpickler struct {
	in    []byte
	stack []any
	marks []int
	memo  map[uint32]any
	made  int
	err   error // the first, after which nothing is taken any more
}

type (
	tuple  []any
	list   struct{ items []any }
	dict   struct{ keys, values []any }
	global string
	// opaque is a value that no set needs, such as the accuracies that DC keeps as
	// numbers of numpy.
	opaque struct{}
)

// storage is where a tensor has its values: an entry of the archive.
type storage struct {
	kind string // as in npz.Array, or bf for bfloat16
	key  string
	n    int
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

// known are the functions that a pickle may call, and what comes out.
var known = map[global]func(args tuple) (any, error){
	"torch._utils _rebuild_tensor_v2": rebuildTensor,
	"torch._utils _rebuild_parameter": func(args tuple) (any, error) {
		if len(args) == 0 {
			return nil, fmt.Errorf("%w: a parameter without a tensor", npz.ErrCorrupt)
		}
		return args[0], nil
	},
	"collections OrderedDict":       func(tuple) (any, error) { return new(dict), nil },
	"torch Size":                    inert,
	"numpy dtype":                   inert,
	"numpy.core.multiarray scalar":  inert,
	"numpy._core.multiarray scalar": inert,
	"_codecs encode":                inert,
}

func inert(tuple) (any, error) { return opaque{}, nil }

// opcodes are names of instructions that pickles may have, for errors.
var opcodes = map[byte]string{
	'i': "INST", 'o': "OBJ", 'P': "PERSID", 'I': "INT", 'L': "LONG", 'F': "FLOAT", 'S': "STRING", 'V': "UNICODE", 'd': "DICT", 'l': "LIST",
	'g': "GET", 'p': "PUT", 'B': "BINBYTES", 'C': "SHORT_BINBYTES", '0': "POP", '1': "POP_MARK", '2': "DUP", 0x81: "NEWOBJ",
	0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 0x8b: "LONG4", 0x8c: "SHORT_BINUNICODE", 0x8d: "BINUNICODE8", 0x8e: "BINBYTES8", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS",
	0x91: "FROZENSET", 0x92: "NEWOBJ_EX", 0x93: "STACK_GLOBAL", 0x94: "MEMOIZE", 0x95: "FRAME", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
}

var (
	errShort = fmt.Errorf("%w: the pickle ends early", npz.ErrTruncated)
	errStack = fmt.Errorf("%w: the pickle takes from an empty stack", npz.ErrCorrupt)
)

// unpickle returns the value that a pickle describes.
func unpickle(in []byte) (any, error) {
	u := &unpickler{in: in, memo: map[uint32]any{}}
	for u.err == nil {
		op := u.byte()
		if op == '.' {
			v := u.pop()
			return v, u.err
		}
		u.step(op)
		if len(u.stack) > maxStack || len(u.marks) > maxMarks || u.made > maxValues || len(u.memo) > maxValues {
			u.fail(fmt.Errorf("%w: the pickle is nested too deep, or holds too many values", npz.ErrOversized))
		}
	}
	return nil, u.err
}

// fail notes an error, unless there is one.
func (u *unpickler) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}

// take takes n bytes, which are zero after an error.
func (u *unpickler) take(n int) []byte {
	if n < 0 || n > len(u.in) {
		u.fail(errShort)
	}
	if u.err != nil {
		return make([]byte, min(max(n, 0), 8))
	}
	b := u.in[:n]
	u.in = u.in[n:]
	return b
}

func (u *unpickler) byte() byte { return u.take(1)[0] }

// number takes an integer of n bytes, the low one first.
func (u *unpickler) number(n int) (x uint32) {
	for i, v := range u.take(n) {
		x |= uint32(v) << (8 * i)
	}
	return x
}

// line takes a text that ends with a line break.
func (u *unpickler) line() string {
	i := bytes.IndexByte(u.in, '\n')
	if i < 0 {
		i = len(u.in)
	}
	return strings.TrimSuffix(string(u.take(i+1)), "\n")
}

func (u *unpickler) push(v any) {
	u.made++
	u.stack = append(u.stack, v)
}

func (u *unpickler) pop() any { return u.pops(1)[0] }

// pops takes the last n values, which the next push may overwrite.
func (u *unpickler) pops(n int) []any {
	from := len(u.stack) - n
	if len(u.marks) > 0 && from < u.marks[len(u.marks)-1] || from < 0 {
		u.fail(errStack)
		return make([]any, n)
	}
	v := u.stack[from:]
	u.stack = u.stack[:from]
	return v
}

// sinceMark takes the values above the last mark, and the mark.
func (u *unpickler) sinceMark() []any {
	if len(u.marks) == 0 {
		u.fail(errStack)
		return nil
	}
	v := u.pops(len(u.stack) - u.marks[len(u.marks)-1])
	u.marks = u.marks[:len(u.marks)-1]
	return v
}

// step carries out an instruction.
func (u *unpickler) step(op byte) {
	switch op {
	case 0x80:
		if version := u.byte(); version != 2 {
			u.fail(fmt.Errorf("%w: a pickle of protocol %d\nhint: torch.save writes protocol 2 unless it is told otherwise", npz.ErrFormat, version))
		}
	case '(':
		u.marks = append(u.marks, len(u.stack))
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
		u.push(int64(u.byte()))
	case 'M':
		u.push(int64(u.number(2)))
	case 'J':
		u.push(int64(int32(u.number(4))))
	case 'G':
		u.push(math.Float64frombits(binary.BigEndian.Uint64(u.take(8))))
	case 0x8a:
		u.long(u.take(int(u.byte())))
	case 'X', 'T':
		u.push(string(u.take(int(u.number(4)))))
	case 'U':
		u.push(string(u.take(int(u.byte()))))
	case 'q':
		u.keep(u.number(1))
	case 'r':
		u.keep(u.number(4))
	case 'h':
		u.recall(u.number(1))
	case 'j':
		u.recall(u.number(4))
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
		u.name(u.line() + " " + u.line())
	case 'Q':
		s, err := storageOf(u.pop())
		if err != nil {
			u.fail(err)
		}
		u.push(s)
	case 'R':
		u.call(u.pops(2))
	case 'b':
		u.build()
	default:
		if name := opcodes[op]; name != "" {
			u.fail(fmt.Errorf("%w: the pickle has the instruction %s, which no set needs", npz.ErrFormat, name))
		}
		u.fail(fmt.Errorf("%w: the pickle has an unknown instruction 0x%02x", npz.ErrCorrupt, op))
	}
}

// long pushes an integer of any length.
func (u *unpickler) long(b []byte) {
	n := len(b)
	if n > 8 {
		u.push(opaque{}) // a number that no computer counts to
		return
	}
	var x int64
	for i, v := range b {
		x |= int64(v) << (8 * i)
	}
	if n > 0 && n < 8 { // the sign is that of the last byte
		x = x << (64 - 8*n) >> (64 - 8*n)
	}
	u.push(x)
}

// keep keeps the value on top under a number, and recall pushes the one kept there.
func (u *unpickler) keep(n uint32) {
	if len(u.stack) == 0 {
		u.fail(errStack)
	}
	u.memo[n] = u.top()
}

func (u *unpickler) recall(n uint32) {
	v, ok := u.memo[n]
	if !ok {
		u.fail(fmt.Errorf("%w: the pickle refers to a value that it did not keep", npz.ErrCorrupt))
	}
	u.push(v)
}

// extend appends values to the list below them.
func (u *unpickler) extend(v []any) {
	l, ok := u.top().(*list)
	if !ok {
		u.fail(fmt.Errorf("%w: the pickle appends to what is no list", npz.ErrCorrupt))
		return
	}
	l.items = append(l.items, v...)
}

// set sets entries of the dictionary below them.
func (u *unpickler) set(v []any) {
	d, ok := u.top().(*dict)
	if !ok || len(v)%2 != 0 {
		u.fail(fmt.Errorf("%w: the pickle sets entries of what is no dictionary", npz.ErrCorrupt))
		return
	}
	for i := 0; i < len(v); i += 2 {
		d.keys, d.values = append(d.keys, v[i]), append(d.values, v[i+1])
	}
}

func (u *unpickler) top() any {
	if len(u.stack) == 0 {
		return nil
	}
	return u.stack[len(u.stack)-1]
}

// build drops the state of an OrderedDict, or of a type or number of numpy: no set needs it.
func (u *unpickler) build() {
	u.pop()
	switch u.top().(type) {
	case *dict, opaque:
	default:
		u.fail(fmt.Errorf("%w: the pickle has the instruction BUILD for what has no state", npz.ErrFormat))
	}
}

// call is for what in Python would run code.
func (u *unpickler) call(v []any) {
	name, isName := v[0].(global)
	args, isTuple := v[1].(tuple)
	f := known[name]
	if !isName || !isTuple || f == nil {
		what := "what"
		if isName {
			what = dotted(name) + ", which"
		}
		u.fail(fmt.Errorf("%w: the pickle calls %s is no function of a set", npz.ErrCorrupt, what))
		return
	}
	made, err := f(args)
	if err != nil {
		u.fail(err)
	}
	u.push(made)
}

// name pushes the name of a class or a function: its module, a blank, its own.
func (u *unpickler) name(name string) {
	g := global(name)
	if known[g] == nil && storageKinds[g] == "" {
		u.fail(fmt.Errorf("%w: the pickle asks for %.80q, and nothing but tensors, lists, dictionaries, numbers and texts is read\nhint: torch.save({\"images\": images, \"labels\": labels}, FILE) writes no more than that, if both are tensors, as torch.as_tensor makes of arrays", npz.ErrFormat, dotted(g)))
	}
	u.push(g)
}

// dotted is a name as Python writes it.
func dotted(g global) string { return strings.Replace(string(g), " ", ".", 1) }

// storageOf reads ('storage', torch.FloatStorage, '0', 'cpu', 24).
func storageOf(v any) (s storage, err error) {
	t, ok := v.(tuple)
	if ok = ok && len(t) == 5 && t[0] == "storage"; ok {
		kind, isKind := t[1].(global)
		key, isKey := t[2].(string)
		n, isInt := t[4].(int64)
		s = storage{storageKinds[kind], key, int(n)}
		ok = isKind && s.kind != "" && isKey && isInt && n >= 0 && n <= 1<<40
	}
	if !ok {
		err = fmt.Errorf("%w: the pickle describes a storage that is none", npz.ErrCorrupt)
	}
	return s, err
}

// rebuildTensor reads (storage, offset, shape, strides, ...).
func rebuildTensor(args tuple) (any, error) {
	bad := fmt.Errorf("%w: the pickle describes a tensor that is none", npz.ErrCorrupt)
	if len(args) < 4 {
		return nil, bad
	}
	s, ok := args[0].(storage)
	offset, isInt := args[1].(int64)
	shape, err := ints(args[2])
	stride, errStride := ints(args[3])
	if !ok || !isInt || offset < 0 || err != nil || errStride != nil || len(shape) != len(stride) || len(shape) > 8 {
		return nil, bad
	}
	if len(args) > 6 { // what is done to the values when they are looked at
		if d, ok := args[6].(*dict); ok && slices.Contains(d.values, any(true)) {
			return nil, fmt.Errorf("%w: a tensor is a negative or conjugate view of its values\nhint: save tensor.resolve_neg().resolve_conj().clone()", npz.ErrFormat)
		}
	}
	return &tensor{s, int(offset), shape, stride}, nil
}

func ints(v any) ([]int, error) {
	t, ok := v.(tuple)
	out := make([]int, len(t))
	for i, x := range t {
		n, isInt := x.(int64)
		ok = ok && isInt && n >= 0
		out[i] = int(n)
	}
	if !ok {
		return nil, npz.ErrCorrupt
	}
	return out, nil
}
