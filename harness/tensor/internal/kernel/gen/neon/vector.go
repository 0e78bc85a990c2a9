package main

import (
	"fmt"
	"math"
	"strings"

	"dgkip/harness/tensor/internal/kernel"
)

// encodings holds the instructions on two float64 values that the assembler lacks.
var encodings = map[string]int{
	"FABS":   0x4EE0F800,
	"FADD":   0x4E60D400,
	"FDIV":   0x6E60FC00,
	"FMAXNM": 0x4E60C400,
	"FMIN":   0x4EE0F400,
	"FMUL":   0x6E60DC00,
	"FNEG":   0x6EE0F800,
	"FSQRT":  0x6EE1F800,
	"FSUB":   0x4EE0D400,
}

// op writes an instruction with result d and one or two operands.
func (o *output) op(name string, d int, operands ...int) {
	code, known := encodings[name]
	if !known { // the assembler reads operands from right to left
		form := "B16"
		if strings.HasPrefix(name, "VF") {
			form = "D2"
		}
		o.p("%s V%d.%s, V%d.%s, V%d.%s", name, operands[1], form, operands[0], form, d, form)
		return
	}
	text := fmt.Sprintf("%s V%d.2D", name, d)
	code |= d
	for i, r := range operands {
		text += fmt.Sprintf(", V%d.2D", r)
		code |= r << []int{5, 16}[i]
	}
	o.p("WORD $%#08x // %s", code, text)
}

// place is the number of bytes of eight values.
const place = 8 * kernel.WideLanes

// vector is eight values in four registers, or one value in every lane of one register.
type vector struct {
	first int
	same  bool
}

func eight(first int) vector { return vector{first, false} }
func splat(first int) vector { return vector{first, true} }

// at returns register h of the four.
func (v vector) at(h int) int {
	if v.same {
		return v.first
	}
	return v.first + h
}

func (v vector) String() string {
	if v.same {
		return fmt.Sprintf("[V%d.D2]", v.first)
	}
	return fmt.Sprintf("[V%d.D2, V%d.D2, V%d.D2, V%d.D2]", v.at(0), v.at(1), v.at(2), v.at(3))
}

// all is op for the registers of vectors.
func (o *output) all(name string, d vector, operands ...vector) {
	for h := range 4 {
		var r []int
		for _, v := range operands {
			r = append(r, v.at(h))
		}
		o.op(name, d.at(h), r...)
	}
}

// load reads eight values from the address in register r, and moves the address by that
// number of places. For two places, their size is in R2.
func (o *output) load(v vector, r, places int) {
	suffix, from := address(r, places)
	o.p("VLD1%s %s, %v", suffix, from, v)
}

// store is the counterpart of load.
func (o *output) store(v vector, r, places int) {
	suffix, to := address(r, places)
	o.p("VST1%s %v, %s", suffix, v, to)
}

func address(r, places int) (suffix, operand string) {
	switch places {
	case 0:
		return "", fmt.Sprintf("(R%d)", r)
	case 1:
		return ".P", fmt.Sprintf("%d(R%d)", place, r)
	default:
		return ".P", fmt.Sprintf("(R%d)(R2)", r)
	}
}

// splat puts the number x into every lane.
func (o *output) splat(v vector, x float64) {
	o.p("MOVD $%#x, R19\n\tVDUP R19, V%d.D2", math.Float64bits(x), v.first)
}

// field puts a float64 argument into every lane.
func (o *output) field(v vector, name string) {
	o.p("MOVD %s(R0), R19\n\tVDUP R19, V%d.D2", name, v.first)
}

// ptrs loads the addresses of slices into registers from r on.
func (o *output) ptrs(r int, args string, names ...string) {
	for i, name := range names {
		o.p("MOVD %s_%s(R0), R%d", args, name, r+i)
	}
}

// table writes numbers into memory, each of them copies times.
func (o *output) table(name string, copies int, numbers ...float64) {
	o.label("")
	for i := range copies * len(numbers) {
		fmt.Fprintf(&o.asm, "DATA %s<>+%d(SB)/8, $%#016x\n", name, 8*i, math.Float64bits(numbers[i/copies]))
	}
	fmt.Fprintf(&o.asm, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, 8*copies*len(numbers))
}
