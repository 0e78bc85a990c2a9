package main

import (
	"math"

	"dgkip/harness/tensor/internal/kernel"
)

// covariances writes the operations on Products, Sums, Rectify and their backward passes,
// step by step as in plain Go. A step of a loop takes one place. R1 counts the steps, R2
// holds the size of two places, and addresses are in registers from R8 on.
func (o *output) covariances() {
	o.table("rectify", kernel.WideLanes, kernel.RectifyPoly[:]...)
	o.table("angle", kernel.WideLanes, kernel.AnglePoly[:]...)
	for _, same := range []bool{true, false} {
		o.products(same)
		o.rectify(same, false)
		o.rectify(same, true)
		o.rectifyBack(same, false)
		o.rectifyBack(same, true)
	}
	o.productsBack()
	o.sums()
}

// begin begins a function that runs N steps. If same is set, X is the same in all lanes.
func (o *output) begin(name, args string, same bool, ptrs ...string) {
	if same {
		name += "Same"
	}
	o.text(name+"Neon", args)
	o.ptrs(8, args, ptrs...)
	o.p("MOVD %s_N(R0), R1\n\tMOVD $%d, R2", args, 2*place)
}

func (o *output) end() { o.p("SUBS $1, R1, R1\n\tBNE loop\n\tRET") }

// side returns the value of X at a place, in v, and moves the address by two places.
func (o *output) side(v vector, r int, same bool) vector {
	if !same {
		o.load(v, r, 2)
		return v
	}
	o.p("VLD1R (R%d), [V%d.D2]\n\tADD $16, R%d, R%d", r, v.first, r, r)
	return splat(v.first)
}

// threeSum sets s to the sum over three neighbouring places, and moves the address by two.
func (o *output) threeSum(s, t, v vector, r int) {
	o.load(s, r, 1)
	o.load(t, r, 1)
	o.load(v, r, 0)
	o.all("FADD", s, s, t)
	o.all("FADD", s, s, v)
}

// polynomial returns even(square) + u odd(square), in one of three vectors that it
// overwrites, and the other two. Register r holds the address of the table.
func (o *output) polynomial(r int, u, square, odd, even, next vector) (q, v, w vector) {
	o.p("MOVD R%d, R4", r)
	o.load(odd, 4, 1)
	o.load(even, 4, 1)
	for range (len(kernel.AnglePoly) - 2) / 2 {
		o.load(next, 4, 1)
		o.all("VFMLA", next, odd, square)
		odd, next = next, odd
		o.load(next, 4, 1)
		o.all("VFMLA", next, even, square)
		even, next = next, even
	}
	o.all("VFMLA", even, odd, u)
	return even, odd, next
}

func (o *output) products(same bool) {
	o.begin("products", "Products", same, "Row", "Sum", "Before", "At", "X", "Y")
	const row, sum, before, at, xs, ys = 8, 9, 10, 11, 12, 13
	s, x, y := eight(0), eight(4), eight(8)
	o.p("MOVD Products_C(R0), R3")
	o.label("loop")
	o.all("VEOR", s, s, s)
	o.p("MOVD R3, R4")
	o.label("colour")
	if same {
		x = splat(x.first)
		o.p("VLD1R.P 8(R%d), %v", xs, x)
	} else {
		o.load(x, xs, 1)
	}
	o.load(y, ys, 1)
	o.all("VFMLA", s, x, y)
	o.p("SUBS $1, R4, R4\n\tBNE colour")
	o.store(s, row, 1)
	x = eight(x.first)
	o.load(x, before, 1)
	o.load(y, at, 1)
	o.all("FADD", x, x, y)
	o.all("FADD", x, x, s)
	o.store(x, sum, 1)
	o.end()
}

func (o *output) sums() {
	o.begin("sums", "Sums", false, "Sum", "Before", "At", "After")
	const sum, before, at, after = 8, 9, 10, 11
	s, x := eight(0), eight(4)
	o.label("loop")
	o.load(s, before, 1)
	o.load(x, at, 1)
	o.all("FADD", s, s, x)
	o.load(x, after, 1)
	o.all("FADD", s, s, x)
	o.store(s, sum, 1)
	o.end()
}

// The registers of rectify and rectifyBack. V16 to V27 hold intermediate results.
var (
	s, c, u, square         = eight(0), eight(4), eight(8), eight(12)
	scale, bias, unit, zero = splat(28), splat(29), splat(30), splat(31)
)

func (o *output) rectify(same, tangent bool) {
	name := "rectify"
	if tangent {
		name = "tangent"
	}
	o.begin(name, "Rectify", same, "Dst", "S", "RootX", "InverseX", "RootY", "InverseY", "DstT", "T")
	const dst, s3, rootX, inverseX, rootY, inverseY, dstT, t3 = 8, 9, 10, 11, 12, 13, 14, 15
	o.constants("Rectify")
	o.p("MOVD $rectify<>(SB), R3")
	o.label("loop")
	o.cosines(s3, inverseX, inverseY, same)
	q, v, w := o.polynomial(3, u, square, eight(16), eight(20), eight(24))
	o.all("FSUB", v, unit, u)
	o.all("FMAXNM", v, v, zero)
	o.all("FSQRT", w, v)
	o.all("FMUL", v, v, w)
	o.all("FMUL", v, v, q)
	o.load(w, rootY, 2)
	o.all("FMUL", w, o.side(q, rootX, same), w)
	o.all("FMUL", v, v, w)
	o.all("FMAXNM", w, s, zero)
	o.all("FADD", v, v, w)
	o.load(w, dst, 0)
	o.all("FADD", w, w, v)
	o.store(w, dst, 1)
	if tangent {
		slope, v, w := o.slopes(q, v, w)
		o.threeSum(v, w, c, t3)
		o.all("VFMLA", s, v, scale)
		o.load(v, dstT, 0)
		o.all("VFMLA", v, s, slope)
		o.store(v, dstT, 1)
	}
	o.end()
}

// constants loads the constants of rectify and rectifyBack.
func (o *output) constants(args string) {
	o.field(scale, args+"_Scale")
	o.field(bias, args+"_Bias")
	o.splat(unit, 1)
	o.splat(zero, 0)
	o.p("MOVD $angle<>(SB), R5\n\tMOVD $%#x, R6\n\tMOVD $%#x, R7", math.Float64bits(kernel.One), math.Float64bits(0.5))
}

// cosines sets s to the covariances, c to the cosines, u to |c| and square to u^2.
func (o *output) cosines(s3, inverseX, inverseY int, same bool) {
	t, v, w := eight(16), eight(20), eight(24)
	o.threeSum(t, v, w, s3)
	o.all("VORR", s, bias, bias)
	o.all("VFMLA", s, t, scale)
	o.load(t, inverseY, 2)
	o.all("FMUL", c, o.side(v, inverseX, same), t)
	o.all("FMUL", c, c, s)
	o.all("FABS", u, c)
	o.all("FMUL", square, u, u)
}

// slopes returns (pi - t)/pi, the root of One-u and a vector without a value. It overwrites
// x, y, z and square.
func (o *output) slopes(x, y, z vector) (slope, root, free vector) {
	q, root, slope := o.polynomial(5, u, square, x, y, z)
	nearOne, half, sign := splat(square.at(0)), splat(square.at(1)), splat(square.at(2))
	o.p("VDUP R6, V%d.D2\n\tVDUP R7, V%d.D2", nearOne.first, half.first)
	o.op("FNEG", sign.first, zero.first)
	o.all("FSUB", root, nearOne, u)
	o.all("FMAXNM", root, root, zero)
	o.all("FSQRT", root, root)
	o.all("VORR", slope, half, half)
	o.all("VFMLS", slope, root, q)
	o.all("VBIT", slope, c, sign)
	o.all("FADD", slope, slope, half)
	return slope, root, q
}

func (o *output) rectifyBack(same, tangent bool) {
	name := "rectifyBack"
	if tangent {
		name = "tangentBack"
	}
	o.begin(name, "RectifyBack", same, "Slope", "Angle", "D", "S", "RootX", "InverseX", "RootY", "InverseY")
	const slopes, angle, ds, s3, rootX, inverseX, rootY, inverseY = 8, 9, 10, 11, 12, 13, 14, 15
	const slopesT, dsT, t3 = 20, 21, 22
	if tangent {
		o.ptrs(slopesT, "RectifyBack", "SlopeT", "DT", "T")
	}
	o.constants("RectifyBack")
	o.label("loop")
	if tangent { // the same places are read once more
		o.p("MOVD R%d, R23\n\tMOVD R%d, R24", inverseX, inverseY)
	}
	o.cosines(s3, inverseX, inverseY, same)
	slope, sin, free := o.slopes(eight(16), eight(20), eight(24))
	q, x, y := u, c, square
	if tangent {
		o.p("VDUP R6, V%d.D2", x.first)
		o.all("FSUB", y, splat(x.first), u)
		o.splat(splat(x.first), kernel.Least)
		o.all("FMAXNM", y, y, splat(x.first))
	}
	o.all("FADD", u, u, unit)
	o.all("FSQRT", x, u)
	o.all("FMUL", sin, sin, x)
	d := free
	if tangent {
		o.all("FMUL", y, y, u)
		o.all("FDIV", q, sin, y)
		o.load(y, 24, 2)
		o.all("FMUL", y, o.side(x, 23, same), y)
		o.all("FMUL", q, q, y)
		o.threeSum(y, x, free, t3)
		o.all("VORR", x, s, s)
		o.all("VFMLA", x, y, scale)
		o.load(y, dsT, 1)
		o.all("FMUL", x, y, x)
		o.all("FMUL", q, q, x)
		o.all("FMUL", x, y, slope)
		o.store(x, slopesT, 2)
		o.load(d, ds, 1)
		o.all("FADD", y, y, d)
		o.all("FMUL", slope, slope, y)
		o.splat(splat(x.first), 1/math.Pi)
		o.all("VFMLA", slope, q, splat(x.first))
	} else {
		o.load(d, ds, 1)
		o.all("FMUL", slope, slope, d)
	}
	o.store(slope, slopes, 2)
	o.load(y, rootY, 2)
	o.all("FMUL", y, y, o.side(x, rootX, same))
	o.all("FMUL", y, y, sin)
	o.load(x, angle, 0)
	o.all("VFMLA", x, y, d)
	if tangent {
		o.all("VFMLS", x, q, s)
	}
	o.store(x, angle, 2)
	o.end()
}

func (o *output) productsBack() {
	o.begin("productsBack", "ProductsBack", false, "X", "Y", "S")
	const xs, ys, s3 = 8, 9, 10
	s, x, y := eight(0), eight(4), eight(8)
	o.p("MOVD ProductsBack_C(R0), R3")
	o.label("loop")
	o.threeSum(s, x, y, s3)
	o.p("SUB $%d, R%d, R%d", place, s3, s3) // a step moves by one place
	o.p("MOVD R3, R4")
	o.label("colour")
	o.load(x, xs, 0)
	o.load(y, ys, 1)
	o.all("VFMLA", x, s, y)
	o.store(x, xs, 1)
	o.p("SUBS $1, R4, R4\n\tBNE colour")
	o.end()
}
