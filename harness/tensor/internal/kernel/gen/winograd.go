package main

import (
	"dgkip/harness/tensor/internal/kernel"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// This file writes the transforms of Winograd's F(4x4, 3x3), for channels in whole registers.
// The transforms of input and
// output first run over the rows of a 6x6 block, into scratch memory on the stack, and then
// over its columns.

// winogradIn writes V = B' d B.
func (v isa) winogradIn() {
	a := v.textStack("winogradIn", "WinogradIn")
	tmp := AllocLocal(36 * v.bytes())
	four := v.constant(4)

	// apply multiplies six registers by B' and overwrites some of them.
	apply := func(d []reg.VecVirtual) []reg.VecVirtual {
		t := v.vecs(6)
		x, y := v.vec(), v.vec()
		// t0 = 4 (d0 - d2) + (d4 - d2), t5 = 4 (d1 - d3) + (d5 - d3)
		VSUBPS(d[2], d[4], x)
		VSUBPS(d[2], d[0], t[0])
		VMULPS(four, t[0], t[0])
		VADDPS(x, t[0], t[0])
		VSUBPS(d[3], d[5], y)
		VSUBPS(d[3], d[1], t[5])
		VMULPS(four, t[5], t[5])
		VADDPS(y, t[5], t[5])
		// t3, t4 = (d4 - d2) +- 2 (d3 - d1)
		VSUBPS(d[1], d[3], y)
		VADDPS(y, y, y)
		VADDPS(y, x, t[3])
		VSUBPS(y, x, t[4])
		// t1, t2 = (d4 - 4 d2) +- (d3 - 4 d1)
		VMULPS(four, d[2], d[2])
		VSUBPS(d[2], d[4], d[4])
		VMULPS(four, d[1], d[1])
		VSUBPS(d[1], d[3], d[3])
		VADDPS(d[3], d[4], t[1])
		VSUBPS(d[3], d[4], t[2])
		return t
	}

	src, dst := a.ptr("Src"), a.ptr("Dst")
	row, pix, plane, n := a.bytes("Row"), a.bytes("Pix"), a.bytes("Plane"), a.int("C")
	repeat("channels", n, v.lanes, func() {
		at, px := GP64(), GP64()
		MOVQ(src, at)
		for i := 0; i < 6; i++ {
			d := v.vecs(6)
			MOVQ(at, px)
			for j := 0; j < 6; j++ {
				VMOVUPS(Mem{Base: px}, d[j])
				ADDQ(pix, px)
			}
			for j, t := range apply(d) {
				VMOVUPS(t, tmp.Offset((6*i+j)*v.bytes()))
			}
			ADDQ(row, at)
		}
		out := GP64()
		MOVQ(dst, out)
		col := GP64()
		six := GP64()
		LEAQ(Mem{Base: plane, Index: plane, Scale: 2}, six)
		ADDQ(six, six)
		for j := 0; j < 6; j++ {
			d := v.vecs(6)
			for i := 0; i < 6; i++ {
				VMOVUPS(tmp.Offset((6*i+j)*v.bytes()), d[i])
			}
			MOVQ(out, col)
			for _, t := range apply(d) {
				VMOVUPS(t, Mem{Base: col})
				ADDQ(six, col)
			}
			ADDQ(plane, out)
		}
		ADDQ(Imm(uint64(v.bytes())), src)
		ADDQ(Imm(uint64(v.bytes())), dst)
	})
	v.done()
}

// winogradOut writes Y = A' M A, then bias and ReLU.
func (v isa) winogradOut() {
	a := v.textStack("winogradOut", "WinogradOut")
	tmp := AllocLocal(24 * v.bytes())
	two, four, eight := v.constant(2), v.constant(4), v.constant(8)

	apply := func(m []reg.VecVirtual) []reg.VecVirtual {
		y := v.vecs(4)
		s, d, s2, d2 := v.vec(), v.vec(), v.vec(), v.vec()
		VADDPS(m[2], m[1], s)
		VSUBPS(m[2], m[1], d)
		VADDPS(m[4], m[3], s2)
		VSUBPS(m[4], m[3], d2)
		// y0 = (m0 + s) + s2, y3 = (d + 8 d2) + m5
		VADDPS(s, m[0], y[0])
		VADDPS(s2, y[0], y[0])
		VMULPS(eight, d2, y[3])
		VADDPS(y[3], d, y[3])
		VADDPS(m[5], y[3], y[3])
		// y1 = d + 2 d2, y2 = s + 4 s2
		VMULPS(two, d2, y[1])
		VADDPS(y[1], d, y[1])
		VMULPS(four, s2, y[2])
		VADDPS(y[2], s, y[2])
		return y
	}

	src, dst, bias := a.ptr("Src"), a.ptr("Dst"), a.ptr("Bias")
	row, pix, plane, n, mode := a.bytes("Row"), a.bytes("Pix"), a.bytes("Plane"), a.int("C"), a.int("Mode")
	repeat("channels", n, v.lanes, func() {
		at := GP64()
		MOVQ(src, at)
		for i := 0; i < 6; i++ {
			m := v.vecs(6)
			for j := 0; j < 6; j++ {
				VMOVUPS(Mem{Base: at}, m[j])
				ADDQ(plane, at)
			}
			for j, y := range apply(m) {
				VMOVUPS(y, tmp.Offset((4*i+j)*v.bytes()))
			}
		}
		out, col := GP64(), GP64()
		MOVQ(dst, out)
		b := v.vec()
		v.clear(b)
		whenMode("nobias", mode, kernel.AddBias, func() {
			VMOVUPS(Mem{Base: bias}, b)
			ADDQ(Imm(uint64(v.bytes())), bias)
		})
		for j := 0; j < 4; j++ {
			m := v.vecs(6)
			for i := 0; i < 6; i++ {
				VMOVUPS(tmp.Offset((4*i+j)*v.bytes()), m[i])
			}
			y := apply(m)
			label := string(rune('0' + j))
			whenMode("plain"+label, mode, kernel.AddBias, func() {
				for i := range y {
					VADDPS(b, y[i], y[i])
				}
			})
			whenMode("linear"+label, mode, kernel.ReLU, func() {
				zero := v.vec()
				v.clear(zero)
				for i := range y {
					VMAXPS(y[i], zero, y[i])
				}
			})
			MOVQ(out, col)
			for i := range y {
				VMOVUPS(y[i], Mem{Base: col})
				ADDQ(row, col)
			}
			ADDQ(pix, out)
		}
		ADDQ(Imm(uint64(v.bytes())), src)
		ADDQ(Imm(uint64(v.bytes())), dst)
	})
	v.done()
}

// winogradFilter generates the kernel that computes U = G g G'.
func (v isa) winogradFilter() {
	a := v.textStack("winogradFilter", "WinogradFilter")
	tmp := AllocLocal(18 * v.bytes())
	fourth, sixth := v.constant(0.25), v.constant(kernel.Sixth)
	twelfth, twentyFourth := v.constant(kernel.Sixth/2), v.constant(kernel.Sixth/4)

	apply := func(g []reg.VecVirtual) []reg.VecVirtual {
		u := v.vecs(6)
		VMULPS(fourth, g[0], u[0])
		// u1, u2 = -(g0 + g2)/6 -+ g1/6
		q, r := v.vec(), v.vec()
		v.clear(u[1])
		VADDPS(g[2], g[0], q)
		VMULPS(sixth, q, q)
		VMULPS(sixth, g[1], r)
		VSUBPS(q, u[1], q)
		VSUBPS(r, q, u[1])
		VADDPS(r, q, u[2])
		// u3, u4 = (g0/24 + g2/6) +- g1/12
		VMULPS(twentyFourth, g[0], q)
		VMULPS(sixth, g[2], r)
		VADDPS(r, q, q)
		VMULPS(twelfth, g[1], r)
		VADDPS(r, q, u[3])
		VSUBPS(r, q, u[4])
		u[5] = g[2]
		return u
	}
	src, dst := a.ptr("Src"), a.ptr("Dst")
	tap, plane, n := a.bytes("Tap"), a.bytes("Plane"), a.int("C")
	repeat("channels", n, v.lanes, func() {
		at := GP64()
		MOVQ(src, at)
		for i := range 3 {
			g := v.vecs(3)
			for j := range g {
				VMOVUPS(Mem{Base: at}, g[j])
				ADDQ(tap, at)
			}
			for j, u := range apply(g) {
				VMOVUPS(u, tmp.Offset((6*i+j)*v.bytes()))
			}
		}
		out, col, six := GP64(), GP64(), GP64()
		MOVQ(dst, out)
		LEAQ(Mem{Base: plane, Index: plane, Scale: 2}, six)
		ADDQ(six, six)
		for j := range 6 {
			g := v.vecs(3)
			for i := range g {
				VMOVUPS(tmp.Offset((6*i+j)*v.bytes()), g[i])
			}
			MOVQ(out, col)
			for _, u := range apply(g) {
				VMOVUPS(u, Mem{Base: col})
				ADDQ(six, col)
			}
			ADDQ(plane, out)
		}
		ADDQ(Imm(uint64(v.bytes())), src)
		ADDQ(Imm(uint64(v.bytes())), dst)
	})
	v.done()
}
