package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The elementwise kernels multiply and add in two rounded steps. Plain Go can then give the
// same bits at full speed on a processor without fused multiply-adds.

// maskPositive sets y to g where x > 0 and to zero elsewhere.
func (v isa) maskPositive(x Op, g, y reg.VecVirtual) {
	zero := v.vec()
	v.clear(zero)
	if v.lanes == 16 {
		m := K()
		VCMPPS(U8(less), x, zero, m)
		VMOVUPS_Z(g, m, y)
	} else {
		VCMPPS(U8(less), x, zero, zero)
		VANDPS(zero, g, y)
	}
}

// elementwise writes the operations on Vec.
func (v isa) elementwise() {
	step := Imm(uint64(v.bytes()))
	loop := func(name string, body func(a args, x, y, z Mem) func()) {
		a := v.text(name, "Vec")
		x, y, z, n := a.ptr("X"), a.ptr("Y"), a.ptr("Z"), a.int("N")
		do := body(a, Mem{Base: x}, Mem{Base: y}, Mem{Base: z})
		repeat("loop", n, v.lanes, func() {
			do()
			ADDQ(step, x)
			ADDQ(step, y)
			ADDQ(step, z)
		})
		v.done()
	}
	loop("relu", func(_ args, x, y, _ Mem) func() {
		return func() {
			r, zero := v.vec(), v.vec()
			v.clear(zero)
			VMOVUPS(x, r)
			VMAXPS(r, zero, r)
			VMOVUPS(r, y)
		}
	})
	loop("mask", func(_ args, x, y, z Mem) func() {
		return func() {
			r := v.vec()
			VMOVUPS(z, r)
			v.maskPositive(x, r, r)
			VMOVUPS(r, y)
		}
	})
	loop("axpy", func(a args, x, y, z Mem) func() {
		s := a.splat(v, "A")
		return func() {
			r := v.vec()
			VMULPS(x, s, r)
			VADDPS(z, r, r)
			VMOVUPS(r, y)
		}
	})
}

// columns writes the operations on Cols: sums over rows, and affine maps with one coefficient
// for each column. Four registers of columns are processed together, which uses whole cache
// lines and hides latency. The remaining columns are processed one register at a time.
func (v isa) columns() {
	v.columnKernel("colSum", true, func(c cols, at int) {
		VADDPS(c.x.Offset(at), c.sum, c.sum)
	})
	v.columnKernel("colDot", true, func(c cols, at int) {
		t := v.vec()
		VMOVUPS(c.x.Offset(at), t)
		VMULPS(c.z.Offset(at), t, t)
		VADDPS(t, c.sum, c.sum)
	})
	v.columnKernel("affine", false, func(c cols, at int) {
		t := v.vec()
		VMULPS(c.x.Offset(at), c.a, t)
		VADDPS(c.d, t, t)
		VMOVUPS(t, c.y.Offset(at))
	})
	v.columnKernel("affine2", false, func(c cols, at int) {
		s, t := v.vec(), v.vec()
		VMULPS(c.x.Offset(at), c.a, s)
		VMULPS(c.z.Offset(at), c.b, t)
		VADDPS(t, s, s)
		VADDPS(c.d, s, s)
		VMOVUPS(s, c.y.Offset(at))
	})
}

// cols is what the body of a column kernel works on: rows of matrices, and one register of
// sums or coefficients for each column.
type cols struct {
	x, z, y      Mem
	sum, a, b, d reg.VecVirtual
}

func (v isa) columnKernel(name string, sums bool, body func(c cols, at int)) {
	a := v.text(name, "Cols")
	x, z, y, stride, n := a.ptr("X"), a.ptr("Z"), a.ptr("Y"), a.bytes("Stride"), a.int("C")
	var coef []reg.GPVirtual
	if !sums {
		coef = []reg.GPVirtual{a.ptr("A"), a.ptr("D")}
		if name == "affine2" {
			coef = append(coef, a.ptr("B"))
		}
	}
	for _, group := range []int{4, 1} {
		label := fmt.Sprintf("by%d", group)
		Label(label)
		CMPQ(n, U32(group*v.lanes))
		JLT(LabelRef(label + "_done"))
		load := func(from reg.GPVirtual) []reg.VecVirtual {
			r := v.vecs(group)
			for i := range r {
				VMOVUPS(Mem{Base: from, Disp: i * v.bytes()}, r[i])
			}
			return r
		}
		none := make([]reg.VecVirtual, group)
		sum, ca, cb, cd := none, none, none, none
		if sums {
			sum = load(y)
		} else {
			ca, cd = load(coef[0]), load(coef[1])
			if len(coef) > 2 {
				cb = load(coef[2])
			}
		}
		rows, xr, zr, yr := a.int("Rows"), GP64(), GP64(), GP64()
		MOVQ(x, xr)
		MOVQ(z, zr)
		MOVQ(y, yr)
		Label(label + "_row")
		for i := range group {
			body(cols{Mem{Base: xr}, Mem{Base: zr}, Mem{Base: yr}, sum[i], ca[i], cb[i], cd[i]}, i*v.bytes())
		}
		for _, p := range []reg.GPVirtual{xr, zr, yr} {
			ADDQ(stride, p)
		}
		DECQ(rows)
		JNZ(LabelRef(label + "_row"))
		if sums {
			for i, r := range sum {
				VMOVUPS(r, Mem{Base: y, Disp: i * v.bytes()})
			}
		}
		for _, p := range append([]reg.GPVirtual{x, z, y}, coef...) {
			ADDQ(U32(group*v.bytes()), p)
		}
		SUBQ(U32(group*v.lanes), n)
		JMP(LabelRef(label))
		Label(label + "_done")
	}
	v.done()
}

// pack writes the copy of K rows of two registers each.
func (v isa) pack() {
	a := v.text("packRows", "Panel")
	src, dst, k, row, width := a.ptr("Src"), a.ptr("Dst"), a.int("K"), a.bytes("Row"), a.bytes("Width")
	repeat("rows", k, 1, func() {
		x, y := v.vec(), v.vec()
		VMOVUPS(Mem{Base: src}, x)
		VMOVUPS(Mem{Base: src, Disp: v.bytes()}, y)
		VMOVUPS(x, Mem{Base: dst})
		VMOVUPS(y, Mem{Base: dst, Disp: v.bytes()})
		ADDQ(row, src)
		ADDQ(width, dst)
	})
	v.done()
}

// packTransposed writes the transposition of 8 rows and K columns, K a multiple of 8. Both
// paths use it, in 256-bit registers.
func packTransposed() {
	v := avx2
	a := v.text("packTransposed", "Panel")
	src, dst, k, row, width := a.ptr("Src"), a.ptr("Dst"), a.int("K"), a.bytes("Row"), a.bytes("Width")
	row3, width3 := GP64(), GP64()
	LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
	LEAQ(Mem{Base: width, Index: width, Scale: 2}, width3)
	// rows addresses row i of eight that start at base.
	rows := func(base, by, by3 reg.GPVirtual, half reg.GPVirtual, i int) Mem {
		b := base
		if i >= 4 {
			b = half
		}
		switch i % 4 {
		case 1:
			return Mem{Base: b, Index: by, Scale: 1}
		case 2:
			return Mem{Base: b, Index: by, Scale: 2}
		case 3:
			return Mem{Base: b, Index: by3, Scale: 1}
		}
		return Mem{Base: b}
	}
	repeat("blocks", k, 8, func() {
		srcHalf, dstHalf := GP64(), GP64()
		LEAQ(Mem{Base: src, Index: row, Scale: 4}, srcHalf)
		LEAQ(Mem{Base: dst, Index: width, Scale: 4}, dstHalf)
		r, t := v.vecs(8), v.vecs(8)
		for i := range r {
			VMOVUPS(rows(src, row, row3, srcHalf, i), r[i])
		}
		for i := 0; i < 8; i += 2 {
			VUNPCKLPS(r[i+1], r[i], t[i])
			VUNPCKHPS(r[i+1], r[i], t[i+1])
		}
		u := v.vecs(8)
		for i := 0; i < 8; i += 4 {
			VSHUFPS(U8(0x44), t[i+2], t[i], u[i])
			VSHUFPS(U8(0xee), t[i+2], t[i], u[i+1])
			VSHUFPS(U8(0x44), t[i+3], t[i+1], u[i+2])
			VSHUFPS(U8(0xee), t[i+3], t[i+1], u[i+3])
		}
		for i := 0; i < 4; i++ {
			lo, hi := v.vec(), v.vec()
			VPERM2F128(U8(0x20), u[i+4], u[i], lo)
			VPERM2F128(U8(0x31), u[i+4], u[i], hi)
			VMOVUPS(lo, rows(dst, width, width3, dstHalf, i))
			VMOVUPS(hi, rows(dst, width, width3, dstHalf, i+4))
		}
		ADDQ(Imm(32), src)
		LEAQ(Mem{Base: dst, Index: width, Scale: 8}, dst)
	})
	v.done()
}
