// Package rng gives every random decision of an experiment its own named stream.
//
// A stream's name, a root seed and a list of labels, is hashed with SHA-256 to
// the 128-bit starting state of a PCG generator; streams of different names start
// at unrelated points of the generator's period of 2^128, and overlap with
// negligible probability.
//
// Guarantee: the same name yields the same numbers on every machine and release,
// and no stream is moved by draws from another. How numbers are made from the raw
// 64-bit words is fixed here, and one word is spent per number (IntN may, rarely,
// spend more), so a position in a stream is easy to account for.
package rng

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// domain separates these hashes from all others and carries a version.
const domain = "dgkip/rng/1"

// Rand is one stream. It is not safe for concurrent use. The zero value is only
// good for UnmarshalBinary.
type Rand struct{ pcg rand.PCG }

// Stream opens the stream named by root and labels at its start.
func Stream(root uint64, labels ...string) *Rand {
	// Counts and lengths go in front, so that no two names share an encoding.
	b := []byte(domain)
	b = binary.BigEndian.AppendUint64(b, root)
	b = binary.BigEndian.AppendUint64(b, uint64(len(labels)))
	for _, l := range labels {
		b = binary.BigEndian.AppendUint64(b, uint64(len(l)))
		b = append(b, l...)
	}
	h := sha256.Sum256(b)
	r := new(Rand)
	r.pcg.Seed(binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16]))
	return r
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 { return r.pcg.Uint64() }

// Float64 returns a multiple of 2^-53, uniform on [0, 1).
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) * 0x1p-53 }

// Float32 returns a multiple of 2^-24, uniform on [0, 1).
func (r *Rand) Float32() float32 { return float32(r.Uint64()>>40) * 0x1p-24 }

// IntN returns an integer uniform on [0, n). It panics unless n > 0.
//
// The high word of Uint64()*n is the result. Low words under 2^64 mod n are
// redrawn (Lemire's method), which removes the bias of the multiplication.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic("rng.IntN: n must be positive")
	}
	m := uint64(n)
	hi, lo := bits.Mul64(r.Uint64(), m)
	if lo < m { // rarely: the modulus below is costly
		for least := -m % m; lo < least; {
			hi, lo = bits.Mul64(r.Uint64(), m)
		}
	}
	return int(hi)
}

// Shuffle permutes n elements uniformly by Fisher and Yates' method, from the
// last element down, calling swap n-1 times. It panics if n < 0.
func (r *Rand) Shuffle(n int, swap func(i, j int)) {
	if n < 0 {
		panic("rng.Shuffle: n must not be negative")
	}
	for i := n - 1; i > 0; i-- {
		swap(i, r.IntN(i+1))
	}
}

// Perm returns a uniform permutation of 0, ..., n-1. It panics if n < 0.
func (r *Rand) Perm(n int) []int {
	if n < 0 {
		panic("rng.Perm: n must not be negative")
	}
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	r.Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// FillUniform fills dst with numbers uniform on [lo, hi), from one word each.
// Rounding to float32 can yield hi itself.
func (r *Rand) FillUniform(dst []float32, lo, hi float32) {
	a, w := float64(lo), float64(hi)-float64(lo)
	for i := range dst {
		dst[i] = float32(a + float64(w*r.Float64()))
	}
}

// MarshalBinary returns the position in the stream.
func (r *Rand) MarshalBinary() ([]byte, error) { return r.pcg.MarshalBinary() }

// UnmarshalBinary moves r to a position returned by MarshalBinary. On error r is
// unchanged.
func (r *Rand) UnmarshalBinary(data []byte) error {
	if err := r.pcg.UnmarshalBinary(data); err != nil {
		return fmt.Errorf("rng: not the state of a stream: %w", err)
	}
	return nil
}
