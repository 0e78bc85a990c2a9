package main

import (
	"fmt"
	"math"

	"dgkip/harness/tensor/internal/kernel"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bits64 returns a register with the bits x in every lane.
func (v isa) bits64(x uint64) reg.VecVirtual {
	m, ok := constants64[x]
	if !ok {
		m = ConstData(fmt.Sprintf("wide%d", len(constants64)), U64(x))
		constants64[x] = m
	}
	r := v.vec()
	VBROADCASTSD(m, r)
	return r
}

// constant64 returns a register with the number x in every lane.
func (v isa) constant64(x float64) reg.VecVirtual { return v.bits64(math.Float64bits(x)) }

var constants64 = map[uint64]Mem{}

// splat64 returns a register with the float64 field in every lane.
func (a args) splat64(v isa, field string) reg.VecVirtual {
	r := v.vec()
	if b, err := a.c.Field(field).Resolve(); err == nil { // Generate reports it
		VBROADCASTSD(b.Addr, r)
	}
	return r
}

// and and or combine bits. In 512-bit registers they use only AVX512F.
func (v isa) and(x, y Op, to reg.VecVirtual) {
	if v.lanes == 16 {
		VPANDQ(x, y, to)
	} else {
		VANDPD(x, y, to)
	}
}

func (v isa) or(x, y Op, to reg.VecVirtual) {
	if v.lanes == 16 {
		VPORQ(x, y, to)
	} else {
		VORPD(x, y, to)
	}
}

// arc writes the operations on Arc, step by step as in plain Go. Roots and quotients take
// most of the time, so constants are read again for each register.
func (v isa) arc() {
	for _, slopes := range []bool{false, true} {
		name := "arc"
		if slopes {
			name = "arcSlopes"
		}
		a := v.text(name, "Arc")
		k, root, inverse := a.ptr("K"), a.ptr("Root"), a.ptr("Inverse")
		bias, x, inverseX := a.splat64(v, "Bias"), a.splat64(v, "X"), a.splat64(v, "InverseX")
		var inXY, inXX reg.GPVirtual
		var norm reg.VecVirtual
		if slopes {
			inXY, inXX, norm = a.ptr("InXY"), a.ptr("InXX"), a.splat64(v, "Norm")
		}
		eachEight(a.int("N"), func(i reg.GPVirtual) {
			for half := range v.halves() {
				s, c, r := v.vec(), v.vec(), v.vec()
				VMOVUPD(v.at(k, i, half), s)
				VADDPD(s, s, s)
				VADDPD(bias, s, s)
				VMULPD(v.at(inverse, i, half), inverseX, c)
				VMULPD(c, s, c)
				VMULPD(v.at(root, i, half), x, r)
				rest, h := v.arcCosine(c, r)

				y := v.vec()
				VMULPD(s, rest, y)
				VADDPD(y, h, y)
				scale := v.constant64(kernel.ArcScale)
				VMULPD(scale, y, y)
				VMOVUPD(y, v.at(k, i, half))
				if !slopes {
					continue
				}
				VMULPD(scale, rest, rest)
				VADDPD(rest, rest, rest)
				VMULPD(scale, h, h)
				VDIVPD(norm, h, h)
				VMULPD(v.at(inXX, i, half), rest, y)
				VADDPD(h, y, y)
				VMOVUPD(y, v.at(inXX, i, half))
				VMULPD(v.at(inXY, i, half), rest, rest)
				VMOVUPD(rest, v.at(inXY, i, half))
			}
		})
		v.done()
	}
}

// arcCosine returns pi - t and r sin t for cos t = c. It overwrites r.
func (v isa) arcCosine(c, r reg.VecVirtual) (rest, h reg.VecVirtual) {
	one, magnitude := v.constant64(1), v.bits64(1<<63-1)
	u, w, q := v.vec(), v.vec(), v.constant64(kernel.ArcPoly[0])
	v.and(magnitude, c, u)
	VMINPD(u, one, u) // keeps u if it is NaN
	VSUBPD(u, one, w)
	VSQRTPD(w, w)
	for _, p := range kernel.ArcPoly[1:] {
		VMULPD(u, q, q)
		VADDPD(v.constant64(p), q, q)
	}
	VMULPD(w, q, q)
	right := v.constant64(math.Pi / 2)
	VSUBPD(q, right, q)
	v.and(magnitude, q, q)
	sign := v.bits64(1 << 63)
	v.and(sign, c, sign)
	v.or(sign, q, q)
	VSUBPD(q, right, right)
	rest = v.constant64(math.Pi)
	VSUBPD(right, rest, rest)

	VADDPD(u, one, one)
	VSQRTPD(one, one)
	VMULPD(one, w, w)
	VMULPD(w, r, r)
	return rest, r
}
