package tensor

import "dgkip/harness/tensor/internal/kernel"

// Float is the element type of a matrix or an image. float32 runs on the kernels. float64
// runs on plain loops, which serve as an oracle and for finite differences.
type Float interface{ float32 | float64 }

// Mat is a row-major matrix: element (i, j) is Data[i*Stride+j].
type Mat[F Float] struct {
	Rows, Cols, Stride int
	Data               []F
}

// NewMat returns a matrix of zeros.
func NewMat[F Float](rows, cols int) Mat[F] {
	if rows < 0 || cols < 0 {
		panic("tensor: NewMat: negative size")
	}
	return MatOf(make([]F, rows*cols), rows, cols)
}

// MatOf returns data as a matrix. It does not copy.
func MatOf[F Float](data []F, rows, cols int) Mat[F] {
	m := Mat[F]{Rows: rows, Cols: cols, Stride: cols, Data: data}
	m.check("tensor: MatOf: data is too short for the shape")
	return m
}

// Row returns row i. It does not copy.
func (m Mat[F]) Row(i int) []F { return m.Data[i*m.Stride:][:m.Cols] }

// Part returns rows [top, bottom) and columns [left, right). It does not copy.
func (m Mat[F]) Part(top, bottom, left, right int) Mat[F] {
	return Mat[F]{Rows: bottom - top, Cols: right - left, Stride: m.Stride, Data: m.Data[min(len(m.Data), top*m.Stride+left):]}
}

// Column returns a copy of column k.
func (m Mat[F]) Column(k int) []F {
	v := make([]F, m.Rows)
	for i := range v {
		v[i] = m.Data[i*m.Stride+k]
	}
	return v
}

// SetColumn sets column k.
func (m Mat[F]) SetColumn(k int, v []F) {
	for i, x := range v {
		m.Data[i*m.Stride+k] = x
	}
}

// Transposed returns the transpose.
func (m Mat[F]) Transposed() Mat[F] {
	out := NewMat[F](m.Cols, m.Rows)
	for i := range m.Rows {
		out.SetColumn(i, m.Row(i))
	}
	return out
}

// Narrow returns m rounded to float32.
func Narrow(m Mat[float64]) Mat[float32] {
	out := NewMat[float32](m.Rows, m.Cols)
	for i := range m.Rows {
		to := out.Row(i)
		for j, x := range m.Row(i) {
			to[j] = float32(x)
		}
	}
	return out
}

// Widen returns m in float64.
func Widen(m Mat[float32]) Mat[float64] {
	out := NewMat[float64](m.Rows, m.Cols)
	for i := range m.Rows {
		to := out.Row(i)
		for j, x := range m.Row(i) {
			to[j] = float64(x)
		}
	}
	return out
}

func (m Mat[F]) check(message string) {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols || m.Rows > 0 && m.Cols > 0 && (m.Rows-1)*m.Stride+m.Cols > len(m.Data) {
		panic(message)
	}
}

// fast reports whether F is float32, which runs on the kernels.
func fast[F Float]() bool {
	_, ok := any(F(0)).(float32)
	return ok
}

// as32 returns s itself if F is float32, and nil otherwise.
func as32[F Float](s []F) []float32 {
	v, _ := any(s).([]float32)
	return v
}

// mat32 is as32 for a matrix.
func mat32[F Float](m Mat[F]) Mat[float32] {
	v, _ := any(m).(Mat[float32])
	return v
}

// Path returns the name of the kernels in use: avx512, avx2, neon or generic.
func Path() string { return kernel.Active().Name }

// Paths returns the names of the kernels that this processor can run, the fastest first.
func Paths() []string {
	var names []string
	for _, p := range kernel.Paths() {
		names = append(names, p.Name)
	}
	return names
}

// Use selects the kernels by name, for tests and benchmarks. It must not be called while a
// computation runs.
func Use(path string) error { return kernel.Use(path) }

// EnvError returns an error if the environment variable DGKIP_KERNEL names kernels that
// this processor lacks. The fastest kernels are then in use.
func EnvError() error { return kernel.EnvError }

// Slow reports whether no vector instructions are in use. Everything then takes about a
// hundred times as long.
func Slow() bool { return Path() == "generic" }
