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
	if l.Start != "noise" {
		return method.Start(p, l.Start, stream)
	}
	d := method.Blank(p)
	for class, members := range p.Data.Train.ByClass(len(p.Data.Classes)) {
		stream.Perm(len(members)) // the noise of sets on disk comes after this draw
		for range p.IPC {
			image := make([]float32, d.Size())
			stream.FillNormal(image, 0, 1)
			d.Images, d.Of = append(d.Images, image...), append(d.Of, class)
		}
	}
	return d, nil
}
