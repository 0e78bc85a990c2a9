package method

import (
	"errors"
	"fmt"
	"slices"

	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// Start returns the initial set of a distillation: Choose for "real", Means for "means", or images of
// standard normal values for "noise".
func Start(p Problem, start string, stream *rng.Rand) (*Distilled, error) {
	switch start {
	case "real":
		return Choose(p, stream)
	case "means":
		return Means(p, stream)
	}
	return noise(p, stream), nil
}

// CheckImages returns an error if the named method, which chooses training images, cannot find
// enough of them.
func CheckImages(name string, s Sizes) error {
	if s.Smallest > 0 && s.IPC > s.Smallest {
		return fmt.Errorf("%s needs %d training images of every class, but the smallest class has only %d", name, s.IPC, s.Smallest)
	}
	return nil
}

// CheckStart returns an error if the named method cannot begin with Start on data of these
// sizes.
func CheckStart(name, start string, s Sizes) error {
	if start == "noise" {
		return nil
	}
	err := CheckImages(fmt.Sprintf("%s with start = %q", name, start), s)
	if err != nil {
		err = fmt.Errorf("%w\nhint: start = \"noise\" does not need real images", err)
	}
	return err
}

// CheckTrained is CheckStart for a method that trains or draws networks of a shape.
func CheckTrained(name, start string, shape nn.Shape, s Sizes) error {
	if s.Classes == 1 {
		return fmt.Errorf("%s needs at least two classes, but the data has one", name)
	}
	_, err := shape.Net(s.H, s.W, s.C, s.Classes)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return errors.Join(CheckStart(name, start, s), err)
}

// Choose draws IPC different training images of every class, with hard labels, from the stream.
// They are a control, and the usual start of a distillation. Images are sorted by class.
func Choose(p Problem, stream *rng.Rand) (*Distilled, error) {
	classes, err := Members(p)
	if err != nil {
		return nil, err
	}
	d := Blank(p)
	for class, members := range classes {
		order := stream.Perm(len(members))
		for _, i := range order[:p.IPC] {
			d.Images = append(d.Images, p.Data.Train.At(members[i])...)
			d.Of = append(d.Of, class)
		}
	}
	d.Labels = OneHot(d.Of, len(d.Classes))
	return d, nil
}

// Means returns averages over IPC equal random parts of every class, with hard labels. Images are
// sorted by class.
func Means(p Problem, stream *rng.Rand) (*Distilled, error) {
	classes, err := Members(p)
	if err != nil {
		return nil, err
	}
	d := Blank(p)
	for class, members := range classes {
		order := stream.Perm(len(members))
		for i := range p.IPC {
			part := order[i*len(order)/p.IPC : (i+1)*len(order)/p.IPC]
			sum := make([]float64, d.Size())
			for _, m := range part {
				for j, v := range p.Data.Train.At(members[m]) {
					sum[j] += float64(v)
				}
			}
			for _, v := range sum {
				d.Images = append(d.Images, float32(v/float64(len(part))))
			}
			d.Of = append(d.Of, class)
		}
	}
	d.Labels = OneHot(d.Of, len(d.Classes))
	return d, nil
}

// noise returns IPC images of every class with hard labels. Their values are standard normal, in
// normalised units. Images are sorted by class.
func noise(p Problem, stream *rng.Rand) *Distilled {
	d := Blank(p)
	for class := range d.Classes {
		d.Of = append(d.Of, slices.Repeat([]int{class}, p.IPC)...)
	}
	d.Images = make([]float32, d.Len()*d.Size())
	stream.FillNormal(d.Images, 0, 1)
	d.Labels = OneHot(d.Of, len(d.Classes))
	return d
}

// Blank returns a set without images for the problem, for hard labels.
func Blank(p Problem) *Distilled {
	t := p.Data.Train
	return &Distilled{H: t.H, W: t.W, C: t.C, Kind: Hard, Classes: p.Data.Classes, Prep: p.Data.Prep}
}

// Members returns the indices of the training images of every class. It returns an error if a
// class has fewer than IPC images.
func Members(p Problem) ([][]int, error) {
	classes := p.Data.Train.ByClass(len(p.Data.Classes))
	for class, members := range classes {
		if len(members) < p.IPC {
			return nil, fmt.Errorf("%d images per class are requested, but class %s of %s has only %d\nhint: lower ipc, or choose other classes", p.IPC, p.Data.Classes[class], p.Data.Name, len(members))
		}
	}
	return classes, nil
}
