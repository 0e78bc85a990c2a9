package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
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

// fill64 is fill for float64.
func fill64(r *rand.Rand, n int) (v []float64, check func(t *testing.T)) {
	all := make([]float64, n+32)
	for i := range all {
		all[i] = guard
	}
	for i := range n {
		all[16+i] = r.NormFloat64()
	}
	return all[16 : 16+n : 16+n], func(t *testing.T) {
		t.Helper()
		for i := range 16 {
			if all[i] != guard || all[16+n+i] != guard {
				t.Fatal("wrote outside the output")
			}
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

func same64(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float64bits(g) != math.Float64bits(w) && !(g != g && w != w) {
			t.Fatalf("%s: element %d is %v (%016x), want %v (%016x)", name, i, g, math.Float64bits(g), w, math.Float64bits(w))
		}
	}
}

// eachPath runs a test on every path of this processor. Plain Go is among them, and is the
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
						want.C = slices.Clone(a.C)
						tileGeneric(&want)
						p.Tile(&a)
						same(t, fmt.Sprintf("tile %dx%d mode %d k %d", rows, cols, mode, k), a.C, want.C)
						guarded(t, a.C)
					}
				}
			}
		}
	})
}

// compare runs a kernel and plain Go on the same arguments, args(out), and compares what they
// write to out.
func compare[A any](t *testing.T, name string, out []float32, args func(out []float32) A, run, plain func(*A)) {
	t.Helper()
	a, want := args(out), slices.Clone(out)
	b := args(want)
	run(&a)
	plain(&b)
	same(t, name, out, want)
	guarded(t, out)
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
				name := func(kernel string) string { return fmt.Sprintf("%s of %d", kernel, c) }

				x, z := in(c), in(c)
				vec := func(o []float32) Vec { return Vec{Y: o, X: x, Z: z, A: 1.7, N: c} }
				compare(t, name("relu"), fill(r, c), vec, func(a *Vec) { p.ReLU(a.Y, a.X) }, reluGeneric)
				compare(t, name("mask"), fill(r, c), vec, func(a *Vec) { p.Mask(a.Y, a.Z, a.X) }, maskGeneric)
				compare(t, name("axpy"), fill(r, c), vec, func(a *Vec) { p.Axpy(a.Y, a.A, a.X, a.Z) }, axpyGeneric)

				plane, row, pix := c+r.IntN(5), 6*(c+5), c+r.IntN(5)
				src := in(5*(row+pix) + c)
				compare(t, name("winogradIn"), fill(r, 35*plane+c), func(o []float32) WinogradIn {
					return WinogradIn{Dst: o, Src: src, Plane: plane, Row: row, Pix: pix, C: c}
				}, p.WinogradIn, winogradInGeneric)
				m, bias := in(35*plane+c), in(c)
				for _, mode := range []int{0, AddBias, ReLU, AddBias | ReLU} {
					compare(t, name("winogradOut"), fill(r, 3*(row+pix)+c), func(o []float32) WinogradOut {
						return WinogradOut{Dst: o, Src: m, Bias: bias, Plane: plane, Row: row, Pix: pix, C: c, Mode: mode}
					}, p.WinogradOut, winogradOutGeneric)
				}
				filters := in(8*(c+3) + c)
				compare(t, name("winogradFilter"), fill(r, 35*plane+c), func(o []float32) WinogradFilter {
					return WinogradFilter{Dst: o, Src: filters, Plane: plane, Tap: c + 3, C: c}
				}, p.WinogradFilter, winogradFilterGeneric)

				const rows = 5
				stride := c + r.IntN(4)
				end := (rows-1)*stride + c
				X, Z, A, B, D := in(end), in(end), in(c), in(c), in(c)
				cols := func(o []float32) Cols {
					return Cols{Y: o, X: X, Z: Z, A: A, B: B, D: D, Rows: rows, Stride: stride, C: c}
				}
				compare(t, name("colSum"), fill(r, c), cols, p.ColSum, colSumGeneric)
				compare(t, name("colDot"), fill(r, c), cols, p.ColDot, colDotGeneric)
				compare(t, name("affine"), fill(r, end), cols, p.Affine, affineGeneric)
				compare(t, name("affine2"), fill(r, end), cols, p.Affine2, affine2Generic)

				const w = 3
				prow, size := 2*w*c+r.IntN(3), 4*w*((c+7)/8)
				big, act, small := in(prow+2*w*c), in(prow+2*w*c), in(w*c)
				pooling := func(o []float32) Pool { return Pool{Small: o, Big: big, Scale: 0.3, Row: prow, W: w, C: c} }
				compare(t, name("pool"), fill(r, w*c), pooling, p.Pool, poolGeneric)
				var recorded [2][]byte // by the kernel and by plain Go
				record := func(run func(*Pool), by int) func(*Pool) {
					recorded[by] = make([]byte, size+1)
					recorded[by][size] = 0xa5
					return func(a *Pool) {
						a.Bits = recorded[by][:size]
						run(a)
					}
				}
				compare(t, name("poolBits"), fill(r, w*c), pooling, record(p.Pool, 0), record(poolBitsGeneric, 1))
				if !bytes.Equal(recorded[0], recorded[1]) {
					t.Fatalf("bits of %d channels differ", c)
				}
				compare(t, name("unpoolMask"), fill(r, prow+2*w*c), func(o []float32) Pool {
					return Pool{Small: small, Big: o, Act: act, Scale: 0.3, Row: prow, W: w, C: c}
				}, p.Unpool, unpoolMaskGeneric)
				compare(t, name("unpoolBits"), fill(r, prow+2*w*c), func(o []float32) Pool {
					return Pool{Small: small, Big: o, Bits: recorded[0], Scale: 0.3, Row: prow, W: w, C: c}
				}, p.Unpool, unpoolBitsGeneric)

				turned := in(7*(c+2) + c)
				compare(t, name("packTransposed"), fill(r, (c-1)*9+8), func(o []float32) Panel {
					return Panel{Dst: o, Src: turned, K: c, Row: c + 2, Width: 9}
				}, p.PackTransposed, packTransposedGeneric)
				rowsIn := in((c-1)*(p.Cols+3) + p.Cols)
				compare(t, name("packRows"), fill(r, (c-1)*(p.Cols+1)+p.Cols), func(o []float32) Panel {
					return Panel{Dst: o, Src: rowsIn, K: c, Row: p.Cols + 3, Width: p.Cols + 1}
				}, p.PackRows, func(a *Panel) {
					for k := range a.K {
						copy(a.Dst[k*a.Width:][:p.Cols], a.Src[k*a.Row:])
					}
				})
			}
		}
	})
}

// bounds runs a kernel on arguments that fit exactly. The kernel must panic if a slice is
// shorter by one value or a number is negative, and for the arguments in wrong.
func bounds[A any](t *testing.T, name string, run func(*A), fit A, wrong ...A) {
	t.Helper()
	panics := func(a A) (message any) {
		defer func() { message = recover() }()
		run(&a)
		return nil
	}
	if r := panics(fit); r != nil {
		t.Errorf("%s: %v", name, r)
	}
	for i, field := range reflect.VisibleFields(reflect.TypeOf(fit)) {
		a := fit
		switch f := reflect.ValueOf(&a).Elem().Field(i); {
		case f.Kind() == reflect.Slice && f.Len() > 0:
			f.SetLen(f.Len() - 1)
		case f.Kind() == reflect.Int && f.Int() > 0 && field.Name != "Mode":
			f.SetInt(-1)
		default:
			continue
		}
		if r := panics(a); r != outOfBounds {
			t.Errorf("%s with a wrong %s: recovered %v", name, field.Name, r)
		}
	}
	for i, a := range wrong {
		if r := panics(a); r != outOfBounds {
			t.Errorf("%s with wrong arguments %d: recovered %v", name, i, r)
		}
	}
}

// Arguments that reach outside their slices panic.
func TestBounds(t *testing.T) {
	const c, L = 16, WideLanes
	s := func(n int) []float32 { return make([]float32, n) }
	d := func(n int) []float64 { return make([]float64, n) }
	eachPath(t, func(t *testing.T, p *Path) {
		tile := Tile{A: s(42), B: s(10*p.Cols + 3), C: s(4 * p.Cols), Bias: s(p.Cols), Segs: []Seg{{2, 3}}, Rows: 4, Cols: p.Cols, K: 10,
			ARow: 10, AK: 1, BK: p.Cols, CRow: p.Cols, Mode: AddBias}
		negative, rows, cols := tile, tile, tile
		negative.Segs = []Seg{{-1, 0}}
		rows.A, rows.C, rows.Rows = s(1000), s(1000), p.Rows+1
		cols.B, cols.C, cols.Bias, cols.Cols = s(1000), s(1000), s(1000), p.Cols+1
		bounds(t, "tile", p.Tile, tile, negative, rows, cols)

		type vec struct{ Y, X, Z []float32 }
		bounds(t, "relu", func(a *vec) { p.ReLU(a.Y, a.X) }, vec{Y: s(17), X: s(17)})
		bounds(t, "mask", func(a *vec) { p.Mask(a.Y, a.Z, a.X) }, vec{s(17), s(17), s(17)})
		bounds(t, "axpy", func(a *vec) { p.Axpy(a.Y, 1, a.X, a.Z) }, vec{s(17), s(17), s(17)})
		bounds(t, "winogradIn", p.WinogradIn, WinogradIn{Dst: s(36 * c), Src: s(36 * c), Plane: c, Row: 6 * c, Pix: c, C: c})
		bounds(t, "winogradOut", p.WinogradOut, WinogradOut{Dst: s(16 * c), Src: s(36 * c), Bias: s(c), Plane: c, Row: 4 * c, Pix: c, C: c, Mode: AddBias})
		bounds(t, "winogradFilter", p.WinogradFilter, WinogradFilter{Dst: s(36 * c), Src: s(9 * c), Plane: c, Tap: c, C: c})
		bounds(t, "pool", p.Pool, Pool{Small: s(c), Big: s(4 * c), Bits: make([]byte, c/2), Row: 2 * c, W: 1, C: c})
		unmasked := Pool{Small: s(c), Big: s(4 * c), Row: 2 * c, W: 1, C: c}
		bounds(t, "unpool", p.Unpool, Pool{Small: s(c), Big: s(4 * c), Act: s(4 * c), Row: 2 * c, W: 1, C: c}, unmasked)
		bounds(t, "unpoolBits", p.Unpool, Pool{Small: s(c), Big: s(4 * c), Bits: make([]byte, c/2), Row: 2 * c, W: 1, C: c})
		bounds(t, "colSum", p.ColSum, Cols{Y: s(c), X: s(2 * c), Rows: 2, Stride: c, C: c})
		bounds(t, "colDot", p.ColDot, Cols{Y: s(c), X: s(2 * c), Z: s(2 * c), Rows: 2, Stride: c, C: c})
		bounds(t, "affine", p.Affine, Cols{Y: s(2 * c), X: s(2 * c), A: s(c), D: s(c), Rows: 2, Stride: c, C: c})
		bounds(t, "affine2", p.Affine2, Cols{Y: s(2 * c), X: s(2 * c), Z: s(2 * c), A: s(c), B: s(c), D: s(c), Rows: 2, Stride: c, C: c})
		bounds(t, "packRows", p.PackRows, Panel{Dst: s(2 * p.Cols), Src: s(2 * p.Cols), K: 2, Row: p.Cols, Width: p.Cols})
		bounds(t, "packTransposed", p.PackTransposed, Panel{Dst: s(128), Src: s(128), K: 16, Row: 16, Width: 8})

		cross := Cross{A: s(24), B: s(24), C: d(p.CrossRows * p.CrossCols), ARow: 16, BRow: 16, CRow: p.CrossCols, Rows: 2, Cols: 2, N: 8}
		crossRows, crossCols := cross, cross
		crossRows.A, crossRows.Rows = s(1000), p.CrossRows+1
		crossCols.B, crossCols.Cols = s(1000), p.CrossCols+1
		bounds(t, "cross", p.Cross, cross, crossRows, crossCols)
		wide := Wide{X: s(24), V: d(8), S: d(p.WideRows), Row: 16, Rows: 2, N: 8}
		wideRows := wide
		wideRows.X, wideRows.Rows = s(1000), p.WideRows+1
		bounds(t, "mulVec", p.MulVec, wide, wideRows)
		bounds(t, "addRows", p.AddRows, Wide{X: s(24), U: d(8), S: d(2), Row: 16, Rows: 2, N: 8})
		bounds(t, "outer", p.Outer, Wide{X: s(8), U: d(8), S: d(1), N: 8})
		bounds(t, "outer2", p.Outer, Wide{X: s(8), U: d(8), V: d(8), S: d(2), N: 8})

		bounds(t, "arc", p.Arc, Arc{K: d(c), Root: d(c), Inverse: d(c), N: c})
		bounds(t, "arcSlopes", p.Arc, Arc{K: d(c), InXY: d(c), InXX: d(c), Root: d(c), Inverse: d(c), N: c})
		bounds(t, "products", p.Products, Products{Row: d(2 * L), Sum: d(2 * L), Before: d(2 * L), At: d(2 * L), X: d(6), Y: d(6 * L), N: 2, C: 3, Same: true})
		bounds(t, "sums", p.Sums, Sums{Sum: d(L), Before: d(L), At: d(L), After: d(L), N: 1})
		r := rand.New(rand.NewPCG(9, 3))
		for _, same := range []bool{false, true} {
			bounds(t, "rectify", p.Rectify, *rectifyCase(r, 3, same, false))
			bounds(t, "tangent", p.Rectify, *rectifyCase(r, 3, same, true))
			bounds(t, "rectifyBack", p.RectifyBack, *backCase(r, 3, same, false))
			bounds(t, "tangentBack", p.RectifyBack, *backCase(r, 3, same, true))
		}
		bounds(t, "productsBack", p.ProductsBack, ProductsBack{N: 3, C: 2, X: d(6 * L), Y: d(6 * L), S: d(5 * L)})
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
