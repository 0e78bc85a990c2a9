package main

import (
	"fmt"

	"dgkip/harness/tensor/internal/kernel"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile writes the micro-kernel for a register tile of rows x (cols registers).
//
// The sums stay in registers. A step over k loads cols registers of B and broadcasts one
// value of A for each row. Three rows share one address register: row 3q+r is at
// p[q] + r*ARow, which the addressing mode computes at no cost.
func (v isa) tile(rows, cols int) {
	a := v.text(fmt.Sprintf("tile%dx%d_", rows, cols), "Tile")

	acc := v.vecs(rows * cols)
	for _, r := range acc {
		v.clear(r)
	}
	arow, ak, bk := a.bytes("ARow"), a.bytes("AK"), a.bytes("BK")
	seg := a.ptr("Segs")
	nseg := Load(a.c.Field("Segs").Len(), GP64()).(reg.GPVirtual)

	p := make([]reg.GPVirtual, (rows+2)/3)
	for i := range p {
		p[i] = GP64()
	}
	b, k := GP64(), GP64()
	bv := v.vecs(cols)

	// Prefetch C, which receives the sums at the end.
	at, crow := a.ptr("C"), a.bytes("CRow")
	for i := 0; i < rows; i++ {
		for j := 0; j < cols*v.bytes(); j += 64 {
			PREFETCHT0(Mem{Base: at, Disp: j})
		}
		ADDQ(crow, at)
	}

	Label("segment")
	{
		a.reptr("A", p[0])
		MOVQ(Mem{Base: seg}, k)
		LEAQ(Mem{Base: p[0], Index: k, Scale: 4}, p[0])
		for i := 1; i < len(p); i++ {
			LEAQ(Mem{Base: p[i-1], Index: arow, Scale: 2}, p[i])
			ADDQ(arow, p[i])
		}
		a.reptr("B", b)
		MOVQ(Mem{Base: seg, Disp: 8}, k)
		LEAQ(Mem{Base: b, Index: k, Scale: 4}, b)
		a.reload("K", k)

		Label("step")
		for j := range bv {
			VMOVUPS(Mem{Base: b, Disp: j * v.bytes()}, bv[j])
		}
		ADDQ(bk, b)
		av := v.vecs(2)
		for i := 0; i < rows; i++ {
			m := Mem{Base: p[i/3]}
			if i%3 > 0 {
				m.Index, m.Scale = arow, uint8(i%3)
			}
			x := av[i%2]
			VBROADCASTSS(m, x)
			for j := range bv {
				VFMADD231PS(bv[j], x, acc[i*cols+j])
			}
		}
		for i := range p {
			ADDQ(ak, p[i])
		}
		DECQ(k)
		JNZ(LabelRef("step"))

		ADDQ(Imm(16), seg)
		DECQ(nseg)
		JNZ(LabelRef("segment"))
	}

	mode, c := a.int("Mode"), a.ptr("C")
	crow = a.bytes("CRow")
	eachRow := func(do func(i int, at reg.GPVirtual)) {
		at := GP64()
		MOVQ(c, at)
		for i := 0; i < rows; i++ {
			do(i, at)
			if i < rows-1 {
				ADDQ(crow, at)
			}
		}
	}
	whenMode("noadd", mode, kernel.Add, func() {
		eachRow(func(i int, at reg.GPVirtual) {
			for j := 0; j < cols; j++ {
				VADDPS(Mem{Base: at, Disp: j * v.bytes()}, acc[i*cols+j], acc[i*cols+j])
			}
		})
	})
	whenMode("nobias", mode, kernel.AddBias, func() {
		bias := a.ptr("Bias")
		for j := range bv {
			VMOVUPS(Mem{Base: bias, Disp: j * v.bytes()}, bv[j])
		}
		for i, r := range acc {
			VADDPS(bv[i%cols], r, r)
		}
	})
	whenMode("norelu", mode, kernel.ReLU, func() {
		v.clear(bv[0])
		for _, r := range acc {
			VMAXPS(r, bv[0], r)
		}
	})
	eachRow(func(i int, at reg.GPVirtual) {
		for j := 0; j < cols; j++ {
			VMOVUPS(acc[i*cols+j], Mem{Base: at, Disp: j * v.bytes()})
		}
	})
	v.done()
}

// done returns from a kernel.
func (v isa) done() {
	VZEROUPPER()
	RET()
}
