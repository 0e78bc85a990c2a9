package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"dgkip/harness/fmath"
)

// guard surrounds every output of a test. A kernel that writes outside its slice
// overwrites it.
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
	p := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(&v[0]), -4*32)), len(v)+64)
	for i := range 32 {
		if p[i] != guard || p[len(v)+32+i] != guard {
			t.Fatal("wrote outside the output")
		}
	}
}

// special replaces some values by NaN, Inf, zero and other special cases.
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

// eachPath runs a test on every path of this processor except plain Go, which is the
// reference.
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

// tileAny computes a Tile by its definition, independently of the kernels.
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

// All kernels except Tile agree with plain Go on the same input.
func TestOtherKernels(t *testing.T) {
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, c := range []int{1, 3, 7, 8, 13, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 255, 256} {
			for _, odd := range []bool{false, true} {
				in := func(n int) []float32 {
					v := fill(r, n)
					if odd {
						special(r, v)
					}
					return v
				}
				compare := func(name string, out []float32, run, plain func(out []float32)) {
					t.Helper()
					want := append([]float32(nil), out...)
					run(out)
					plain(want)
					same(t, fmt.Sprintf("%s of %d", name, c), out, want)
					guarded(t, out)
				}
				x, y, z := in(c), in(c), in(c)
				compare("relu", fill(r, c), func(o []float32) { p.ReLU(o, x) }, func(o []float32) { reluGeneric(&Vec{Y: o, X: x, N: c}) })
				compare("mask", fill(r, c), func(o []float32) { p.Mask(o, y, x) }, func(o []float32) { maskGeneric(&Vec{Y: o, X: x, Z: y, N: c}) })
				compare("axpy", fill(r, c), func(o []float32) { p.Axpy(o, 1.7, x, z) }, func(o []float32) { axpyGeneric(&Vec{Y: o, X: x, Z: z, A: 1.7, N: c}) })
				compare("dot", fill(r, 1), func(o []float32) { o[0] = p.Dot(x, z) }, func(o []float32) { o[0] = generic.Dot(x, z) })

				plane, row, pix := c+r.IntN(5), 6*(c+5), c+r.IntN(5)
				src := in(5*(row+pix) + c)
				compare("winogradIn", fill(r, 35*plane+c),
					func(o []float32) { p.WinogradIn(&WinogradIn{Dst: o, Src: src, Plane: plane, Row: row, Pix: pix, C: c}) },
					func(o []float32) {
						winogradInGeneric(&WinogradIn{Dst: o, Src: src, Plane: plane, Row: row, Pix: pix, C: c})
					})
				m, bias := in(35*plane+c), in(c)
				for _, mode := range []int{0, AddBias, ReLU, AddBias | ReLU} {
					compare("winogradOut", fill(r, 3*(row+pix)+c),
						func(o []float32) {
							p.WinogradOut(&WinogradOut{Dst: o, Src: m, Bias: bias, Plane: plane, Row: row, Pix: pix, C: c, Mode: mode})
						},
						func(o []float32) {
							winogradOutGeneric(&WinogradOut{Dst: o, Src: m, Bias: bias, Plane: plane, Row: row, Pix: pix, C: c, Mode: mode})
						})
				}

				filters := in(8*(c+3) + c)
				compare("winogradFilter", fill(r, 35*plane+c),
					func(o []float32) {
						p.WinogradFilter(&WinogradFilter{Dst: o, Src: filters, Plane: plane, Tap: c + 3, C: c})
					},
					func(o []float32) {
						winogradFilterGeneric(&WinogradFilter{Dst: o, Src: filters, Plane: plane, Tap: c + 3, C: c})
					})

				const rows = 5
				stride := c + r.IntN(4)
				end := (rows-1)*stride + c
				X, Z, A, B, D := in(end), in(end), in(c), in(c), in(c)
				args := func(o []float32) *Cols {
					return &Cols{Y: o, X: X, Z: Z, A: A, B: B, D: D, Rows: rows, Stride: stride, C: c}
				}
				compare("colSum", fill(r, c), func(o []float32) { p.ColSum(args(o)) }, func(o []float32) { colSumGeneric(args(o)) })
				compare("colDot", fill(r, c), func(o []float32) { p.ColDot(args(o)) }, func(o []float32) { colDotGeneric(args(o)) })
				compare("affine", fill(r, end), func(o []float32) { p.Affine(args(o)) }, func(o []float32) { affineGeneric(args(o)) })
				compare("affine2", fill(r, end), func(o []float32) { p.Affine2(args(o)) }, func(o []float32) { affine2Generic(args(o)) })

				const w = 3
				prow := 2*w*c + r.IntN(3)
				big, act, small := in(prow+2*w*c), in(prow+2*w*c), in(w*c)
				bits, wantBits := make([]byte, 4*w*((c+7)/8)+1), make([]byte, 4*w*((c+7)/8)+1)
				bits[len(bits)-1], wantBits[len(bits)-1] = 0xa5, 0xa5
				compare("pool", fill(r, w*c),
					func(o []float32) { p.Pool(&Pool{Small: o, Big: big, Scale: 0.3, Row: prow, W: w, C: c}) },
					func(o []float32) { poolGeneric(&Pool{Small: o, Big: big, Scale: 0.3, Row: prow, W: w, C: c}) })
				compare("poolBits", fill(r, w*c),
					func(o []float32) {
						p.Pool(&Pool{Small: o, Big: big, Bits: bits[:len(bits)-1], Scale: 0.3, Row: prow, W: w, C: c})
					},
					func(o []float32) {
						poolBitsGeneric(&Pool{Small: o, Big: big, Bits: wantBits, Scale: 0.3, Row: prow, W: w, C: c})
					})
				if !bytes.Equal(bits, wantBits) {
					t.Fatalf("bits of %d channels differ", c)
				}
				compare("unpool", fill(r, prow+2*w*c),
					func(o []float32) { p.Unpool(&Pool{Small: small, Big: o, Scale: 0.3, Row: prow, W: w, C: c}) },
					func(o []float32) { unpoolGeneric(&Pool{Small: small, Big: o, Scale: 0.3, Row: prow, W: w, C: c}) })
				compare("unpoolMask", fill(r, prow+2*w*c),
					func(o []float32) {
						p.Unpool(&Pool{Small: small, Big: o, Act: act, Scale: 0.3, Row: prow, W: w, C: c})
					},
					func(o []float32) {
						unpoolMaskGeneric(&Pool{Small: small, Big: o, Act: act, Scale: 0.3, Row: prow, W: w, C: c})
					})
				compare("unpoolBits", fill(r, prow+2*w*c),
					func(o []float32) {
						p.Unpool(&Pool{Small: small, Big: o, Bits: bits, Scale: 0.3, Row: prow, W: w, C: c})
					},
					func(o []float32) {
						unpoolBitsGeneric(&Pool{Small: small, Big: o, Bits: bits, Scale: 0.3, Row: prow, W: w, C: c})
					})

				turned := in(7*(c+2) + c)
				compare("packTransposed", fill(r, (c-1)*9+8),
					func(o []float32) { p.PackTransposed(&Panel{Dst: o, Src: turned, K: c, Row: c + 2, Width: 9}) },
					func(o []float32) {
						packTransposedGeneric(&Panel{Dst: o, Src: turned, K: c, Row: c + 2, Width: 9})
					})
				rowsIn := in((c-1)*(p.Cols+3) + p.Cols)
				compare("packRows", fill(r, (c-1)*(p.Cols+1)+p.Cols),
					func(o []float32) { p.PackRows(&Panel{Dst: o, Src: rowsIn, K: c, Row: p.Cols + 3, Width: p.Cols + 1}) },
					func(o []float32) {
						for k := range c {
							copy(o[k*(p.Cols+1):][:p.Cols], rowsIn[k*(p.Cols+3):])
						}
					})
			}
		}
	})
}

// Arguments that reach outside their slices panic before anything is written.
func TestBounds(t *testing.T) {
	eachPath(t, func(t *testing.T, p *Path) {
		s := func(n int) []float32 { return make([]float32, n) }
		tile := func(change func(*Tile)) func() {
			return func() {
				a := &Tile{A: s(40), B: s(10 * p.Cols), C: s(4 * p.Cols), Segs: []Seg{{}}, Rows: 4, Cols: p.Cols, K: 10,
					ARow: 10, AK: 1, BK: p.Cols, CRow: p.Cols}
				change(a)
				p.Tile(a)
			}
		}
		tile(func(*Tile) {})() // valid as it is
		for name, f := range map[string]func(){
			"tile A":        tile(func(a *Tile) { a.A = a.A[:39] }),
			"tile B":        tile(func(a *Tile) { a.B = a.B[1:] }),
			"tile C":        tile(func(a *Tile) { a.C = a.C[1:] }),
			"tile segment":  tile(func(a *Tile) { a.Segs = []Seg{{}, {A: 1}} }),
			"tile negative": tile(func(a *Tile) { a.Segs = []Seg{{A: -1}} }),
			"tile stride":   tile(func(a *Tile) { a.CRow = -1 }),
			"tile rows":     tile(func(a *Tile) { a.Rows = p.Rows + 1 }),
			"tile columns":  tile(func(a *Tile) { a.Cols = p.Cols + 1 }),
			"tile empty":    tile(func(a *Tile) { a.K = 0 }),
			"tile bias":     tile(func(a *Tile) { a.Mode = AddBias }),
			"relu":          func() { p.ReLU(s(16), s(17)) },
			"mask":          func() { p.Mask(s(17), s(16), s(17)) },
			"axpy":          func() { p.Axpy(s(17), 1, s(17), s(16)) },
			"dot":           func() { p.Dot(s(64), s(65)) },
			"winogradIn src": func() {
				p.WinogradIn(&WinogradIn{Dst: s(36 * 16), Src: s(36*16 - 1), Plane: 16, Row: 96, Pix: 16, C: 16})
			},
			"winogradIn dst": func() {
				p.WinogradIn(&WinogradIn{Dst: s(36*16 - 1), Src: s(36 * 16), Plane: 16, Row: 96, Pix: 16, C: 16})
			},
			"winogradOut src": func() {
				p.WinogradOut(&WinogradOut{Dst: s(256), Src: s(36*16 - 1), Plane: 16, Row: 64, Pix: 16, C: 16})
			},
			"winogradOut bias": func() {
				p.WinogradOut(&WinogradOut{Dst: s(256), Src: s(36 * 16), Bias: s(15), Plane: 16, Row: 64, Pix: 16, C: 16, Mode: AddBias})
			},
			"winogradFilter dst": func() {
				p.WinogradFilter(&WinogradFilter{Dst: s(36*16 - 1), Src: s(9 * 16), Plane: 16, Tap: 16, C: 16})
			},
			"winogradFilter src": func() {
				p.WinogradFilter(&WinogradFilter{Dst: s(36 * 16), Src: s(9*16 - 1), Plane: 16, Tap: 16, C: 16})
			},
			"pool act": func() { p.Unpool(&Pool{Small: s(16), Big: s(64), Act: s(63), Row: 32, W: 1, C: 16}) },
			"pool row": func() { p.Pool(&Pool{Small: s(16), Big: s(64), Row: 31, W: 1, C: 16}) },
			"colSum X": func() { p.ColSum(&Cols{Y: s(16), X: s(31), Rows: 2, Stride: 16, C: 16}) },
			"colDot Z": func() { p.ColDot(&Cols{Y: s(16), X: s(32), Z: s(31), Rows: 2, Stride: 16, C: 16}) },
			"affine A": func() { p.Affine(&Cols{Y: s(32), X: s(32), A: s(15), D: s(16), Rows: 2, Stride: 16, C: 16}) },
			"affine2 B": func() {
				p.Affine2(&Cols{Y: s(32), X: s(32), Z: s(32), A: s(16), B: s(15), D: s(16), Rows: 2, Stride: 16, C: 16})
			},
			"packRows src":    func() { p.PackRows(&Panel{Dst: s(2 * p.Cols), Src: s(2*p.Cols - 1), K: 2, Row: p.Cols, Width: p.Cols}) },
			"transposed src":  func() { p.PackTransposed(&Panel{Dst: s(128), Src: s(127), K: 16, Row: 16, Width: 8}) },
			"winogradOut dst": func() { p.WinogradOut(&WinogradOut{Dst: s(255), Src: s(36 * 16), Plane: 16, Row: 64, Pix: 16, C: 16}) },
			"pool":            func() { p.Pool(&Pool{Small: s(15), Big: s(64), Row: 32, W: 1, C: 16}) },
			"unpool":          func() { p.Unpool(&Pool{Small: s(16), Big: s(63), Row: 32, W: 1, C: 16}) },
			"unpool bits":     func() { p.Unpool(&Pool{Small: s(16), Big: s(64), Bits: make([]byte, 7), Row: 32, W: 1, C: 16}) },
			"colSum":          func() { p.ColSum(&Cols{Y: s(15), X: s(32), Rows: 2, Stride: 16, C: 16}) },
			"affine":          func() { p.Affine(&Cols{Y: s(31), X: s(32), A: s(16), D: s(16), Rows: 2, Stride: 16, C: 16}) },
			"packRows":        func() { p.PackRows(&Panel{Dst: s(2*p.Cols - 1), Src: s(2 * p.Cols), K: 2, Row: p.Cols, Width: p.Cols}) },
			"packTransposed":  func() { p.PackTransposed(&Panel{Dst: s(127), Src: s(128), K: 16, Row: 16, Width: 8}) },
		} {
			t.Run(name, func(t *testing.T) {
				defer func() {
					if r := recover(); r != outOfBounds {
						t.Errorf("recovered %v", r)
					}
				}()
				f()
			})
		}
	})
}

// A Tile rounds each step once. Rounding the product to float64 first gives a wrong result
// here: a b is just below half a unit in the last place of 1 + 2^-23.
func TestTileRoundsOnce(t *testing.T) {
	a, b, c := float32(0x1p-12*(1+0x1p-23)), float32(0x1p-12*(1-0x1p-23)), float32(1+0x1p-23)
	if math.FMA(float64(a), float64(b), float64(c)) == float64(c) || float32(math.FMA(float64(a), float64(b), float64(c))) == c {
		t.Fatal("the numbers do not expose double rounding")
	}
	eachPath(t, func(t *testing.T, p *Path) {
		r := rand.New(rand.NewPCG(1, 2))
		x := Tile{A: []float32{c, a}, B: fill(r, 2*p.Cols), C: fill(r, p.Cols), Segs: []Seg{{}}, Rows: 1, Cols: p.Cols, K: 2, ARow: 2, AK: 1, BK: p.Cols, CRow: p.Cols}
		for j := range p.Cols {
			x.B[j], x.B[p.Cols+j] = 1, b
		}
		p.Tile(&x)
		for j, f := range x.C {
			if f != c {
				t.Fatalf("column %d is %x, want %x", j, f, c)
			}
		}
	})
}

func TestPeak(t *testing.T) {
	eachPath(t, func(t *testing.T, p *Path) {
		if one, ten := p.Peak(1), p.Peak(10); one <= 0 || ten != 10*one || one%(2*p.Half) != 0 && p != generic {
			t.Errorf("%d operations in a step, %d in ten", one, ten)
		}
	})
}

func TestUse(t *testing.T) {
	before := Active()
	defer active.Store(before)
	if err := Use("generic"); err != nil || Active() != generic {
		t.Errorf("generic: %v", err)
	}
	err := Use("mmx")
	if err == nil || !strings.Contains(err.Error(), "generic") || Active() != generic {
		t.Errorf("mmx: %v, and %s is in use", err, Active().Name)
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
