package teacher

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/nngp"
	"dgkip/harness/tensor"
)

// exactKernel is that of infinitely many, infinitely wide networks. Keys hold its printed
// form.
type exactKernel interface {
	take(ctx context.Context, x []float32, size int) (exactImages, error) // images of so many values
}

// exactImages are images as an exact kernel takes them.
type exactImages interface {
	Gram() tensor.Mat[float64] // of few
	Norms() []float64
	cross(ctx context.Context, with exactImages) (tensor.Mat[float32], error)
	chosen(batch []int) exactImages
	pass(set []float32) exactPass // for a set beside these images
}

// exactPass is nngp.Pass, or its like in another kernel.
type exactPass interface {
	Forward(gradient bool) (gram tensor.Mat[float64], cross tensor.Mat[float32])
	Backward(dx []float32, dGram tensor.Mat[float64], dCross tensor.Mat[float32])
}

// exactOf returns the kernel of a model's networks, or nil if it has features.
func exactOf(m method.Model, h, w, c int) exactKernel {
	switch m.Limit() {
	case "fc":
		return fcKernel{Depth: m.Depth}
	case "conv": // with the deviations that package features draws by
		return convKernel{H: h, W: w, C: c, Depth: m.Depth, Weight: math.Sqrt2, Bias: 0.1}
	}
	return nil
}

// kernel returns the kernel of the model's networks, and reports whether that takes
// the place of features.
func (r Real) kernel() (exactKernel, bool) {
	k := exactOf(r.Model, r.Data.Train.H, r.Data.Train.W, r.Data.Train.C)
	return k, k != nil
}

// exactReal returns the training images for the kernel.
func (r Real) exactReal(ctx context.Context) (exactImages, error) {
	return shared(r.Shared, r.key("exact images"), func() (exactImages, error) {
		k, _ := r.kernel()
		return k.take(ctx, r.Data.Train.X, r.Data.Train.Size())
	})
}

// showExact shows images beside the training images.
func (r Real) showExact(ctx context.Context, k exactKernel, x []float32) (Shown, error) {
	images, err := k.take(ctx, x, r.Data.Train.Size())
	if err != nil {
		return nil, err
	}
	real, err := r.exactReal(ctx)
	return &inKernel{exactImages: images, real: real}, err
}

// fcKernel is the kernel of fully connected networks, on images of any size.
type fcKernel nngp.Kernel

func (k fcKernel) take(_ context.Context, x []float32, size int) (exactImages, error) {
	return fcImages{nngp.Kernel(k), nngp.NewImages(x, size)}, nil
}

type fcImages struct {
	kernel nngp.Kernel
	images nngp.Images
}

func (v fcImages) Gram() tensor.Mat[float64] { return v.kernel.Gram(v.images) }
func (v fcImages) Norms() []float64          { return v.kernel.Norms(v.images) }

func (v fcImages) cross(ctx context.Context, with exactImages) (tensor.Mat[float32], error) {
	return v.kernel.Cross(ctx, v.images, with.(fcImages).images, nil)
}

func (v fcImages) chosen(batch []int) exactImages {
	d := v.images.X.Cols
	chosen := tensor.NewMat[float32](len(batch), d)
	tensor.GatherRows(chosen, v.images.X, batch)
	return fcImages{v.kernel, nngp.NewImages(chosen.Data, d)}
}

func (v fcImages) pass(set []float32) exactPass { return v.kernel.NewPass(set, v.images) }

// convKernel is the kernel of ConvNets.
type convKernel nngp.Conv

func (k convKernel) take(ctx context.Context, x []float32, _ int) (exactImages, error) {
	images, err := nngp.Conv(k).Images(ctx, x, nil)
	return convImages{nngp.Conv(k), images}, err
}

type convImages struct {
	kernel nngp.Conv
	images nngp.ConvImages
}

func (v convImages) Gram() tensor.Mat[float64] {
	gram, _ := v.kernel.Gram(context.Background(), v.images) // the only error would be the context's
	return gram
}

func (v convImages) Norms() []float64 {
	norms, _ := v.kernel.Norms(context.Background(), v.images)
	return norms
}

// cross takes the images of the larger side eight at a time.
func (v convImages) cross(ctx context.Context, with exactImages) (tensor.Mat[float32], error) {
	w := with.(convImages)
	if w.images.Len() < v.images.Len() {
		cross, err := v.kernel.Cross(ctx, w.images, v.images, nil)
		return tensor.Narrow(cross.Transposed()), err
	}
	cross, err := v.kernel.Cross(ctx, v.images, w.images, nil)
	return tensor.Narrow(cross), err
}

func (v convImages) chosen(batch []int) exactImages {
	return convImages{v.kernel, v.images.Chosen(batch)}
}

func (v convImages) pass(set []float32) exactPass {
	p, _ := v.kernel.NewPass(set, v.images) // the kernel was checked when it took images
	return convPass{p}
}

// convPass has nothing to prepare for gradients.
type convPass struct{ *nngp.ConvPass }

func (p convPass) Forward(bool) (gram tensor.Mat[float64], cross tensor.Mat[float32]) {
	gram, wide := p.ConvPass.Forward()
	return gram, tensor.Narrow(wide)
}

// exactGram returns the kernel of all pairs of the training images.
func (r Real) exactGram(ctx context.Context) (tensor.Mat[float32], error) {
	real, err := r.exactReal(ctx)
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	if v, ok := real.(fcImages); ok {
		return v.kernel.GramOf(ctx, v.images, r.phase("Gram matrix"))
	}
	strips, err := r.convGram(ctx, real.(convImages), r.Data.Train.Len())
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	return strips[0], nil
}

// exactLower returns the lower half of the same. It is too large to be kept, and one model
// needs it.
func (r Real) exactLower(ctx context.Context) (convex.Triangle, error) {
	real, err := r.exactReal(ctx)
	if err != nil {
		return nil, err
	}
	if v, ok := real.(fcImages); ok {
		return v.kernel.LowerOf(ctx, v.images, convex.StripRows, r.phase("Gram matrix"))
	}
	return r.convGram(ctx, real.(convImages), convex.StripRows)
}

// gramRows is how many rows of a kernel of ConvNets lie together on disk: of 2,000 images a
// minute's work for a core, at most.
const gramRows = 64

// convGram is LowerOf of package nngp for a kernel of ConvNets, which takes hours for
// thousands of images: what is done of it stays on disk.
func (r Real) convGram(ctx context.Context, v convImages, rows int) ([]tensor.Mat[float32], error) {
	of, err := r.digest()
	if err != nil {
		return nil, err
	}
	var strips []tensor.Mat[float32]
	n, phase, disk := v.images.Len(), r.phase("Gram matrix"), r.Shared.Disk()
	for from := 0; from < n; from += gramRows {
		if from%rows == 0 {
			to := min(n, from+rows)
			strips = append(strips, tensor.NewMat[float32](to-from, to))
		}
		to := min(n, from+gramRows)
		part := tensor.NewMat[float32](to-from, to)
		key := strings.Join([]string{"gram", r.settings(), r.Data.Name, of, fmt.Sprint(from, to)}, " ")
		if disk == nil || !disk.Load(key, func(file io.Reader) error { return readFloats(file, part) }) {
			cross, err := v.kernel.Cross(ctx, v.images.Part(from, to), v.images.Part(0, to), nil)
			if err != nil {
				return nil, err
			}
			part = tensor.Narrow(cross)
			if disk != nil {
				disk.Save(key, 4*int64(part.Rows)*int64(part.Cols), func(file io.Writer) error { return writeFloats(file, part) })
			}
		}
		strip, first := strips[len(strips)-1], from/rows*rows
		for i := range part.Rows {
			row := part.Row(i)[:from+i+1]
			copy(strip.Row(from+i-first), row)
			for j := first; j < from+i; j++ {
				strip.Row(j - first)[from+i] = row[j]
			}
		}
		phase(float64(to) / float64(n) * (float64(to) / float64(n)))
	}
	return strips, nil
}
