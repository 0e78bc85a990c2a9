package npz

import "math"

// toHalf rounds to the nearest 16-bit float, ties to even.
func toHalf(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	switch a := math.Abs(float64(x)); {
	case x != x:
		return sign | 0x7e00
	case a >= 65520:
		return sign | 0x7c00
	case a < 0x1p-14: // subnormal: multiples of 2^-24
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	mantissa := bits&0x7fffff | 0x800000
	exponent := int(bits>>23&0xff) - 127
	rounded := mantissa >> 13
	if rest := mantissa & 0x1fff; rest > 0x1000 || rest == 0x1000 && rounded&1 == 1 {
		rounded++
	}
	return sign | uint16(uint32(exponent+14)<<10+rounded) // a carry goes on into the exponent
}

func fromHalf(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	e, m := int(h>>10&31), float64(h&0x3ff)
	switch e {
	case 0:
		return sign * m * 0x1p-24
	case 31:
		if m != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1+m/1024, e-15)
}
