package main

import (
	"dgkip/harness/tensor/internal/kernel"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// halves returns the number of registers that hold the eight partial sums of an inner product
// in float64.
func (v isa) halves() int { return 2 * kernel.WideLanes / v.lanes }

// doubles returns the number of float64 values in a register.
func (v isa) doubles() int { return v.lanes / 2 }

// widen loads a register of float32 values, from feature k on, as float64.
func (v isa) widen(row, k reg.GPVirtual, half int) reg.VecVirtual {
	r := v.vec()
	VCVTPS2PD(Mem{Base: row, Index: k, Scale: 4, Disp: 4 * half * v.doubles()}, r)
	return r
}

// at addresses float64 values from feature k on.
func (v isa) at(vector, k reg.GPVirtual, half int) Mem {
	return Mem{Base: vector, Index: k, Scale: 8, Disp: 8 * half * v.doubles()}
}

// splat64 returns a register with the float64 value p[i] in every lane.
func (v isa) splat64(p reg.GPVirtual, i int) reg.VecVirtual {
	r := v.vec()
	VBROADCASTSD(Mem{Base: p, Disp: 8 * i}, r)
	return r
}

// rowsOf returns the addresses of n rows. If there are fewer, it repeats the last one.
func rowsOf(first, stride, rows reg.GPVirtual, n int) []reg.GPVirtual {
	p := []reg.GPVirtual{first}
	for i := 1; i < n; i++ {
		next, r := GP64(), GP64()
		LEAQ(Mem{Base: p[i-1], Index: stride, Scale: 1}, next)
		MOVQ(p[i-1], r)
		CMPQ(rows, Imm(uint64(i)))
		CMOVQGT(next, r)
		p = append(p, r)
	}
	return p
}

// eachEight runs body for k = 0, 8, ... below n, a multiple of 8.
func eachEight(n reg.GPVirtual, body func(k reg.GPVirtual)) {
	k := GP64()
	XORQ(k, k)
	Label("loop")
	body(k)
	ADDQ(Imm(kernel.WideLanes), k)
	CMPQ(k, n)
	JLT(LabelRef("loop"))
}

// reduce stores the total of the eight partial sums of an inner product.
func (v isa) reduce(s []reg.VecVirtual, to Mem) {
	if v.lanes == 16 {
		// This uses whole registers, because parts of registers 16 to 31 need more than AVX512F.
		t := v.vec()
		VSHUFF64X2(U8(0x4e), s[0], s[0], t)
		VADDPD(t, s[0], s[0])
		VSHUFF64X2(U8(0xb1), s[0], s[0], t)
		VADDPD(t, s[0], s[0])
		VPERMILPD(U8(0x55), s[0], t)
		VADDPD(t, s[0], s[0])
	} else {
		t := v.vec()
		VADDPD(s[1], s[0], s[0])
		VPERM2F128(U8(0x01), s[0], s[0], t)
		VADDPD(t, s[0], s[0])
		VPERMILPD(U8(0x5), s[0], t)
		VADDPD(t, s[0], s[0])
	}
	VMOVSD(s[0].AsX(), to)
}

// sums returns n sets of partial sums, set to zero.
func (v isa) sums(n int) [][]reg.VecVirtual {
	s := make([][]reg.VecVirtual, n)
	for i := range s {
		s[i] = v.vecs(v.halves())
		for _, r := range s[i] {
			v.clear(r)
		}
	}
	return s
}

// cross writes the inner products of rows with rows. Both sides are widened when they are
// loaded. Each product is exact, so fusing it with the sum does not change the result.
func (v isa) cross() {
	a := v.text("cross", "Cross")
	x := rowsOf(a.ptr("A"), a.bytes("ARow"), a.int("Rows"), v.crossRows)
	y := rowsOf(a.ptr("B"), a.bytes("BRow"), a.int("Cols"), v.crossCols)
	s := v.sums(v.crossRows * v.crossCols)
	eachEight(a.int("N"), func(k reg.GPVirtual) {
		for h := range v.halves() {
			b := make([]reg.VecVirtual, v.crossCols)
			for j := range b {
				b[j] = v.widen(y[j], k, h)
			}
			for i := range x {
				r := v.widen(x[i], k, h)
				for j := range b {
					VFMADD231PD(b[j], r, s[i*v.crossCols+j][h])
				}
			}
		}
	})
	c, row := a.ptr("C"), a.int("CRow")
	for i, r := range s {
		v.reduce(r, Mem{Base: c, Disp: 8 * (i % v.crossCols)})
		if i%v.crossCols == v.crossCols-1 && i < len(s)-1 {
			LEAQ(Mem{Base: c, Index: row, Scale: 8}, c)
		}
	}
	v.done()
}

// wide writes the operations on Wide.
func (v isa) wide() {
	a := v.text("mulVec", "Wide")
	x := rowsOf(a.ptr("X"), a.bytes("Row"), a.int("Rows"), v.wideRows)
	vec, s := a.ptr("V"), v.sums(v.wideRows)
	eachEight(a.int("N"), func(k reg.GPVirtual) {
		for h := range v.halves() {
			y := v.vec()
			VMOVUPD(v.at(vec, k, h), y)
			for i := range x {
				r := v.widen(x[i], k, h)
				VMULPD(y, r, r)
				VADDPD(r, s[i][h], s[i][h])
			}
		}
	})
	to := a.ptr("S")
	for i, r := range s {
		v.reduce(r, Mem{Base: to, Disp: 8 * i})
	}
	v.done()

	for _, n := range []int{kernel.AddRowsAtOnce, 1} {
		name := "addRow"
		if n > 1 {
			name = "addRows"
		}
		a := v.text(name, "Wide")
		x := []reg.GPVirtual{a.ptr("X")}
		row, coef, u := a.bytes("Row"), a.ptr("S"), a.ptr("U")
		c := []reg.VecVirtual{v.splat64(coef, 0)}
		for i := 1; i < n; i++ {
			p := GP64()
			LEAQ(Mem{Base: x[i-1], Index: row, Scale: 1}, p)
			x, c = append(x, p), append(c, v.splat64(coef, i))
		}
		eachEight(a.int("N"), func(k reg.GPVirtual) {
			for h := range v.halves() {
				sum := v.vec()
				VMOVUPD(v.at(u, k, h), sum)
				for i := range x {
					r := v.widen(x[i], k, h)
					VMULPD(c[i], r, r)
					VADDPD(r, sum, sum)
				}
				VMOVUPD(sum, v.at(u, k, h))
			}
		})
		v.done()
	}

	for _, two := range []bool{false, true} {
		name := "outer"
		if two {
			name = "outer2"
		}
		a := v.text(name, "Wide")
		x, coef, u := a.ptr("X"), a.ptr("S"), a.ptr("U")
		c := v.splat64(coef, 0)
		var d reg.VecVirtual
		var w reg.GPVirtual
		if two {
			d, w = v.splat64(coef, 1), a.ptr("V")
		}
		eachEight(a.int("N"), func(k reg.GPVirtual) {
			for h := range v.halves() {
				r := v.vec()
				VMULPD(v.at(u, k, h), c, r)
				if two {
					t := v.vec()
					VMULPD(v.at(w, k, h), d, t)
					VADDPD(t, r, r)
				}
				to := Mem{Base: x, Index: k, Scale: 4, Disp: 4 * h * v.doubles()}
				if v.lanes == 16 {
					VCVTPD2PS(r, r.AsY())
					VMOVUPS(r.AsY(), to)
				} else {
					VCVTPD2PSY(r, r.AsX())
					VMOVUPS(r.AsX(), to)
				}
			}
		})
		v.done()
	}
}
