package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quad addresses the 2x2 pixels that are averaged into one pooled pixel.
type quad struct{ top, low, pix reg.GPVirtual }

func (q quad) at(pos int) Mem {
	m := Mem{Base: q.top}
	if pos >= 2 {
		m.Base = q.low
	}
	if pos%2 == 1 {
		m.Index, m.Scale = q.pix, 1
	}
	return m
}

// bitPlanes addresses the bits of the four pixels, with size bytes for each pixel.
type bitPlanes struct{ base, size, size3 reg.GPVirtual }

func (b bitPlanes) at(pos int) Mem {
	switch pos {
	case 1, 2:
		return Mem{Base: b.base, Index: b.size, Scale: uint8(pos)}
	case 3:
		return Mem{Base: b.base, Index: b.size3, Scale: 1}
	}
	return Mem{Base: b.base}
}

// pooling writes the sum over 2x2 pixels, with and without a record of which were positive,
// and its adjoint, which sets values to zero by the record or by the activations.
func (v isa) pooling() {
	v.poolKernel("pool", false, false,
		func(scale reg.VecVirtual, small Mem, q, _ quad, _ bitPlanes) {
			x, y := v.vec(), v.vec()
			VMOVUPS(q.at(0), x)
			VADDPS(q.at(1), x, x)
			VMOVUPS(q.at(2), y)
			VADDPS(q.at(3), y, y)
			VADDPS(y, x, x)
			VMULPS(scale, x, x)
			VMOVUPS(x, small)
		})
	v.poolKernel("poolBits", false, true,
		func(scale reg.VecVirtual, small Mem, q, _ quad, bits bitPlanes) {
			zero := v.vec()
			v.clear(zero)
			x := v.vecs(4)
			for pos := range x {
				VMOVUPS(q.at(pos), x[pos])
				v.storeBits(x[pos], zero, bits.at(pos))
			}
			VADDPS(x[1], x[0], x[0])
			VADDPS(x[3], x[2], x[2])
			VADDPS(x[2], x[0], x[0])
			VMULPS(scale, x[0], x[0])
			VMOVUPS(x[0], small)
		})
	v.poolKernel("unpoolMask", true, false,
		func(scale reg.VecVirtual, small Mem, q, act quad, _ bitPlanes) {
			g := v.vec()
			VMULPS(small, scale, g)
			for pos := range 4 {
				y := v.vec()
				v.maskPositive(act.at(pos), g, y)
				VMOVUPS(y, q.at(pos))
			}
		})
	v.poolKernel("unpoolBits", false, true,
		func(scale reg.VecVirtual, small Mem, q, _ quad, bits bitPlanes) {
			g := v.vec()
			VMULPS(small, scale, g)
			for pos := range 4 {
				y := v.vec()
				v.loadBits(bits.at(pos), g, y)
				VMOVUPS(y, q.at(pos))
			}
		})
}

// poolKernel writes the loops over pixels and channels around body.
func (v isa) poolKernel(name string, act, bits bool, body func(scale reg.VecVirtual, small Mem, q, act quad, bits bitPlanes)) {
	a := v.text(name, "Pool")
	small, big, row, w, c := a.ptr("Small"), a.ptr("Big"), a.bytes("Row"), a.int("W"), a.bytes("C")
	scale := a.splat(v, "Scale")
	var act0, low, lowAct reg.GPVirtual
	var planes bitPlanes
	if act {
		act0 = a.ptr("Act")
	}
	if bits {
		planes = bitPlanes{a.ptr("Bits"), GP64(), GP64()}
		MOVQ(c, planes.size)
		SHRQ(Imm(5), planes.size) // 4 bytes of a value become 1 bit
		LEAQ(Mem{Base: planes.size, Index: planes.size, Scale: 2}, planes.size3)
	}
	repeat("pixels", w, 1, func() {
		n := GP64()
		MOVQ(c, n)
		low = GP64()
		LEAQ(Mem{Base: big, Index: row, Scale: 1}, low)
		if act {
			lowAct = GP64()
			LEAQ(Mem{Base: act0, Index: row, Scale: 1}, lowAct)
		}
		repeat("channels", n, v.bytes(), func() {
			body(scale, Mem{Base: small}, quad{big, low, c}, quad{act0, lowAct, c}, planes)
			step := Imm(uint64(v.bytes()))
			for _, p := range []reg.GPVirtual{small, big, low} {
				ADDQ(step, p)
			}
			if act {
				ADDQ(step, act0)
				ADDQ(step, lowAct)
			}
			if bits {
				ADDQ(Imm(uint64(v.lanes/8)), planes.base)
			}
		})
		ADDQ(c, big)
		if act {
			ADDQ(c, act0)
		}
		if bits {
			ADDQ(planes.size3, planes.base)
		}
	})
	v.done()
}

// less is the comparison 0 < x, false for NaN.
const less = 17

// storeBits stores one bit for each lane: whether x is positive.
func (v isa) storeBits(x, zero reg.VecVirtual, to Mem) {
	if v.lanes == 16 {
		m := K()
		VCMPPS(U8(less), x, zero, m)
		KMOVW(m, to)
		return
	}
	m, r := v.vec(), GP32()
	VCMPPS(U8(less), x, zero, m)
	VMOVMSKPS(m, r)
	MOVB(r.As8(), to)
}

// loadBits sets y to g in the lanes whose bit is set and to zero elsewhere.
func (v isa) loadBits(from Mem, g, y reg.VecVirtual) {
	if v.lanes == 16 {
		m := K()
		KMOVW(from, m)
		VMOVUPS_Z(g, m, y)
		return
	}
	if laneBits == nil {
		m := GLOBL("lanebits", attr.RODATA|attr.NOPTR)
		for i := range 8 {
			DATA(4*i, U32(1<<i))
		}
		laneBits = &m
	}
	one := v.vec()
	VMOVUPS(*laneBits, one)
	VPBROADCASTB(from, y)
	VPAND(one, y, y)
	VPCMPEQD(one, y, y)
	VANDPS(g, y, y)
}

// laneBits holds 1<<i in lane i.
var laneBits *Mem
