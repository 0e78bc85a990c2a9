package tensor

// FillRows sets every row of m to row.
func FillRows[F Float](m Mat[F], row []F) {
	if len(row) != m.Cols {
		panic("tensor: FillRows: shapes do not fit")
	}
	m.check("tensor: FillRows: data is too short for the shape")
	for i := range m.Rows {
		copy(m.Row(i), row)
	}
}

// ScaleRows sets dst to a times src. Their strides may differ.
func ScaleRows[F Float](dst Mat[F], a F, src Mat[F]) {
	if dst.Rows != src.Rows || dst.Cols != src.Cols {
		panic("tensor: ScaleRows: shapes do not fit")
	}
	dst.check("tensor: ScaleRows: data of the result is too short for its shape")
	src.check("tensor: ScaleRows: data is too short for the shape")
	for i := range dst.Rows {
		row := dst.Row(i)
		for j, v := range src.Row(i) {
			row[j] = a * v
		}
	}
}

// Pad sets y to n images x of h x w pixels, each surrounded by a border of zeros that is
// by pixels wide.
func Pad[F Float](y, x []F, n, h, w, ch, by int) {
	if !padFits(y, x, n, h, w, ch, by) {
		panic("tensor: Pad: shapes do not fit")
	}
	clear(y)
	eachPadded(n, h, w, ch, by, func(small, big int) { copy(y[big:][:w*ch], x[small:]) })
}

// Crop is the adjoint of Pad: it sets x to y without its border.
func Crop[F Float](x, y []F, n, h, w, ch, by int) {
	if !padFits(y, x, n, h, w, ch, by) {
		panic("tensor: Crop: shapes do not fit")
	}
	eachPadded(n, h, w, ch, by, func(small, big int) { copy(x[small:][:w*ch], y[big:]) })
}

func padFits[F Float](padded, x []F, n, h, w, ch, by int) bool {
	return n >= 0 && min(h, w, ch) >= 1 && by >= 0 && len(x) == n*h*w*ch && len(padded) == n*(h+2*by)*(w+2*by)*ch
}

// eachPadded calls do with the offsets of every row of pixels, in the images and in the
// padded images.
func eachPadded(n, h, w, ch, by int, do func(small, big int)) {
	for r := range n * h {
		img, row := r/h, r%h
		do(r*w*ch, ((img*(h+2*by)+row+by)*(w+2*by)+by)*ch)
	}
}

// GatherRows sets row i of dst to row which[i] of src.
func GatherRows[F Float](dst, src Mat[F], which []int) {
	if dst.Rows != len(which) || dst.Cols != src.Cols {
		panic("tensor: GatherRows: shapes do not fit")
	}
	for i, j := range which {
		copy(dst.Row(i), src.Row(j))
	}
}
