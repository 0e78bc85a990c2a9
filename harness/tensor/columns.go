package tensor

import "dgkip/harness/tensor/internal/kernel"

// These operations treat x as a matrix with rows of c contiguous values. An image
// [h, w, c] has h*w such rows. All but ColSums run on the calling goroutine.

// ColSum adds to y[j] the sum of column j of x.
func ColSum[F Float](y, x []F, c int) {
	rows := columnRows(x, c, "tensor: ColSum: columns do not divide the length")
	if len(y) != c {
		panic("tensor: ColSum: shapes do not fit")
	}
	if fast[F]() {
		runCols((*kernel.Path).ColSum, kernel.Cols{Y: as32(y), X: as32(x), Rows: rows, Stride: c, C: c})
		return
	}
	for i, v := range x {
		y[i%c] += v
	}
}

// ColDot adds to y[j] the inner product of columns j of x and z.
func ColDot[F Float](y, x, z []F, c int) {
	rows := columnRows(x, c, "tensor: ColDot: columns do not divide the length")
	if len(y) != c || len(z) != len(x) {
		panic("tensor: ColDot: shapes do not fit")
	}
	if fast[F]() {
		runCols((*kernel.Path).ColDot, kernel.Cols{Y: as32(y), X: as32(x), Z: as32(z), Rows: rows, Stride: c, C: c})
		return
	}
	for i, v := range x {
		y[i%c] += F(v * z[i])
	}
}

// Affine sets column j of y to a[j]*x + d[j]. y may be x.
func Affine[F Float](y, a, x, d []F) {
	rows := columnRows(x, len(a), "tensor: Affine: columns do not divide the length")
	if len(y) != len(x) || len(d) != len(a) {
		panic("tensor: Affine: shapes do not fit")
	}
	if fast[F]() {
		runCols((*kernel.Path).Affine, kernel.Cols{Y: as32(y), X: as32(x), A: as32(a), D: as32(d), Rows: rows, Stride: len(a), C: len(a)})
		return
	}
	for i, v := range x {
		j := i % len(a)
		y[i] = F(a[j]*v) + d[j]
	}
}

// Affine2 sets column j of y to a[j]*x + b[j]*z + d[j]. y may be x or z.
func Affine2[F Float](y, a, x, b, z, d []F) {
	rows := columnRows(x, len(a), "tensor: Affine2: columns do not divide the length")
	if len(y) != len(x) || len(z) != len(x) || len(b) != len(a) || len(d) != len(a) {
		panic("tensor: Affine2: shapes do not fit")
	}
	if fast[F]() {
		runCols((*kernel.Path).Affine2, kernel.Cols{
			Y: as32(y), X: as32(x), Z: as32(z), A: as32(a), B: as32(b), D: as32(d), Rows: rows, Stride: len(a), C: len(a),
		})
		return
	}
	for i, v := range x {
		j := i % len(a)
		y[i] = F(a[j]*v) + F(b[j]*z[i]) + d[j]
	}
}

// columnRows returns the number of rows of x.
func columnRows[F Float](x []F, c int, message string) int {
	if c < 1 || len(x)%c != 0 {
		panic(message)
	}
	return len(x) / c
}

// runCols runs a kernel on pooled arguments, so that no call allocates.
func runCols(do func(*kernel.Path, *kernel.Cols), a kernel.Cols) {
	if a.Rows == 0 {
		return
	}
	s := getScratch()
	defer putScratch(s)
	s.cols = a
	do(kernel.Active(), &s.cols)
}

// ColSums sets row i of y, [n, c], to the sums of the columns of image i of x.
func ColSums[F Float](y, x []F, n, c int) {
	if n < 0 || c < 1 || len(y) != n*c || n > 0 && len(x)%(n*c) != 0 {
		panic("tensor: ColSums: shapes do not fit")
	}
	clear(y)
	Parallel(n, func(i int) { ColSum(y[i*c:][:c], part(x, i, 1, len(x)/n), c) })
}
