//go:build !noasm

package kernel

// native lists the assembly paths of this processor. Every arm64 has NEON. The NEON path
// has kernels for Tile, Cross and the layers of infinitely wide networks, where nearly all
// time goes, and plain Go for the rest.
func native() []*Path {
	neon := *generic
	neon.Name, neon.Rows, neon.Cols, neon.Half = "neon", 8, 8, 8
	neon.tile = func(t *Tile) { tilesNeon[t.Rows-1](t) }
	neon.CrossRows, neon.CrossCols, neon.cross = 3, 2, crossNeon
	neon.arc, neon.arcSlopes = arcNeon, arcSlopesNeon
	neon.products, neon.productsSame, neon.sums = productsNeon, productsSameNeon, sumsNeon
	neon.rectify, neon.rectifySame, neon.tangent, neon.tangentSame = rectifyNeon, rectifySameNeon, tangentNeon, tangentSameNeon
	neon.rectifyBack, neon.rectifyBackSame, neon.productsBack = rectifyBackNeon, rectifyBackSameNeon, productsBackNeon
	neon.tangentBack, neon.tangentBackSame = tangentBackNeon, tangentBackSameNeon
	return []*Path{&neon}
}

var tilesNeon = [8]func(*Tile){
	tile1_neon, tile2_neon, tile3_neon, tile4_neon,
	tile5_neon, tile6_neon, tile7_neon, tile8_neon,
}
