package fmath_test

import (
	"fmt"

	"dgkip/harness/fmath"
)

func Example() {
	// The hexadecimal form shows every bit: it is the same everywhere.
	fmt.Printf("%x\n", fmath.Exp(1))
	fmt.Printf("%x\n", fmath.Log(10))
	fmt.Printf("%x\n", fmath.Sigmoid(-30))

	// A float32 sum whose last bit depends on rounding once.
	a, b, c := float32(0x1.000002p-12), float32(0x1.fffffcp-13), float32(0x1.000002p+00)
	fmt.Printf("%x\n", fmath.FMA32(a, b, c))
	// Output:
	// 0x1.5bf0a8b145769p+01
	// 0x1.26bb1bbb55516p+01
	// 0x1.a56e0c2ac7cbfp-44
	// 0x1.000002p+00
}
