package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is a width of vector registers and the register tile for that width.
type isa struct {
	name  string
	lanes int // float32 values in a register
	rows  int // rows of the largest register tile
	// Register tile of Cross, and rows of MulVec.
	crossRows, crossCols, wideRows int
	vec                            func() reg.VecVirtual
}

var (
	avx512 = isa{"512", 16, 14, 6, 4, 8, ZMM}
	avx2   = isa{"256", 8, 6, 3, 2, 4, YMM}
)

// bytes returns the size of a register.
func (v isa) bytes() int { return 4 * v.lanes }

// args gives access to the fields of a kernel's argument struct.
type args struct{ c gotypes.Component }

// text begins a kernel whose only argument is a pointer to the named struct.
func (v isa) text(name, typ string) args { return v.textAttr(attr.NOSPLIT, name, typ) }

// textStack is text for a kernel with scratch memory on the stack. Such a kernel must check
// the size of the stack.
func (v isa) textStack(name, typ string) args { return v.textAttr(0, name, typ) }

func (v isa) textAttr(flags attr.Attribute, name, typ string) args {
	TEXT(name+v.name, flags, fmt.Sprintf("func(a *%s)", typ))
	return args{Dereference(Param("a"))}
}

// int loads an integer field.
func (a args) int(field string) reg.GPVirtual {
	return Load(a.c.Field(field), GP64()).(reg.GPVirtual)
}

// bytes loads an integer field that counts float32 values, and converts it to bytes.
func (a args) bytes(field string) reg.GPVirtual {
	r := a.int(field)
	SHLQ(Imm(2), r)
	return r
}

// ptr loads the address of a slice field's first element.
func (a args) ptr(field string) reg.GPVirtual {
	return Load(a.c.Field(field).Base(), GP64()).(reg.GPVirtual)
}

// reload loads an integer field again into the register r.
func (a args) reload(field string, r reg.GPVirtual) { Load(a.c.Field(field), r) }

// reptr loads the address of a slice field again into the register r.
func (a args) reptr(field string, r reg.GPVirtual) { Load(a.c.Field(field).Base(), r) }

// splat returns a register with the float32 field in every lane.
func (a args) splat(v isa, field string) reg.VecVirtual {
	r := v.vec()
	if b, err := a.c.Field(field).Resolve(); err == nil { // Generate reports it
		VBROADCASTSS(b.Addr, r)
	}
	return r
}

// clear sets every lane of r to zero.
func (v isa) clear(r reg.VecVirtual) {
	if v.lanes == 16 {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

// vecs returns n registers with undefined contents.
func (v isa) vecs(n int) []reg.VecVirtual {
	rs := make([]reg.VecVirtual, n)
	for i := range rs {
		rs[i] = v.vec()
	}
	return rs
}

// constant returns a register with x in every lane.
func (v isa) constant(x float32) reg.VecVirtual {
	m, ok := constants[x]
	if !ok {
		// The number is written as bits, because avo prints a whole number without a point and the
		// assembler would read an integer.
		m = ConstData(fmt.Sprintf("const%d", len(constants)), U32(math.Float32bits(x)))
		constants[x] = m
	}
	r := v.vec()
	VBROADCASTSS(m, r)
	return r
}

var constants = map[float32]Mem{}

// repeat runs body while n > 0 and subtracts step from n after each run.
func repeat(label string, n reg.GPVirtual, step int, body func()) {
	JMP(LabelRef(label + "_test"))
	Label(label)
	body()
	SUBQ(Imm(uint64(step)), n)
	Label(label + "_test")
	CMPQ(n, Imm(0))
	JGT(LabelRef(label))
}

// whenMode runs body when the bit is set in the mode register.
func whenMode(label string, mode reg.GPVirtual, bit int, body func()) {
	TESTQ(U32(bit), mode)
	JZ(LabelRef(label))
	body()
	Label(label)
}
