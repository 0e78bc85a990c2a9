package dgkip

import (
	"fmt"

	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// start returns the first images and what class each stands for.
//
//	real   random training images
//	noise  standard normal values, in the units networks see
//	means  averages over equal random parts of a class, one for each image
func (l Loop) start(p method.Problem, name string) ([]float32, []int, error) {
	stream := rng.Stream(p.Seed, name, "start")
	if l.Start == "real" {
		d, err := method.Choose(p, stream)
		if err != nil {
			return nil, nil, err
		}
		return d.Images, d.Of, nil
	}
	train := p.Data.Train
	var images []float32
	var of []int
	for class, members := range train.ByClass(len(p.Data.Classes)) {
		if l.Start == "means" && len(members) < p.IPC {
			return nil, nil, fmt.Errorf("%d averages of class %s of %s are asked for, but it has only %d images", p.IPC, p.Data.Classes[class], p.Data.Name, len(members))
		}
		order := stream.Perm(len(members))
		for i := range p.IPC {
			image := make([]float32, train.Size())
			if l.Start == "noise" {
				stream.FillNormal(image, 0, 1)
			} else {
				average(image, train, members, order[i*len(order)/p.IPC:(i+1)*len(order)/p.IPC])
			}
			images, of = append(images, image...), append(of, class)
		}
	}
	return images, of, nil
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
