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
			return kernelSpace[nngp.Images]{
				s, fcSettings(s.Model, k), true, k.Images,
				func(ctx context.Context, v nngp.Images) (tensor.Mat[float32], error) {
					return v.GramOf(ctx, s.Report("Gram matrix"))
				},
				func(ctx context.Context, v nngp.Images) (convex.Triangle, error) {
					return v.LowerOf(ctx, convex.StripRows, s.Report("Gram matrix"))
				},
			}
		}
	}
	for _, name := range []string{"nngp-conv", "ntk-conv"} {
		kinds[name] = func(s Source) Space {
			k := convOf(s.Model, s.Data.Train.H, s.Data.Train.W, s.Data.Train.C)
			return kernelSpace[nngp.ConvImages]{
				s, k, false, k.Images,
				func(ctx context.Context, v nngp.ConvImages) (tensor.Mat[float32], error) {
					strips, err := convStrips(ctx, s, v, v.Len())
					if err != nil {
						return tensor.Mat[float32]{}, err
					}
					return strips[0], nil
				},
				func(ctx context.Context, v nngp.ConvImages) (convex.Triangle, error) {
					return convStrips(ctx, s, v, convex.StripRows)
				},
			}
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

// gramRows is the number of rows of a Gram matrix of ConvNets that are stored together on disk.
// For 2,000 images, they take a core about a minute and a half.
const gramRows = 64

// convStrips returns strips of the lower half of the Gram matrix, like nngp.Images.LowerOf. The
// kernel of ConvNets takes hours for thousands of images, so parts are stored on disk.
func convStrips(ctx context.Context, s Source, v nngp.ConvImages, height int) ([]tensor.Mat[float32], error) {
	var strips []tensor.Mat[float32]
	n, phase, disk, settings := v.Len(), s.Report("Gram matrix"), s.Shared.Disk(), s.Space().Settings()
	of := ""
	if disk != nil {
		of = s.Digest()
	}
	for from := 0; from < n; from += gramRows {
		if from%height == 0 {
			to := min(n, from+height)
			strips = append(strips, tensor.NewMat[float32](to-from, to))
		}
		to := min(n, from+gramRows)
		part := tensor.NewMat[float32](to-from, to)
		key := strings.Join([]string{"gram", settings, s.Data.Name, of, fmt.Sprint(from, to)}, " ")
		if err := method.OnDisk(disk, key, rows(part), func() error {
			cross, err := v.Part(from, to).Cross(ctx, v.Part(0, to))
			copy(part.Data, cross.Data)
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
