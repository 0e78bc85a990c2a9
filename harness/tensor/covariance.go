package tensor

import "dgkip/harness/tensor/internal/kernel"

// PairLanes is how many pairs of images the covariances of infinitely wide networks are
// taken through a layer for at a time.
const PairLanes = kernel.WideLanes

// What PairProducts, PairSums, PairRectify and the ways back take. One of each serves many
// calls.
type (
	Products     = kernel.Products
	Sums         = kernel.Sums
	Rectify      = kernel.Rectify
	ProductsBack = kernel.ProductsBack
	RectifyBack  = kernel.RectifyBack
)

// PairProducts multiplies the pixels of a row of places.
func PairProducts(a *Products) { kernel.Active().Products(a) }

// PairSums adds three rows of covariances.
func PairSums(a *Sums) { kernel.Active().Sums(a) }

// PairRectify takes a row of covariances through convolution, ReLU and pooling.
func PairRectify(a *Rectify) { kernel.Active().Rectify(a) }

// PairProductsBack takes gradients in a row of covariances back to pixels.
func PairProductsBack(a *ProductsBack) { kernel.Active().ProductsBack(a) }

// PairRectifyBack takes gradients in a row of covariances back through pooling and ReLU.
func PairRectifyBack(a *RectifyBack) { kernel.Active().RectifyBack(a) }
