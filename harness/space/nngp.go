package space

import (
	"context"
	"fmt"
	"strings"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/nngp"
	"dgkip/harness/tensor"
)

func init() {
	for _, name := range []string{"nngp", "ntk"} {
		kinds[name] = func(s Source) Space {
			weight, bias := s.Model.Deviations()
			k := nngp.FC{Size: s.Data.Train.Size(), Depth: s.Model.Depth, Weight: weight, Bias: bias, Tangent: name == "ntk"}
			return kernelSpace[fcImages]{s, fcSettings(s.Model, k), true, func(_ context.Context, x []float32) (fcImages, error) {
				return fcImages{nngp.NewImages(x, k.Size), k}, nil
			}}
		}
	}
	for _, name := range []string{"nngp-conv", "ntk-conv"} {
		kinds[name] = func(s Source) Space {
			k := convOf(s.Model, s.Data.Train.H, s.Data.Train.W, s.Data.Train.C)
			return kernelSpace[convImages]{s, k, false, func(ctx context.Context, x []float32) (convImages, error) {
				images, err := k.Images(ctx, x, nil)
				return convImages{images, k}, err
			}}
		}
	}
}

// fcSettings returns the kernel in the form that existing keys of caches contain.
func fcSettings(m method.Model, k nngp.FC) any {
	if m.Weight == 0 && m.Bias == 0 && !k.Tangent {
		return struct{ Depth int }{k.Depth}
	}
	return k
}

// convOf returns the kernel of a model's ConvNets.
func convOf(m method.Model, h, w, c int) nngp.Conv {
	weight, bias := m.Deviations()
	return nngp.Conv{H: h, W: w, C: c, Depth: m.Depth, Weight: weight, Bias: bias, Tangent: m.Kind == "ntk-conv"}
}

// fcImages implements images for the kernel of fully connected networks.
type fcImages struct {
	nngp.Images
	kernel nngp.FC
}

func (v fcImages) Gram() tensor.Mat[float64]     { return v.kernel.Gram(v.Images) }
func (v fcImages) Norms() []float64              { return v.kernel.Norms(v.Images) }
func (v fcImages) pass(set []float32) kernelPass { return v.kernel.NewPass(set, v.Images) }

func (v fcImages) cross(ctx context.Context, with fcImages) (tensor.Mat[float32], error) {
	return v.kernel.Cross(ctx, v.Images, with.Images, nil)
}

func (v fcImages) chosen(batch []int) fcImages {
	d := v.X.Cols
	chosen := tensor.NewMat[float32](len(batch), d)
	tensor.GatherRows(chosen, v.X, batch)
	return fcImages{nngp.NewImages(chosen.Data, d), v.kernel}
}

func (v fcImages) large(ctx context.Context, s Source) (tensor.Mat[float32], error) {
	return v.kernel.GramOf(ctx, v.Images, s.Report("Gram matrix"))
}

func (v fcImages) lower(ctx context.Context, s Source) (convex.Triangle, error) {
	return v.kernel.LowerOf(ctx, v.Images, convex.StripRows, s.Report("Gram matrix"))
}

// convImages implements images for the kernel of ConvNets. Conv.Images has checked the kernel, so
// only a context could cause the errors that are ignored here.
type convImages struct {
	images nngp.ConvImages
	kernel nngp.Conv
}

func (v convImages) Gram() tensor.Mat[float64] {
	gram, _ := v.kernel.Gram(context.Background(), v.images)
	return gram
}

func (v convImages) Norms() []float64 {
	norms, _ := v.kernel.Norms(context.Background(), v.images)
	return norms
}

// cross puts the larger side second, because Conv.Cross takes eight images of that side at once.
func (v convImages) cross(ctx context.Context, with convImages) (tensor.Mat[float32], error) {
	if with.images.Len() < v.images.Len() {
		cross, err := v.kernel.Cross(ctx, with.images, v.images, nil)
		return tensor.Narrow(cross.Transposed()), err
	}
	cross, err := v.kernel.Cross(ctx, v.images, with.images, nil)
	return tensor.Narrow(cross), err
}

func (v convImages) chosen(batch []int) convImages {
	return convImages{v.images.Chosen(batch), v.kernel}
}

func (v convImages) pass(set []float32) kernelPass {
	return convPass{v.kernel.NewPass(set, v.images)}
}

// convPass implements kernelPass. Forward ignores its argument, because gradients need
// no preparation.
type convPass struct{ *nngp.ConvPass }

func (p convPass) Forward(bool) (gram tensor.Mat[float64], cross tensor.Mat[float32]) {
	gram, wide := p.ConvPass.Forward()
	return gram, tensor.Narrow(wide)
}

func (v convImages) large(ctx context.Context, s Source) (tensor.Mat[float32], error) {
	strips, err := v.strips(ctx, s, v.images.Len())
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	return strips[0], nil
}

func (v convImages) lower(ctx context.Context, s Source) (convex.Triangle, error) {
	return v.strips(ctx, s, convex.StripRows)
}

// gramRows is the number of rows of a Gram matrix of ConvNets that are stored together on disk.
// For 2,000 images, they take a core about a minute and a half.
const gramRows = 64

// strips returns strips of the lower half of the Gram matrix, like nngp.FC.LowerOf. The
// kernel of ConvNets takes hours for thousands of images, so parts are stored on disk.
func (v convImages) strips(ctx context.Context, s Source, height int) ([]tensor.Mat[float32], error) {
	of, err := s.Digest()
	if err != nil {
		return nil, err
	}
	var strips []tensor.Mat[float32]
	n, phase, disk, settings := v.images.Len(), s.Report("Gram matrix"), s.Shared.Disk(), s.Space().Settings()
	for from := 0; from < n; from += gramRows {
		if from%height == 0 {
			to := min(n, from+height)
			strips = append(strips, tensor.NewMat[float32](to-from, to))
		}
		to := min(n, from+gramRows)
		part := tensor.NewMat[float32](to-from, to)
		key := strings.Join([]string{"gram", settings, s.Data.Name, of, fmt.Sprint(from, to)}, " ")
		if err := method.OnDisk(disk, key, rows(part), func() error {
			cross, err := v.kernel.Cross(ctx, v.images.Part(from, to), v.images.Part(0, to), nil)
			copy(part.Data, tensor.Narrow(cross).Data)
			return err
		}); err != nil {
			return nil, err
		}
		strip, first := strips[len(strips)-1], from/height*height
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
