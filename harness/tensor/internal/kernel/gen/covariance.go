package main

import (
	"fmt"
	"math"

	"dgkip/harness/tensor/internal/kernel"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// eachPlace runs body n times.
func eachPlace(n reg.GPVirtual, body func()) {
	Label("loop")
	body()
	DECQ(n)
	JNZ(LabelRef("loop"))
}

// place is the number of bytes of a place.
const place = 8 * kernel.WideLanes

// half addresses the part of place i that a register holds.
func (v isa) half(p reg.GPVirtual, i, half int) Mem {
	return Mem{Base: p, Disp: place*i + 8*half*v.doubles()}
}

// table returns memory with a number in all lanes, for use as an operand.
func (v isa) table(x float64) Mem {
	m, ok := tables[x]
	if !ok {
		m = GLOBL(fmt.Sprintf("places%d", len(tables)), RODATA|NOPTR)
		for i := range kernel.WideLanes {
			DATA(8*i, U64(math.Float64bits(x)))
		}
		tables[x] = m
	}
	return m
}

var tables = map[float64]Mem{}

// covariances writes the operations on Products, Sums and Rectify, step by step as in plain
// Go.
func (v isa) covariances() {
	for _, same := range []bool{true, false} {
		v.products(same)
		v.rectify(same, false)
		v.rectify(same, true)
		v.rectifyBack(same, false)
		v.rectifyBack(same, true)
	}
	v.productsBack()
	a := v.text("sums", "Sums")
	to, before, at, after := a.ptr("Sum"), a.ptr("Before"), a.ptr("At"), a.ptr("After")
	eachPlace(a.int("N"), func() {
		for h := range v.halves() {
			s := v.vec()
			VMOVUPD(v.half(before, 0, h), s)
			VADDPD(v.half(at, 0, h), s, s)
			VADDPD(v.half(after, 0, h), s, s)
			VMOVUPD(s, v.half(to, 0, h))
		}
		for _, p := range []reg.GPVirtual{to, before, at, after} {
			ADDQ(Imm(place), p)
		}
	})
	v.done()
}

// named returns the name of a kernel. If same is set, X is the same in all lanes.
func named(name string, same bool) string {
	if same {
		return name + "Same"
	}
	return name
}

func (v isa) products(same bool) {
	a := v.text(named("products", same), "Products")
	row, sum, before, at, x, y := a.ptr("Row"), a.ptr("Sum"), a.ptr("Before"), a.ptr("At"), a.ptr("X"), a.ptr("Y")
	colours := a.int("C")
	eachPlace(a.int("N"), func() {
		s := v.vecs(v.halves())
		for _, r := range s {
			v.clear(r)
		}
		c := GP64()
		MOVQ(colours, c)
		Label("colour")
		f := v.vec()
		if same {
			VBROADCASTSD(Mem{Base: x}, f)
			ADDQ(Imm(8), x)
		}
		for h, r := range s {
			if !same {
				VMOVUPD(v.half(x, 0, h), f)
			}
			VFMADD231PD(v.half(y, 0, h), f, r)
		}
		if !same {
			ADDQ(Imm(place), x)
		}
		ADDQ(Imm(place), y)
		DECQ(c)
		JNZ(LabelRef("colour"))
		for h, r := range s {
			VMOVUPD(r, v.half(row, 0, h))
			b := v.vec()
			VMOVUPD(v.half(before, 0, h), b)
			VADDPD(v.half(at, 0, h), b, b)
			VADDPD(r, b, b)
			VMOVUPD(b, v.half(sum, 0, h))
		}
		for _, p := range []reg.GPVirtual{row, sum, before, at} {
			ADDQ(Imm(place), p)
		}
	})
	v.done()
}

// polynomial returns even(square) + u odd(square) for each u.
func (v isa) polynomial(p *[18]float64, u, square []reg.VecVirtual) []reg.VecVirtual {
	odd, even := v.vecs(len(u)), v.vecs(len(u))
	for h := range u {
		VMOVUPD(v.table(p[0]), odd[h])
		VMOVUPD(v.table(p[1]), even[h])
	}
	for i := 2; i < len(p); i += 2 {
		c, d := v.vec(), v.vec()
		VMOVUPD(v.table(p[i]), c)
		VMOVUPD(v.table(p[i+1]), d)
		for h := range u {
			VFMADD213PD(c, square[h], odd[h])
			VFMADD213PD(d, square[h], even[h])
		}
	}
	for h := range u {
		VFMADD231PD(odd[h], u[h], even[h])
	}
	return even
}

// threeSum returns the sum over three neighbouring places of a row.
func (v isa) threeSum(p reg.GPVirtual, h int) reg.VecVirtual {
	s := v.vec()
	VMOVUPD(v.half(p, 0, h), s)
	VADDPD(v.half(p, 1, h), s, s)
	VADDPD(v.half(p, 2, h), s, s)
	return s
}

// side returns the value of X at a place.
func (v isa) side(p reg.GPVirtual, same bool, h int) reg.VecVirtual {
	r := v.vec()
	if same {
		VBROADCASTSD(Mem{Base: p}, r)
	} else {
		VMOVUPD(v.half(p, 0, h), r)
	}
	return r
}

func (v isa) rectify(same, tangent bool) {
	name := "rectify"
	if tangent {
		name = "tangent"
	}
	a := v.text(named(name, same), "Rectify")
	dst, s3, rootX, inverseX, rootY, inverseY := a.ptr("Dst"), a.ptr("S"), a.ptr("RootX"), a.ptr("InverseX"), a.ptr("RootY"), a.ptr("InverseY")
	scale, bias := a.splat64(v, "Scale"), a.splat64(v, "Bias")
	var dstT, t3 reg.GPVirtual
	if tangent {
		dstT, t3 = a.ptr("DstT"), a.ptr("T")
	}
	eachPlace(a.int("N"), func() {
		n := v.halves()
		u, square := make([]reg.VecVirtual, n), v.vecs(n)
		covariance := func(h int) reg.VecVirtual {
			s := v.threeSum(s3, h)
			VFMADD213PD(bias, scale, s)
			return s
		}
		for h := range n {
			s, c := covariance(h), v.side(inverseX, same, h)
			VMULPD(v.half(inverseY, 0, h), c, c)
			VMULPD(s, c, c)
			v.and(v.table(math.Float64frombits(1<<63-1)), c, c)
			u[h] = c
			VMULPD(c, c, square[h])
		}
		root := func(h int, one float64) (w2, w reg.VecVirtual) {
			w2, w = v.vec(), v.vec()
			zero := v.vec()
			v.clear(zero)
			VMOVUPD(v.table(one), w2)
			VSUBPD(u[h], w2, w2)
			VMAXPD(zero, w2, w2)
			VSQRTPD(w2, w)
			return w2, w
		}
		q := v.polynomial(&kernel.RectifyPoly, u, square)
		for h := range n {
			w2, w := root(h, 1)
			VMULPD(w, w2, w2)
			VMULPD(q[h], w2, w2)
			r := v.side(rootX, same, h)
			VMULPD(v.half(rootY, 0, h), r, r)
			VMULPD(r, w2, w2)
			s, zero := covariance(h), v.vec()
			v.clear(zero)
			VMAXPD(zero, s, s)
			VADDPD(s, w2, w2)
			VADDPD(v.half(dst, 0, h), w2, w2)
			VMOVUPD(w2, v.half(dst, 0, h))
		}
		if tangent {
			q := v.polynomial(&kernel.AnglePoly, u, square)
			for h := range n {
				_, w := root(h, kernel.One)
				VFNMADD213PD(v.table(0.5), w, q[h])
				s, c := covariance(h), v.side(inverseX, same, h)
				VMULPD(v.half(inverseY, 0, h), c, c)
				VMULPD(s, c, c)
				v.and(v.table(math.Copysign(0, -1)), c, c)
				magnitude := v.vec()
				v.and(v.table(math.Float64frombits(1<<63-1)), q[h], magnitude)
				v.or(c, magnitude, magnitude)
				VADDPD(v.table(0.5), magnitude, magnitude)
				t := v.threeSum(t3, h)
				VFMADD213PD(s, scale, t)
				to := v.vec()
				VMOVUPD(v.half(dstT, 0, h), to)
				VFMADD231PD(t, magnitude, to)
				VMOVUPD(to, v.half(dstT, 0, h))
			}
			ADDQ(Imm(place), dstT)
			ADDQ(Imm(2*place), t3)
		}
		ADDQ(Imm(place), dst)
		step := 2 * place
		if same {
			step = 16
		}
		for _, p := range []reg.GPVirtual{s3, rootY, inverseY} {
			ADDQ(Imm(2*place), p)
		}
		for _, p := range []reg.GPVirtual{rootX, inverseX} {
			ADDQ(Imm(uint64(step)), p)
		}
	})
	v.done()
}

func (v isa) rectifyBack(same, tangent bool) {
	name := "rectifyBack"
	if tangent {
		name = "tangentBack"
	}
	a := v.text(named(name, same), "RectifyBack")
	slope, angle, d, s3 := a.ptr("Slope"), a.ptr("Angle"), a.ptr("D"), a.ptr("S")
	rootX, inverseX, rootY, inverseY := a.ptr("RootX"), a.ptr("InverseX"), a.ptr("RootY"), a.ptr("InverseY")
	scale, bias := a.splat64(v, "Scale"), a.splat64(v, "Bias")
	var slopeT, dT, t3 reg.GPVirtual
	if tangent {
		slopeT, dT, t3 = a.ptr("SlopeT"), a.ptr("DT"), a.ptr("T")
	}
	eachPlace(a.int("N"), func() {
		n := v.halves()
		u, square := make([]reg.VecVirtual, n), v.vecs(n)
		covariance := func(h int) reg.VecVirtual {
			s := v.threeSum(s3, h)
			VFMADD213PD(bias, scale, s)
			return s
		}
		inverse := func(h int) reg.VecVirtual {
			c := v.side(inverseX, same, h)
			VMULPD(v.half(inverseY, 0, h), c, c)
			return c
		}
		cosine := func(h int) reg.VecVirtual {
			s, c := covariance(h), inverse(h)
			VMULPD(s, c, c)
			return c
		}
		for h := range n {
			c := cosine(h)
			v.and(v.table(math.Float64frombits(1<<63-1)), c, c)
			u[h] = c
			VMULPD(c, c, square[h])
		}
		q := v.polynomial(&kernel.AnglePoly, u, square)
		for h := range n {
			zero, w2, w, sin := v.vec(), v.vec(), v.vec(), v.vec()
			v.clear(zero)
			VMOVUPD(v.table(kernel.One), w2)
			VSUBPD(u[h], w2, w2)
			VMAXPD(zero, w2, w2)
			VSQRTPD(w2, w)
			VADDPD(v.table(1), u[h], u[h])
			VSQRTPD(u[h], sin)
			VMULPD(w, sin, sin)
			VFNMADD213PD(v.table(0.5), w, q[h])
			c, magnitude := cosine(h), v.vec()
			v.and(v.table(math.Copysign(0, -1)), c, c)
			v.and(v.table(math.Float64frombits(1<<63-1)), q[h], magnitude)
			v.or(c, magnitude, magnitude)
			VADDPD(v.table(0.5), magnitude, magnitude)
			r := v.side(rootX, same, h)
			VMULPD(v.half(rootY, 0, h), r, r)
			VMULPD(r, sin, r)
			to := v.vec()
			VMOVUPD(v.half(angle, 0, h), to)
			VFMADD231PD(v.half(d, 0, h), r, to)
			if tangent {
				VMAXPD(v.table(kernel.Least), w2, w2)
				VMULPD(u[h], w2, w2)
				VDIVPD(w2, sin, sin)
				VMULPD(inverse(h), sin, sin)
				s, t, both := covariance(h), v.threeSum(t3, h), v.vec()
				VFMADD213PD(s, scale, t)
				VMOVUPD(v.half(dT, 0, h), both)
				VMULPD(both, t, t)
				VMULPD(t, sin, sin)
				VMULPD(both, magnitude, t)
				VMOVUPD(t, v.half(slopeT, 0, h))
				VADDPD(v.half(d, 0, h), both, both)
				VMULPD(both, magnitude, magnitude)
				VFMADD231PD(v.table(1/math.Pi), sin, magnitude)
				VFNMADD231PD(s, sin, to)
			} else {
				VMULPD(v.half(d, 0, h), magnitude, magnitude)
			}
			VMOVUPD(magnitude, v.half(slope, 0, h))
			VMOVUPD(to, v.half(angle, 0, h))
		}
		ADDQ(Imm(place), d)
		if tangent {
			ADDQ(Imm(place), dT)
			ADDQ(Imm(2*place), slopeT)
			ADDQ(Imm(2*place), t3)
		}
		step := 2 * place
		if same {
			step = 16
		}
		for _, p := range []reg.GPVirtual{slope, angle, s3, rootY, inverseY} {
			ADDQ(Imm(2*place), p)
		}
		for _, p := range []reg.GPVirtual{rootX, inverseX} {
			ADDQ(Imm(uint64(step)), p)
		}
	})
	v.done()
}

func (v isa) productsBack() {
	a := v.text("productsBack", "ProductsBack")
	x, y, s3 := a.ptr("X"), a.ptr("Y"), a.ptr("S")
	colours := a.int("C")
	eachPlace(a.int("N"), func() {
		s := make([]reg.VecVirtual, v.halves())
		for h := range s {
			s[h] = v.threeSum(s3, h)
		}
		c := GP64()
		MOVQ(colours, c)
		Label("colour")
		for h := range s {
			to := v.vec()
			VMOVUPD(v.half(x, 0, h), to)
			VFMADD231PD(v.half(y, 0, h), s[h], to)
			VMOVUPD(to, v.half(x, 0, h))
		}
		ADDQ(Imm(place), x)
		ADDQ(Imm(place), y)
		DECQ(c)
		JNZ(LabelRef("colour"))
		ADDQ(Imm(place), s3)
	})
	v.done()
}
