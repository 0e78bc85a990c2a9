// Package kernel holds the inner loops of the tensor package, one version for each kind of
// processor: AVX-512, AVX2 with FMA, NEON and plain Go.
//
// # What is the same on every path
//
// Every path computes every value by the same sequence of rounded operations, so results
// agree to the last bit. Only the payload of a NaN may differ.
//
//   - A Tile computes each element as a chain of fused multiply-adds, in the order of the
//     segments and of k, rounded once a step. The grouping of elements into registers
//     therefore does not matter.
//   - Products, Rectify and their backward kernels fuse multiply-adds where covariance.go
//     calls math.FMA. In Cross, products are exact, so that fusing changes nothing. All
//     other kernels multiply and add in two rounded steps.
//   - A sum over features in float64 keeps WideLanes partial sums for any register width.
//
// The generators in gen write the assembly for amd64 and arm64. They are a module of their
// own, so that the program does not depend on avo.
package kernel

//go:generate go run -C gen -tags noasm . -out ../kernel_amd64.new -stubs ../stubs_amd64.new -pkg kernel
//go:generate go run -C gen -tags noasm ./neon -out ../kernel_arm64.s -stubs ../stubs_arm64.go
//go:generate mv kernel_amd64.new kernel_amd64.s
//go:generate mv stubs_amd64.new stubs_amd64.go

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// Path is one implementation of the kernels.
type Path struct {
	Name string
	Rows int // rows of the largest register tile
	Cols int // columns of the full register tile, and of a packed panel
	Half int // columns of the narrow register tile; Cols if there is none

	CrossRows, CrossCols int // register tile of Cross
	WideRows             int // rows that MulVec takes at a time

	tile           func(*Tile)
	winogradIn     func(*WinogradIn)
	winogradOut    func(*WinogradOut)
	winogradFilter func(*WinogradFilter)

	relu, mask, axpy                       func(*Vec)
	pool, poolBits, unpoolMask, unpoolBits func(*Pool)
	colSum, colDot, affine, affine2        func(*Cols)
	packRows, packTransposed               func(*Panel)

	cross           func(*Cross)
	mulVec          func(*Wide)
	addRows, addRow func(*Wide) // add AddRowsAtOnce rows and one row
	outer, outer2   func(*Wide) // without V and with it
	arc, arcSlopes  func(*Arc)

	// In kernels named Same, X is the same in all lanes. Kernels named tangent also
	// compute derivatives.
	products, productsSame                                     func(*Products)
	sums                                                       func(*Sums)
	rectify, rectifySame, tangent, tangentSame                 func(*Rectify)
	rectifyBack, rectifyBackSame, tangentBack, tangentBackSame func(*RectifyBack)
	productsBack                                               func(*ProductsBack)
}

var generic = &Path{
	Name: "generic", Rows: 4, Cols: 8, Half: 8,
	tile:       tileGeneric,
	winogradIn: winogradInGeneric, winogradOut: winogradOutGeneric, winogradFilter: winogradFilterGeneric,
	relu: reluGeneric, mask: maskGeneric, axpy: axpyGeneric,
	pool: poolGeneric, poolBits: poolBitsGeneric, unpoolMask: unpoolMaskGeneric, unpoolBits: unpoolBitsGeneric,
	colSum: colSumGeneric, colDot: colDotGeneric, affine: affineGeneric, affine2: affine2Generic,
	packRows: packRowsGeneric, packTransposed: packTransposedGeneric,
	CrossRows: 4, CrossCols: 4, WideRows: 4,
	cross: crossGeneric, mulVec: mulVecGeneric, addRows: addRowsOnce, addRow: addRowsGeneric, outer: outerGeneric, outer2: outer2Generic,
	arc: arcGeneric, arcSlopes: arcGeneric,
	products: productsGeneric, productsSame: productsGeneric, sums: sumsGeneric,
	rectify: rectifyGeneric, rectifySame: rectifyGeneric, tangent: rectifyGeneric, tangentSame: rectifyGeneric,
	rectifyBack: rectifyBackGeneric, rectifyBackSame: rectifyBackGeneric, tangentBack: rectifyBackGeneric, tangentBackSame: rectifyBackGeneric,
	productsBack: productsBackGeneric,
}

// paths lists what this processor can run, the fastest first.
var paths = append(native(), generic)

var active atomic.Pointer[Path]

// Env is the environment variable that names the path to use.
const Env = "DGKIP_KERNEL"

// EnvError is the error in the value of Env, or nil.
var EnvError error

func init() {
	active.Store(paths[0])
	if name := os.Getenv(Env); name != "" {
		if err := Use(name); err != nil {
			EnvError = fmt.Errorf("environment variable %s: %w", Env, err)
		}
	}
}

// Active returns the path in use.
func Active() *Path { return active.Load() }

// Paths lists the paths that this processor can run, the fastest first.
func Paths() []*Path { return paths }

// Use selects the named path.
func Use(name string) error {
	var have []string
	for _, p := range paths {
		if p.Name == name {
			active.Store(p)
			return nil
		}
		have = append(have, p.Name)
	}
	return fmt.Errorf("kernel path %q is not available on this processor; available: %s", name, strings.Join(have, ", "))
}
