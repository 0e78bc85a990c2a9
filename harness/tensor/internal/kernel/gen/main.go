// Gen writes the amd64 assembly of the kernel package. It writes every kernel twice: with
// 512-bit registers (AVX-512) and with 256-bit registers (AVX2 and FMA).
//
// Run it with go generate in the kernel package.
package main

import (
	"bytes"
	"flag"
	"log"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

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
		v.pack()
		v.cross()
		v.wide()
		v.arc()
		v.covariances()
	}
	packTransposed()
	Generate()

	// The declarations follow each other without the empty lines that avo writes.
	stubs := flag.Lookup("stubs").Value.String()
	b, err := os.ReadFile(stubs)
	if err == nil {
		err = os.WriteFile(stubs, bytes.ReplaceAll(b, []byte(")\n\nfunc"), []byte(")\nfunc")), 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}
}
