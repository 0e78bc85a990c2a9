package main

import (
	"math"

	"dgkip/harness/tensor/internal/kernel"
)

// arcs writes the operations on Arc, step by step as in plain Go. A step takes eight inner
// products and reads the constants in the order of the table.
func (o *output) arcs() {
	o.table("arc", 1, append(kernel.ArcPoly[:], math.Pi/2, math.Pi, kernel.ArcScale)...)
	o.arc("arcNeon", false)
	o.arc("arcSlopesNeon", true)
}

func (o *output) arc(name string, slopes bool) {
	o.text(name, "Arc")
	const k, root, inverse, inXY, inXX = 8, 9, 10, 11, 12 // addresses
	s, c, u, w, q, v := eight(0), eight(4), eight(8), eight(12), eight(16), eight(20)
	bias, x, inverseX, norm, unit, sign := splat(24), splat(25), splat(26), splat(27), splat(28), splat(29)
	o.ptrs(k, "Arc", "K", "Root", "Inverse")
	o.field(bias, "Arc_Bias")
	o.field(x, "Arc_X")
	o.field(inverseX, "Arc_InverseX")
	if slopes {
		o.ptrs(inXY, "Arc", "InXY", "InXX")
		o.field(norm, "Arc_Norm")
	}
	o.splat(unit, 1)
	o.splat(sign, math.Copysign(0, -1))
	o.p("MOVD Arc_N(R0), R1\n\tMOVD $arc<>(SB), R3")
	constant := func() vector {
		o.p("VLD1R.P 8(R4), [V31.D2]")
		return splat(31)
	}

	o.label("loop")
	o.p("MOVD R3, R4")
	o.load(s, k, 0)
	o.all("FADD", s, s, s)
	o.all("FADD", s, s, bias)
	o.load(c, inverse, 1)
	o.all("FMUL", c, c, inverseX)
	o.all("FMUL", c, c, s)
	o.all("FABS", u, c)
	o.all("FMIN", u, u, unit) // keeps u if it is NaN
	o.all("FSUB", w, unit, u)
	o.all("FSQRT", w, w)
	o.all("FADD", v, u, unit)
	o.all("FSQRT", v, v)
	o.all("FMUL", q, u, constant())
	for i := range kernel.ArcPoly[1:] {
		if i > 0 {
			o.all("FMUL", q, q, u)
		}
		o.all("FADD", q, q, constant())
	}
	o.all("FMUL", q, q, w)
	right := constant()
	o.all("FSUB", q, right, q)
	o.all("VBIT", q, c, sign)
	o.all("FSUB", q, right, q)
	o.all("FSUB", q, constant(), q)
	rest, h := q, u
	o.all("FMUL", w, w, v)
	o.load(h, root, 1)
	o.all("FMUL", h, h, x)
	o.all("FMUL", h, h, w)

	o.all("FMUL", s, s, rest)
	o.all("FADD", s, s, h)
	scale := constant()
	o.all("FMUL", s, s, scale)
	o.store(s, k, 1)
	if slopes {
		o.all("FMUL", rest, rest, scale)
		o.all("FADD", rest, rest, rest)
		o.all("FMUL", h, h, scale)
		o.all("FDIV", h, h, norm)
		o.load(c, inXX, 0)
		o.all("FMUL", c, c, rest)
		o.all("FADD", c, c, h)
		o.store(c, inXX, 1)
		o.load(c, inXY, 0)
		o.all("FMUL", c, c, rest)
		o.store(c, inXY, 1)
	}
	o.p("SUBS $%d, R1, R1\n\tBNE loop", kernel.WideLanes)
	o.p("RET")
}
