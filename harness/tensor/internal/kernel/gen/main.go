// Gen writes the amd64 assembly of the kernel package. It writes every kernel twice: with
// 512-bit registers (AVX-512) and with 256-bit registers (AVX2 and FMA).
//
// Run it with go generate in the kernel package.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	Package("dgkip/harness/tensor/internal/kernel")
	ConstraintExpr("!noasm")
	for _, v := range []isa{avx512, avx2} {
		for rows := 1; rows <= v.rows; rows++ {
			for cols := 1; cols <= 2; cols++ {
				v.tile(rows, cols)
			}
		}
		v.winogradIn()
		v.winogradOut()
		v.winogradFilter()
		v.elementwise()
		v.pooling()
		v.columns()
		v.dot()
		v.pack()
		v.cross()
		v.wide()
		v.arc()
		v.covariances()
		v.peak()
	}
	packTransposed()
	Generate()
}
