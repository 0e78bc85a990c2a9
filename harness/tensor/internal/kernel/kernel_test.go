package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dgkip/harness/fmath"
)

// guard surrounds every output of a test; a kernel that writes outside its
// slice changes it.
const guard = 12345.678

// fill returns n random values with guards on both sides of the slice.
func fill(r *rand.Rand, n int) []float32 {
	s := make([]float32, n+64)
	for i := range s {
		s[i] = guard
	}
	v := s[32 : 32+n]
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func guarded(t *testing.T, v []float32) {
	t.Helper()
	all := v[:len(v)+32]
	for _, g := range all[len(v):] {
		if g != guard {
			t.Fatal("wrote past the end of the output")
		}
	}
}

// special sprinkles values that arithmetic treats specially.
func special(r *rand.Rand, v []float32) {
	odd := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)),
		float32(math.NaN()), 1e-42, -1e-38, math.MaxFloat32}
	for range 1 + len(v)/50 {
		v[r.IntN(len(v))] = odd[r.IntN(len(odd))]
	}
}

func same(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i := range want {
		g, w := got[i], want[i]
		if math.Float32bits(g) != math.Float32bits(w) && !(g != g && w != w) {
			t.Fatalf("%s: element %d is %v (%08x), plain Go has %v (%08x)", name, i, g, math.Float32bits(g), w, math.Float32bits(w))
		}
	}
}

// eachPath runs a test on every path of this processor but plain Go, which is
// what they are compared with.
func eachPath(t *testing.T, f func(t *testing.T, p *Path)) {
	for _, p := range Paths() {
		t.Run(p.Name, func(t *testing.T) { f(t, p) })
	}
}

func TestTile(t *testing.T) {
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(1, 2))
		for rows := 1; rows <= p.Rows; rows++ {
			for _, cols := range []int{p.Cols, p.Half} {
				for mode := range 8 {
					for _, k := range []int{1, 2, 7, 33} {
						segs := []Seg{{3, 0}, {11, 5}, {0, 40}}[:1+r.IntN(3)]
						a := Tile{Segs: segs, Rows: rows, Cols: cols, K: k, ARow: 1 + r.IntN(50), AK: 1 + r.IntN(3),
							BK: cols + r.IntN(9), CRow: cols + r.IntN(9), Mode: mode}
						a.A = fill(r, 11+(rows-1)*a.ARow+(k-1)*a.AK+1)
						a.B = fill(r, 40+(k-1)*a.BK+cols)
						a.Bias = fill(r, cols)
						if r.IntN(3) == 0 {
							special(r, a.A)
							special(r, a.B)
							special(r, a.Bias)
						}
						a.C = fill(r, (rows-1)*a.CRow+cols)
						want := a
						want.C = append([]float32(nil), a.C...)
						tileAny(&want)
						p.Tile(&a)
						same(t, fmt.Sprintf("tile %dx%d mode %d k %d", rows, cols, mode, k), a.C, want.C)
						guarded(t, a.C)
					}
				}
			}
		}
	})
}

// tileAny is the definition of a Tile, written apart from the kernels.
func tileAny(t *Tile) {
	for i := range t.Rows {
		for j := range t.Cols {
			var f float32
			for _, s := range t.Segs {
				for k := range t.K {
					f = fmath.FMA32(t.A[s.A+i*t.ARow+k*t.AK], t.B[s.B+k*t.BK+j], f)
				}
			}
			c := &t.C[i*t.CRow+j]
			if t.Mode&Add != 0 {
				f = *c + f
			}
			if t.Mode&AddBias != 0 {
				f += t.Bias[j]
			}
			if t.Mode&ReLU != 0 && f < 0 {
				f = 0
			}
			*c = f
		}
	}
}

func BenchmarkPeak(b *testing.B) {
	for _, p := range Paths() {
		b.Run(p.Name, func(b *testing.B) {
			flops := 0
			for b.Loop() {
				flops += p.Peak(10000)
			}
			b.ReportMetric(float64(flops)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkTile(b *testing.B) {
	for _, p := range Paths() {
		for _, rows := range []int{2, 8, p.Rows} {
			if rows > p.Rows {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", p.Name, rows), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				a := &Tile{A: fill(r, rows*272), B: fill(r, 256*p.Cols), C: fill(r, rows*p.Cols), Segs: []Seg{{}},
					Rows: rows, Cols: p.Cols, K: 256, ARow: 272, AK: 1, BK: p.Cols, CRow: p.Cols}
				n := 0
				for b.Loop() {
					p.Tile(a)
					n += 2 * rows * p.Cols * 256
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
