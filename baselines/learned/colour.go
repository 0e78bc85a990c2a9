package learned

import (
	"dgkip/harness/method"
	"dgkip/harness/optim"
)

// coloured is the variable of a set's images. It adds a constant to each channel, so that each class
// keeps the mean colour of its training images.
type coloured struct {
	*optim.Variable[float32]
	set   *method.Distilled // the initial one, for its sizes and classes
	means [][]float64       // for each class and channel
}

func newColoured(p method.Problem, images *optim.Variable[float32], begin *method.Distilled) (coloured, error) {
	v := coloured{images, begin, nil}
	members, err := p.Data.Members()
	if err != nil {
		return v, err
	}
	for _, of := range members {
		sum := make([]float64, v.set.C)
		for _, i := range of {
			addColours(sum, p.Data.Train.At(i))
		}
		for c := range sum {
			sum[c] /= float64(len(of) * v.set.H * v.set.W)
		}
		v.means = append(v.means, sum)
	}
	v.paint()
	return v, nil
}

func addColours(sum []float64, image []float32) {
	for i, x := range image {
		sum[i%len(sum)] += float64(x)
	}
}

// Step implements method.Variable.
func (v coloured) Step(share float64) {
	v.Variable.Step(share)
	v.paint()
}

// paint moves each class to its mean colour.
func (v coloured) paint() {
	size := v.set.Size()
	for class, means := range v.means {
		sum, pixels := make([]float64, v.set.C), 0
		for i, of := range v.set.Of {
			if of == class {
				addColours(sum, v.X[i*size:][:size])
				pixels += v.set.H * v.set.W
			}
		}
		for i, of := range v.set.Of {
			if of != class {
				continue
			}
			for j := range size {
				c := j % v.set.C
				v.X[i*size+j] += float32(means[c] - sum[c]/float64(pixels))
			}
		}
	}
}
