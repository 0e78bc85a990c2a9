// Package rng gives every random decision of an experiment its own named stream.
//
// A stream's name is a root seed and a list of labels. SHA-256 maps the name to the 128-bit
// initial state of a PCG generator. Streams with different names start at unrelated points of
// the generator's period of 2^128 and overlap with negligible probability.
//
// Guarantee: the same name yields the same numbers on every machine and with every release.
// Draws from one stream never move another. This package fixes how raw 64-bit words become
// numbers. Each number uses one word, so a position in a stream is easy to compute; only IntN
// may rarely use more.
package rng

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// domain separates these hashes from all other uses of SHA-256, and holds a version.
const domain = "dgkip/rng/1"

// Rand is one stream. It is not safe for concurrent use. A zero Rand may only be used for
// UnmarshalBinary.
type Rand struct{ pcg rand.PCG }

// Stream returns the stream named by root and labels, at its start.
func Stream(root uint64, labels ...string) *Rand {
	// Counts and lengths come first, so that different names have different encodings.
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

// IntN returns an integer uniform on [0, n). It panics unless n > 0.
//
// The high word of Uint64()*n is the result. Results with a low word under 2^64 mod n are
// redrawn (Lemire's method), which removes the bias of the multiplication.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic("rng.IntN: n must be positive")
	}
	m := uint64(n)
	hi, lo := bits.Mul64(r.Uint64(), m)
	if lo < m { // rarely true; avoids the costly modulus below
		for least := -m % m; lo < least; {
			hi, lo = bits.Mul64(r.Uint64(), m)
		}
	}
	return int(hi)
}

// Perm returns a uniform permutation of 0, ..., n-1 by the Fisher-Yates method, starting with
// the last element. It panics if n < 0.
func (r *Rand) Perm(n int) []int {
	if n < 0 {
		panic("rng.Perm: n must not be negative")
	}
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// MarshalBinary returns the position in the stream.
func (r *Rand) MarshalBinary() ([]byte, error) { return r.pcg.MarshalBinary() }

// UnmarshalBinary moves r to a position returned by MarshalBinary. On error r is
// unchanged.
func (r *Rand) UnmarshalBinary(data []byte) error {
	if err := r.pcg.UnmarshalBinary(data); err != nil {
		return fmt.Errorf("rng: this is not the saved state of a stream: %w", err)
	}
	return nil
}
