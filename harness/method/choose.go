package method

import (
	"fmt"
	"slices"

	"dgkip/harness/rng"
)

// Choose returns IPC different training images of every class with hard labels,
// drawn from the stream: the control, and the usual start of a distillation.
// Images stand class by class.
func Choose(p Problem, stream *rng.Rand) (*Distilled, error) {
	train := p.Data.Train
	d := &Distilled{
		H: train.H, W: train.W, C: train.C, Kind: Hard,
		Classes: p.Data.Classes, Prep: p.Data.Prep,
	}
	for class, members := range train.ByClass(len(p.Data.Classes)) {
		if len(members) < p.IPC {
			return nil, fmt.Errorf("%d images per class are asked for, but class %s of %s has only %d", p.IPC, p.Data.Classes[class], p.Data.Name, len(members))
		}
		order := stream.Perm(len(members))
		for _, i := range order[:p.IPC] {
			d.Images = append(d.Images, train.At(members[i])...)
			d.Of = append(d.Of, class)
		}
	}
	d.Labels = OneHot(d.Of, len(d.Classes))
	return d, nil
}

// CheckStart tells why the named method, which begins with images that Choose chooses
// if start is "real", cannot be run on data of such sizes, if so.
func CheckStart(name, start string, s Sizes) error {
	if start == "real" && s.Smallest > 0 && s.IPC > s.Smallest {
		return fmt.Errorf("ipc %d: %s with start = \"real\" needs as many training images of every class, and the smallest class has only %d\nhint: start = \"noise\" needs none", s.IPC, name, s.Smallest)
	}
	return nil
}

// Noise returns IPC images of standard normal values, in the units networks see, for
// every class with hard labels: the other usual start. Images stand class by class.
func Noise(p Problem, stream *rng.Rand) *Distilled {
	train := p.Data.Train
	d := &Distilled{
		H: train.H, W: train.W, C: train.C, Kind: Hard,
		Classes: p.Data.Classes, Prep: p.Data.Prep,
	}
	for class := range d.Classes {
		d.Of = append(d.Of, slices.Repeat([]int{class}, p.IPC)...)
	}
	d.Images = make([]float32, d.Len()*d.Size())
	stream.FillNormal(d.Images, 0, 1)
	d.Labels = OneHot(d.Of, len(d.Classes))
	return d
}
