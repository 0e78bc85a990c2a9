// Package tensor computes with dense float32 matrices and images at the speed
// of the hardware, and with float64 ones slowly, by definition.
//
// The product C = A B in its three orders, the Gram matrix A A', and the 3x3
// convolution
//
//	y[r, c, o] = sum over i, j in 0..2 and k of x[r+i-1, c+j-1, k] w[i, j, k, o]
//
// with its two adjoints are nearly all that this program computes. Matrices are
// row-major; images are [n, h, w, channel] and convolution weights
// [3, 3, in, out].
//
// # The same bits
//
// A result depends on its operands and their shapes alone: not on the number of
// threads, not on the vector path (AVX-512, AVX2, NEON or plain Go), and for an
// operation on images not on the other images of the batch. The sums of a product
// are cut into chains of at most 1024 fused multiply-adds, each rounded once a
// step, which are added in order; direct convolution is one chain over the taps
// and channels of a pixel. Only the payload of a NaN is left open.
//
// Gram64, Cross64, MulVec64, AddRows64 and Outer64 take float32 matrices and
// compute in float64, at speed too. Their sums over features have eight partial
// sums over each piece of 2048 features, the sums of the pieces are added in
// order, and sums over rows are taken row by row. ArcCosine computes in float64, number
// by number.
//
// What is not the same: Winograd and direct convolution of the same operands,
// sums over a batch (ConvBackwardWeights, Dot, ColSum) and sums over its parts,
// and float32 and float64.
//
// # Direct or Winograd
//
// Auto decides by channels and image size, never by the number of images. On a
// processor with AVX-512, Winograd took 0.38 to 0.52 of the time of the direct
// algorithm for 256 channels from 14 images up, the more the better the tiles of
// 4x4 pixels fill the image (16x16 and 8x8 pixels well, 14x14 and 7x7 badly), and
// 0.37 for two images of 16x16 pixels.
package tensor
