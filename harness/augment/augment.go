// Package augment changes images at random. All operations are affine in the pixels,
// y = A x + b, so gradients pass back through the adjoint A'.
//
// The operations come from Zhao & Bilen, "Dataset Condensation with Differentiable Siamese
// Augmentation" (2021). Every u below is drawn uniformly from [0, 1):
//
//	color   x + (u - 1/2), then m + 2u (x - m) about the mean m of a pixel's
//	        channels, then m + (u + 1/2)(x - m) about the mean m of the image
//	crop    a shift by up to an eighth of a side, filled with zeros
//	cutout  a square of half a side, its centre in the image, set to zero
//	flip    left and right exchanged, with probability 1/2
//	scale   each axis by a factor within [1/1.2, 1.2], bilinear, filled with zeros
//	rotate  by up to 15 degrees, bilinear, filled with zeros
//
// Strategies "dc" and "frepo" have their own operations, for training: see [New].
//
// A [Strategy] lists operations and draws one of them at a time. In matching, the same
// [Draw] changes real and synthetic images (Siamese augmentation). In training, every image
// of a batch gets its own parameters.
//
// Images are normalised and laid out [n, h, w, c]. Zero is the mean of the data.
package augment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dgkip/harness/fmath"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// Strategy is a list of operations, one of which is drawn at a time. The zero value changes
// nothing.
type Strategy struct {
	ops  []operation
	each bool // in training, each image also draws its own operation
}

// operation is a named operation. Its function draws parameters for images of h x w pixels.
type operation struct {
	name string
	draw func(r *rng.Rand, h, w int) Draw
}

// dsaOperations are the operations of DSA, in the order in which its strategies list them, as in
// color_crop_cutout_flip_scale_rotate.
var dsaOperations = []operation{
	{"color", func(r *rng.Rand, h, w int) Draw {
		return Draw{op: color, u: [3]float64{r.Float64(), r.Float64(), r.Float64()}}
	}},
	{"crop", func(r *rng.Rand, h, w int) Draw {
		by := func(side int) int { k := (side + 4) / 8; return r.IntN(2*k+1) - k }
		return Draw{op: crop, rows: [2]int{by(h)}, cols: [2]int{by(w)}}
	}},
	{"cutout", func(r *rng.Rand, h, w int) Draw {
		span := func(side int) [2]int {
			k := (side + 1) / 2
			from := r.IntN(side+1-k%2) - k/2
			return [2]int{max(0, from), min(side, from+k)}
		}
		return Draw{op: cutout, rows: span(h), cols: span(w)}
	}},
	flips,
	{"scale", func(r *rng.Rand, h, w int) Draw {
		const lo, hi = 1 / 1.2, 1.2
		factor := func() float64 { return lo + float64((hi-lo)*r.Float64()) }
		return scaled(factor(), factor())
	}},
	{"rotate", func(r *rng.Rand, h, w int) Draw { return rotated(float64(30*r.Float64()) - 15) }},
}

var flips = operation{"flip", func(r *rng.Rand, h, w int) Draw {
	if r.Float64() < 0.5 {
		return Draw{op: flip}
	}
	return Draw{}
}}

// dcOperations are the operations with which "Dataset Condensation with Gradient Matching" trains
// networks on digits. The original fills with the mean of the batch, scales to the nearest pixel
// and rotates by a spline. Here all operations fill with zero, the mean of the data, and
// interpolate bilinearly.
var dcOperations = []operation{
	{"crop", func(r *rng.Rand, h, w int) Draw {
		by := func() int { return r.IntN(8) - 4 } // a crop 0 to 7 pixels into the image with a margin of 4
		return Draw{op: crop, rows: [2]int{by()}, cols: [2]int{by()}}
	}},
	{"scale", func(r *rng.Rand, h, w int) Draw {
		factor := func() float64 { return 1 / (0.8 + float64(0.4*r.Float64())) }
		return scaled(factor(), factor())
	}},
	{"rotate", func(r *rng.Rand, h, w int) Draw { return rotated(float64(90*r.Float64()) - 45) }},
}

// frepoOperations are the operations with which "Dataset Distillation using Neural Feature
// Regression" trains networks on its sets. Zoom, rotation and shift fill with the edge of the image;
// cutout sets zero. The colour operation is like DSA's, with half its range of brightness, and with
// saturation and contrast factors that are log-uniform.
var frepoOperations = []operation{
	flips,
	{"color", func(r *rng.Rand, h, w int) Draw {
		factor := func() float64 { return fmath.Exp(float64(0.5*r.Float64()) - 0.25) }
		return Draw{op: color, u: [3]float64{float64(0.5*r.Float64()) + 0.25, factor() / 2, factor() - 0.5}}
	}},
	{"crop", func(r *rng.Rand, h, w int) Draw { // a zoom at a random place
		const most = 0.22314355131420976 // ln 1.25
		z := fmath.Exp(float64(2*most*r.Float64()) - most)
		by := func() float64 { return float64(float64(2*r.Float64()-1)*math.Abs(z-1)) / z }
		return Draw{op: warp, m: [4]float64{1 / z, 0, 0, 1 / z}, by: [2]float64{by(), by()}, edge: true}
	}},
	{"rotate", func(r *rng.Rand, h, w int) Draw {
		d := rotated(float64(30*r.Float64()) - 15)
		d.edge = true
		return d
	}},
	{"translate", func(r *rng.Rand, h, w int) Draw {
		by := func() float64 { return float64(0.5*r.Float64()) - 0.25 } // an eighth of a side, which has length 2
		return Draw{op: warp, m: [4]float64{1, 0, 0, 1}, by: [2]float64{by(), by()}, edge: true}
	}},
	{"cutout", func(r *rng.Rand, h, w int) Draw {
		span := func(side int) [2]int {
			from := r.IntN(side - side/4 + 1)
			return [2]int{from, from + side/4}
		}
		return Draw{op: cutout, rows: span(h), cols: span(w)}
	}},
}

// New returns the strategy that a setting names. characters reports whether the images are
// characters, which must not be mirrored.
//
//	""      none
//	dsa     all operations; flip only if the images are not characters
//	dc      shifts of -4 to 3 pixels, each side scaled by .8 to 1.2, rotations of
//	        up to 45 degrees: for digits, only in training
//	frepo   flip (not for characters; in scoring, not for grey images), color, zoom,
//	        rotation and shift, filled with the edge of the image, and a cutout of a
//	        quarter of a side
//	...     operations joined by _, such as color_crop_cutout_scale_rotate
func New(name string, characters bool) (Strategy, error) {
	switch name {
	case "":
		return Strategy{}, nil
	case "dsa", "frepo":
		of := map[string][]operation{"dsa": dsaOperations, "frepo": frepoOperations}[name]
		return Strategy{ops: slices.DeleteFunc(slices.Clone(of), func(o operation) bool {
			return o.name == "flip" && characters
		})}, nil
	case "dc":
		return Strategy{ops: dcOperations, each: true}, nil
	}
	var s Strategy
	for _, part := range strings.Split(name, "_") {
		same := func(o operation) bool { return o.name == part }
		i := slices.IndexFunc(dsaOperations, same)
		if i < 0 {
			return s, fmt.Errorf("has no operation %q: use dsa or frepo (or dc, only for training), or join color, crop, cutout, flip, scale and rotate by _", part)
		}
		if slices.ContainsFunc(s.ops, same) {
			return s, fmt.Errorf("names the operation %s twice", part)
		}
		s.ops = append(s.ops, dsaOperations[i])
	}
	return s, nil
}

// None reports whether the strategy changes nothing.
func (s Strategy) None() bool { return len(s.ops) == 0 }

// String returns the operations' names, joined by _.
func (s Strategy) String() string {
	var names []string
	for _, o := range s.ops {
		names = append(names, o.name)
	}
	return strings.Join(names, "_")
}

// Draw draws an operation and its parameters for images of h x w pixels.
func (s Strategy) Draw(r *rng.Rand, h, w int) Draw {
	if s.None() {
		return Draw{}
	}
	return s.ops[r.IntN(len(s.ops))].draw(r, h, w)
}

// Batch changes n images of h x w pixels with c channels in place, for training. It draws one
// operation for the batch and parameters for every image. Some strategies, such as "dc", also
// draw an operation for every image.
func Batch[F tensor.Float](s Strategy, x []F, n, h, w, c int, r *rng.Rand) {
	size := h * w * c
	if len(x) != n*size {
		panic("augment.Batch: wrong number of values")
	}
	if s.None() || n == 0 {
		return
	}
	draws := make([]Draw, n)
	op := s.ops[r.IntN(len(s.ops))]
	for i := range draws {
		if s.each && i > 0 {
			op = s.ops[r.IntN(len(s.ops))]
		}
		draws[i] = op.draw(r, h, w)
	}
	tensor.Parallel(n, func(i int) {
		image := x[i*size:][:size]
		run(draws[i], image, slices.Clone(image), h, w, c, false)
	})
}

// Training returns a function that applies Batch to n images of a training, or nil for no strategy.
func (s Strategy) Training(h, w, c int) func(x []float32, n int, r *rng.Rand) {
	if s.None() {
		return nil
	}
	return func(x []float32, n int, r *rng.Rand) { Batch(s, x, n, h, w, c, r) }
}

// Draw is an operation with its parameters. The zero value changes nothing.
type Draw struct {
	op         op
	u          [3]float64 // of color
	rows, cols [2]int     // the shift of crop, or the bounds of cutout
	m          [4]float64 // of warp
	by         [2]float64 // of warp: right and down
	edge       bool       // fill with the edge of the image instead of zero
}

type op int

const (
	identity op = iota
	color
	crop
	cutout
	flip
	warp // scale, rotate and translate
)

// scaled returns the draw that reads the pixel at (x, y) from (sx x, sy y).
func scaled(sx, sy float64) Draw { return Draw{op: warp, m: [4]float64{sx, 0, 0, sy}} }

// Flip returns the draw that exchanges left and right. It is its own adjoint.
func Flip() Draw { return Draw{op: flip} }

func rotated(degrees float64) Draw {
	const radians = 3.14159265358979323846264338327950288 / 180
	t := degrees * radians
	sin, cos := fmath.Sin(t), fmath.Cos(t)
	return Draw{op: warp, m: [4]float64{cos, -sin, sin, cos}}
}

// Apply sets dst to n images src of h x w pixels with c channels, all changed by d. dst and
// src must not overlap.
func Apply[F tensor.Float](d Draw, dst, src []F, n, h, w, c int) {
	all(d, dst, src, n, h, w, c, false)
}

// Adjoint sets dst to the gradient of <g, Apply(x)> with respect to x, where src is g. dst and
// src must not overlap.
func Adjoint[F tensor.Float](d Draw, dst, src []F, n, h, w, c int) {
	all(d, dst, src, n, h, w, c, true)
}

func all[F tensor.Float](d Draw, dst, src []F, n, h, w, c int, adjoint bool) {
	size := h * w * c
	if min(h, w, c) < 1 || len(dst) != n*size || len(src) != n*size {
		panic("augment: wrong number of values")
	}
	tensor.Parallel(n, func(i int) { run(d, dst[i*size:][:size], src[i*size:][:size], h, w, c, adjoint) })
}

// run applies an operation, or its adjoint, to one image.
func run[F tensor.Float](d Draw, dst, src []F, h, w, c int, adjoint bool) {
	switch d.op {
	case identity:
		copy(dst, src)
	case color:
		recolor(dst, src, d.u, c, adjoint)
	case crop:
		down, right := d.rows[0], d.cols[0]
		if adjoint {
			down, right = -down, -right
		}
		shift(dst, src, down, right, h, w, c)
	case cutout:
		cut(dst, src, d.rows, d.cols, w, c)
	case flip:
		mirror(dst, src, w, c)
	case warp:
		resample(dst, src, d, h, w, c, adjoint)
	}
}

// Matching is New for the matching of real and synthetic images, which excludes "dc". The strategy
// "flip" does not change characters.
func Matching(name string, characters bool) (Strategy, error) {
	switch {
	case name == "dc":
		return Strategy{}, errors.New(`is "dc", which only suits training, not matching: use "dsa", or its operations joined by _`)
	case name == "flip" && characters:
		return Strategy{}, nil
	}
	return New(name, characters)
}
