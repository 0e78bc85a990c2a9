package dgkip

import (
	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// start returns the first images, and what class each stands for.
//
//	real   random training images
//	noise  standard normal values, in the units networks see
//	means  averages over equal random parts of a class, one for each image
func (l Loop) start(p method.Problem, name string) (*method.Distilled, error) {
	stream := rng.Stream(p.Seed, name, "start")
	if l.Start == "real" {
		return method.Choose(p, stream)
	}
	train := p.Data.Train
	classes := train.ByClass(len(p.Data.Classes))
	if l.Start == "means" {
		var err error
		if classes, err = method.Members(p); err != nil {
			return nil, err
		}
	}
	d := method.Blank(p)
	for class, members := range classes {
		order := stream.Perm(len(members))
		for i := range p.IPC {
			image := make([]float32, train.Size())
			if l.Start == "noise" {
				stream.FillNormal(image, 0, 1)
			} else {
				average(image, train, members, order[i*len(order)/p.IPC:(i+1)*len(order)/p.IPC])
			}
			d.Images, d.Of = append(d.Images, image...), append(d.Of, class)
		}
	}
	return d, nil
}

// average sets dst to the mean of the members that part points to.
func average(dst []float32, train method.Images, members, part []int) {
	sum := make([]float64, len(dst))
	for _, i := range part {
		for j, v := range train.At(members[i]) {
			sum[j] += float64(v)
		}
	}
	for j, v := range sum {
		dst[j] = float32(v / float64(len(part)))
	}
}
