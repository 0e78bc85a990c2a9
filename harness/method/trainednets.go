package method

import (
	"cmp"

	"dgkip/harness/nn"
)

// TrainedNets holds the settings of trained networks. Methods and protocols embed it.
type TrainedNets struct {
	Width    int  `toml:"width" min:"0" max:"65536"`  // 0 means the width of the cell's networks
	Norm     bool `toml:"norm"`                       // add instance norm to conv networks
	FirstPad int  `toml:"first_pad" min:"0" max:"64"` // padding of the first layer of conv networks; 0 means 3 for 28x28 images, and 1 for others
}

// Shape returns the shape of a trained network in a cell with networks m.
func (n TrainedNets) Shape(m Model) nn.Shape {
	s := m.Shape()
	s.Width, s.Norm, s.FirstPad = cmp.Or(n.Width, m.Width), n.Norm, n.FirstPad
	return s
}
