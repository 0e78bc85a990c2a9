package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// peakChains is the number of independent chains of fused multiply-adds in the peak loop.
// It is enough to hide their latency on every processor.
const peakChains = 24

// peak writes a loop of only fused multiply-adds on registers: N steps of 24 chains, or of
// 8 chains on AVX2. Benchmarks compare with its speed.
func (v isa) peak() {
	a := v.text("peak", "Vec", "peak"+v.name+" multiplies and adds on registers alone, N times; it reads X[0:16], Z[0:16] and writes Y[0:16].")
	n := a.int("N")
	chains := peakChains
	if v.lanes == 8 {
		chains = 12
	}
	acc := v.vecs(chains)
	x, z := a.ptr("X"), a.ptr("Z")
	xv, zv := v.vec(), v.vec()
	VMOVUPS(Mem{Base: x}, xv)
	VMOVUPS(Mem{Base: z}, zv)
	for _, r := range acc {
		v.clear(r)
	}
	Label("loop")
	for _, r := range acc {
		VFMADD231PS(xv, zv, r)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	for _, r := range acc[1:] {
		VADDPS(r, acc[0], acc[0])
	}
	y := a.ptr("Y")
	VMOVUPS(acc[0], Mem{Base: y})
	v.done()
}
