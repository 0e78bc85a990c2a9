package tensor

import "dgkip/harness/tensor/internal/kernel"

// PairLanes is the number of pairs of images whose covariances in an infinitely wide
// network are computed at a time.
const PairLanes = kernel.WideLanes

// The arguments of PairProducts, PairSums, PairRectify and the backward functions. One
// value can serve many calls.
type (
	Products     = kernel.Products
	Sums         = kernel.Sums
	Rectify      = kernel.Rectify
	ProductsBack = kernel.ProductsBack
	RectifyBack  = kernel.RectifyBack
)

// PairProducts multiplies the pixels of a row. See Products.
func PairProducts(a *Products) { kernel.Active().Products(a) }

// PairSums adds three rows of covariances. See Sums.
func PairSums(a *Sums) { kernel.Active().Sums(a) }

// PairRectify maps a row of covariances through convolution, ReLU and pooling. See Rectify.
func PairRectify(a *Rectify) { kernel.Active().Rectify(a) }

// PairProductsBack maps gradients of a row of covariances back to pixels.
func PairProductsBack(a *ProductsBack) { kernel.Active().ProductsBack(a) }

// PairRectifyBack maps gradients of a row of covariances back through pooling and ReLU.
func PairRectifyBack(a *RectifyBack) { kernel.Active().RectifyBack(a) }
