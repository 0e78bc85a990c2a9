// Package tensor computes with dense matrices and images: in float32 at the speed of the
// hardware, and in float64 by slow loops that follow the definition.
//
// Nearly all that this program computes is the product C = A B in its three orders, the
// Gram matrix A A', and the 3x3 convolution with its two adjoints:
//
//	y[r, c, o] = sum over i, j in 0..2 and k of x[r+i-1, c+j-1, k] w[i, j, k, o]
//
// Matrices are row-major. Images are [n, h, w, channel] and convolution weights
// [3, 3, in, out].
//
// # The same bits
//
// A result depends only on its operands and their shapes. It does not depend on the
// number of threads, on the vector path (AVX-512, AVX2, NEON or plain Go), or on the other
// images of a batch. Only the payload of a NaN is left open.
//
// The inner sum of a product is cut into chains of at most 1024 fused multiply-adds. Each
// step is rounded once, and the chains are added in order. Direct convolution is one chain
// over the taps and channels of a pixel.
//
// Gram64, Cross64, MulVec64 and AddRows64 take float32 matrices and compute in float64, also
// on the kernels. Outer64 takes float64 vectors and rounds to float32. A sum over features has eight partial sums for each piece
// of 2048 features, and the pieces are added in order. Sums over rows are taken row by
// row. ArcCosine computes each number by itself in float64.
//
// These results differ in their last bits: Winograd and direct convolution; sums over a
// batch (ConvBackwardWeights, Dot, ColSum) and sums over its parts; float32 and float64.
//
// # Direct or Winograd
//
// Auto decides by channels and image size, never by the number of images. It was measured
// with AVX-512 and 256 channels. From 14 images up, Winograd took 0.38 to 0.52 of the time
// of direct convolution, and 0.37 for two images of 16x16 pixels. It gains most where 4x4
// tiles fill the image: 16x16 and 8x8 pixels well, 14x14 and 7x7 badly.
package tensor
