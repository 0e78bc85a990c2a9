package arrays

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

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
	for {
		op, err := u.take(1)
		if err != nil {
			return nil, err
		}
		if op[0] == '.' {
			return u.pop()
		}
		if err := u.step(op[0]); err != nil {
			return nil, err
		}
		if len(u.stack) > maxStack || len(u.marks) > maxMarks || u.made > maxValues || len(u.memo) > maxValues {
			return nil, fmt.Errorf("%w: the pickle is nested too deep, or holds too many values", npz.ErrOversized)
		}
	}
}

func (u *unpickler) take(n int) ([]byte, error) {
	if n < 0 || n > len(u.in) {
		return nil, errShort
	}
	b := u.in[:n]
	u.in = u.in[n:]
	return b, nil
}

// number takes an integer of n bytes, the low one first.
func (u *unpickler) number(n int) (uint32, error) {
	b, err := u.take(n)
	if err != nil {
		return 0, err
	}
	var x uint32
	for i, v := range b {
		x |= uint32(v) << (8 * i)
	}
	return x, nil
}

// line takes a text that ends with a line break.
func (u *unpickler) line() (string, error) {
	i := bytes.IndexByte(u.in, '\n')
	if i < 0 {
		return "", errShort
	}
	b, err := u.take(i + 1)
	return string(b[:i]), err
}

func (u *unpickler) push(v any) error {
	u.made++
	u.stack = append(u.stack, v)
	return nil
}

func (u *unpickler) pop() (any, error) {
	v, err := u.pops(1)
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// pops takes the last n values, which the next push may overwrite.
func (u *unpickler) pops(n int) ([]any, error) {
	from := len(u.stack) - n
	if len(u.marks) > 0 && from < u.marks[len(u.marks)-1] || from < 0 {
		return nil, errStack
	}
	v := u.stack[from:]
	u.stack = u.stack[:from]
	return v, nil
}

// sinceMark takes the values above the last mark, and the mark.
func (u *unpickler) sinceMark() ([]any, error) {
	if len(u.marks) == 0 {
		return nil, errStack
	}
	from := u.marks[len(u.marks)-1]
	v, err := u.pops(len(u.stack) - from)
	u.marks = u.marks[:len(u.marks)-1]
	return v, err
}

// step carries out an instruction.
func (u *unpickler) step(op byte) error {
	switch op {
	case 0x80:
		version, err := u.number(1)
		if err == nil && version != 2 {
			err = fmt.Errorf("%w: a pickle of protocol %d\nhint: torch.save writes protocol 2 unless it is told otherwise", npz.ErrFormat, version)
		}
		return err
	case '(':
		u.marks = append(u.marks, len(u.stack))
		return nil
	case '}':
		return u.push(new(dict))
	case ']':
		return u.push(new(list))
	case ')':
		return u.push(tuple{})
	case 'N':
		return u.push(nil)
	case 0x88, 0x89:
		return u.push(op == 0x88)
	case 'K', 'M', 'J', 'G', 0x8a:
		return u.numeral(op)
	case 'X', 'T', 'U':
		return u.text(op)
	case 'q', 'r', 'h', 'j':
		return u.remember(op)
	case 't', 0x85, 0x86, 0x87:
		return u.tuple(op)
	case 'a', 'e':
		return u.extend(op)
	case 's', 'u':
		return u.set(op)
	case 'c', 'Q', 'R', 'b':
		return u.call(op)
	}
	name := opcodes[op]
	if name == "" {
		return fmt.Errorf("%w: the pickle has an unknown instruction %q", npz.ErrCorrupt, op)
	}
	return fmt.Errorf("%w: the pickle has the instruction %s, which no set needs", npz.ErrFormat, name)
}

// numeral pushes a number.
func (u *unpickler) numeral(op byte) error {
	switch op {
	case 'K', 'M':
		n, err := u.number(map[byte]int{'K': 1, 'M': 2}[op])
		if err != nil {
			return err
		}
		return u.push(int64(n))
	case 'J':
		n, err := u.number(4)
		if err != nil {
			return err
		}
		return u.push(int64(int32(n)))
	case 'G':
		b, err := u.take(8)
		if err != nil {
			return err
		}
		return u.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	}
	n, err := u.number(1)
	if err != nil {
		return err
	}
	b, err := u.take(int(n))
	if err != nil {
		return err
	}
	if n > 8 {
		return u.push(opaque{}) // a number that no computer counts to
	}
	var x int64
	for i, v := range b {
		x |= int64(v) << (8 * i)
	}
	if n > 0 && n < 8 { // the sign is that of the last byte
		x = x << (64 - 8*n) >> (64 - 8*n)
	}
	return u.push(x)
}

// text pushes a text.
func (u *unpickler) text(op byte) error {
	width := 4
	if op == 'U' {
		width = 1
	}
	n, err := u.number(width)
	if err != nil {
		return err
	}
	b, err := u.take(int(n))
	if err != nil {
		return err
	}
	return u.push(string(b))
}

// remember keeps the value on top under a number, or pushes the one kept there.
func (u *unpickler) remember(op byte) error {
	n, err := u.number(map[byte]int{'q': 1, 'h': 1, 'r': 4, 'j': 4}[op])
	if err != nil {
		return err
	}
	if op == 'q' || op == 'r' {
		if len(u.stack) == 0 {
			return errStack
		}
		u.memo[n] = u.stack[len(u.stack)-1]
		return nil
	}
	v, ok := u.memo[n]
	if !ok {
		return fmt.Errorf("%w: the pickle refers to a value that it did not keep", npz.ErrCorrupt)
	}
	return u.push(v)
}

func (u *unpickler) tuple(op byte) error {
	var v []any
	var err error
	if op == 't' {
		v, err = u.sinceMark()
	} else {
		v, err = u.pops(int(op - 0x84))
	}
	if err != nil {
		return err
	}
	return u.push(tuple(slices.Clone(v)))
}

// extend appends values to the list below them.
func (u *unpickler) extend(op byte) error {
	v, err := u.above(op == 'a', 1)
	if err != nil {
		return err
	}
	l, ok := u.top().(*list)
	if !ok {
		return fmt.Errorf("%w: the pickle appends to what is no list", npz.ErrCorrupt)
	}
	l.items = append(l.items, v...)
	return nil
}

// set sets entries of the dictionary below them.
func (u *unpickler) set(op byte) error {
	v, err := u.above(op == 's', 2)
	if err != nil {
		return err
	}
	d, ok := u.top().(*dict)
	if !ok || len(v)%2 != 0 {
		return fmt.Errorf("%w: the pickle sets entries of what is no dictionary", npz.ErrCorrupt)
	}
	for i := 0; i < len(v); i += 2 {
		d.keys, d.values = append(d.keys, v[i]), append(d.values, v[i+1])
	}
	return nil
}

// above takes n values, or those above the mark.
func (u *unpickler) above(some bool, n int) ([]any, error) {
	if some {
		return u.pops(n)
	}
	return u.sinceMark()
}

func (u *unpickler) top() any {
	if len(u.stack) == 0 {
		return nil
	}
	return u.stack[len(u.stack)-1]
}

// call is for what in Python would run code: names, calls, storages and states.
func (u *unpickler) call(op byte) error {
	switch op {
	case 'c':
		return u.name()
	case 'Q':
		v, err := u.pop()
		if err != nil {
			return err
		}
		s, err := storageOf(v)
		if err != nil {
			return err
		}
		return u.push(s)
	case 'b': // the state of an OrderedDict or of a number of numpy, which no set needs
		_, err := u.pops(1)
		return err
	}
	v, err := u.pops(2)
	if err != nil {
		return err
	}
	name, isName := v[0].(global)
	args, isTuple := v[1].(tuple)
	f := known[name]
	if !isName || !isTuple || f == nil {
		return fmt.Errorf("%w: the pickle calls what is no function of a set", npz.ErrCorrupt)
	}
	made, err := f(args)
	if err != nil {
		return err
	}
	return u.push(made)
}

// name pushes the name of a class or a function.
func (u *unpickler) name() error {
	module, err := u.line()
	if err != nil {
		return err
	}
	name, err := u.line()
	if err != nil {
		return err
	}
	g := global(module + " " + name)
	if known[g] == nil && storageKinds[g] == "" {
		return fmt.Errorf("%w: the pickle asks for %.80q, and nothing but tensors, lists, dictionaries, numbers and texts is read\nhint: torch.save({\"images\": images, \"labels\": labels}, FILE) writes no more than that, if both are tensors, as torch.as_tensor makes of arrays", npz.ErrFormat, module+"."+name)
	}
	return u.push(g)
}

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
