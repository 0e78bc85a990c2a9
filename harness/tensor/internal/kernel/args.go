package kernel

// Tile describes one call of the matrix micro-kernel, for i < Rows and
// j < Cols. With f(i, j) starting at zero it computes
//
//	for s in Segs { for k < K { f(i, j) = fma(A[s.A+i*ARow+k*AK], B[s.B+k*BK+j], f(i, j)) } }
//
// and stores f in C[i*CRow+j] after the steps of Mode. All offsets and strides count
// values.
type Tile struct {
	A, B, C, Bias []float32
	Segs          []Seg
	Rows, Cols    int
	K             int
	ARow, AK      int
	BK            int
	CRow          int
	Mode          int
}

// Seg is where one segment of the sum begins in A and in B.
type Seg struct{ A, B int }

// The steps that a Tile applies to its sums before it stores them, in this order.
const (
	Add     = 1 << iota // f = C + f
	AddBias             // f = f + Bias[j]
	ReLU                // f = max(0, f); NaN is passed on
)

// WinogradIn describes the input transform V = B' d B of one tile of Winograd's
// F(4x4, 3x3), for channels [0, C). d is the 6x6 patch at Src. Element (i, j) of V goes to
// Dst[(6*i+j)*Plane+c].
type WinogradIn struct {
	Dst, Src []float32
	Plane    int // distance of two elements of V
	Row, Pix int // distances of two rows and of two pixels of Src
	C        int
}

// WinogradOut describes the output transform Y = A' M A of one tile, followed by bias and
// ReLU as in a Tile. Element (i, j) of the 6x6 block M is at Src[(6*i+j)*Plane+c]. Y has
// 4x4 pixels and goes to Dst.
type WinogradOut struct {
	Dst, Src, Bias []float32
	Plane          int
	Row, Pix       int
	C              int
	Mode           int // AddBias, ReLU
}

// WinogradFilter describes the transform U = G g G' of 3x3 filters for C output channels.
// Tap (i, j) of the filter g is at Src[(3*i+j)*Tap+c]. Element (i, j) of U goes to
// Dst[(6*i+j)*Plane+c].
type WinogradFilter struct {
	Dst, Src   []float32
	Plane, Tap int
	C          int
}

// Sixth is 1/6 rounded to float32, as the filter transform uses it.
const Sixth float32 = 1.0 / 6

// Vec describes an elementwise operation on the first N values.
type Vec struct {
	Y, X, Z []float32
	A       float32
	N       int
}

// Pool describes a scaled sum over 2x2 pixels for one row of W pooled pixels. Row is the
// distance between the two rows of Big, and of Act. Bits holds one bit for every value of
// Big, set if the value was positive: for each pooled pixel, the C bits of its upper left,
// upper right, lower left and lower right pixel.
type Pool struct {
	Small, Big, Act []float32
	Bits            []byte
	Scale           float32
	Row, W, C       int
}

// Cols describes an operation on Rows rows of C columns. Stride is the distance between
// rows in X, Z and Y. A, B and D hold one value for each column. Sums only use Y[c].
type Cols struct {
	Y, X, Z, A, B, D []float32
	Rows, Stride, C  int
}

// Panel describes the packing of a panel of B. It copies K rows of Cols values, Row apart,
// into rows that are Width apart. Transposed, it reads 8 rows of K values instead.
type Panel struct {
	Dst, Src []float32
	K        int
	Row      int
	Width    int
}
