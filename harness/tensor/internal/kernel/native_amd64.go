//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// native lists the assembly paths of this processor.
func native() []*Path {
	var ps []*Path
	x := &cpu.X86
	if x.HasAVX2 && x.HasFMA { // packTransposed256 serves both paths
		if x.HasAVX512F {
			ps = append(ps, avx512)
		}
		ps = append(ps, avx2)
	}
	return ps
}

var avx512 = &Path{
	Name: "avx512", Rows: 14, Cols: 32, Half: 16,
	tile: func(t *Tile) {
		if t.Cols == 32 {
			tiles512[t.Rows-1][1](t)
		} else {
			tiles512[t.Rows-1][0](t)
		}
	},
	winogradIn: winogradIn512, winogradOut: winogradOut512, winogradFilter: winogradFilter512,
	relu: relu512, mask: mask512, axpy: axpy512,
	pool: pool512, poolBits: poolBits512, unpoolMask: unpoolMask512, unpoolBits: unpoolBits512,
	colSum: colSum512, colDot: colDot512, affine: affine512, affine2: affine2512,
	packRows: packRows512, packTransposed: packTransposed256,
	CrossRows: 6, CrossCols: 4, WideRows: 8,
	cross: cross512, mulVec: mulVec512, addRows: addRows512, addRow: addRow512, outer: outer512, outer2: outer2512,
	arc: arc512, arcSlopes: arcSlopes512,
	products: products512, productsSame: productsSame512, sums: sums512,
	rectify: rectify512, rectifySame: rectifySame512, tangent: tangent512, tangentSame: tangentSame512,
	rectifyBack: rectifyBack512, rectifyBackSame: rectifyBackSame512, tangentBack: tangentBack512, tangentBackSame: tangentBackSame512,
	productsBack: productsBack512,
}

var avx2 = &Path{
	Name: "avx2", Rows: 6, Cols: 16, Half: 8,
	tile: func(t *Tile) {
		if t.Cols == 16 {
			tiles256[t.Rows-1][1](t)
		} else {
			tiles256[t.Rows-1][0](t)
		}
	},
	winogradIn: winogradIn256, winogradOut: winogradOut256, winogradFilter: winogradFilter256,
	relu: relu256, mask: mask256, axpy: axpy256,
	pool: pool256, poolBits: poolBits256, unpoolMask: unpoolMask256, unpoolBits: unpoolBits256,
	colSum: colSum256, colDot: colDot256, affine: affine256, affine2: affine2256,
	packRows: packRows256, packTransposed: packTransposed256,
	CrossRows: 3, CrossCols: 2, WideRows: 4,
	cross: cross256, mulVec: mulVec256, addRows: addRows256, addRow: addRow256, outer: outer256, outer2: outer2256,
	arc: arc256, arcSlopes: arcSlopes256,
	products: products256, productsSame: productsSame256, sums: sums256,
	rectify: rectify256, rectifySame: rectifySame256, tangent: tangent256, tangentSame: tangentSame256,
	rectifyBack: rectifyBack256, rectifyBackSame: rectifyBackSame256, tangentBack: tangentBack256, tangentBackSame: tangentBackSame256,
	productsBack: productsBack256,
}

var tiles512 = [14][2]func(*Tile){
	{tile1x1_512, tile1x2_512}, {tile2x1_512, tile2x2_512}, {tile3x1_512, tile3x2_512},
	{tile4x1_512, tile4x2_512}, {tile5x1_512, tile5x2_512}, {tile6x1_512, tile6x2_512},
	{tile7x1_512, tile7x2_512}, {tile8x1_512, tile8x2_512}, {tile9x1_512, tile9x2_512},
	{tile10x1_512, tile10x2_512}, {tile11x1_512, tile11x2_512}, {tile12x1_512, tile12x2_512},
	{tile13x1_512, tile13x2_512}, {tile14x1_512, tile14x2_512},
}

var tiles256 = [6][2]func(*Tile){
	{tile1x1_256, tile1x2_256}, {tile2x1_256, tile2x2_256}, {tile3x1_256, tile3x2_256},
	{tile4x1_256, tile4x2_256}, {tile5x1_256, tile5x2_256}, {tile6x1_256, tile6x2_256},
}
