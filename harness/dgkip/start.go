package dgkip

import (
	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// start returns the initial images and their classes.
//
//	real   random training images
//	noise  standard normal values of the normalised pixels
//	means  averages: each class is split at random into ipc equal parts
func (l Loop) start(p method.Problem, name string) (*method.Distilled, error) {
	stream := rng.Stream(p.Seed, name, "start")
	if l.Start != "noise" {
		return method.Start(p, l.Start, stream)
	}
	d := method.Blank(p)
	for class, members := range p.Data.Train.ByClass(len(p.Data.Classes)) {
		stream.Perm(len(members)) // unused, but recorded sets were drawn after it
		for range p.IPC {
			image := make([]float32, d.Size())
			stream.FillNormal(image, 0, 1)
			d.Images, d.Of = append(d.Images, image...), append(d.Of, class)
		}
	}
	return d, nil
}
