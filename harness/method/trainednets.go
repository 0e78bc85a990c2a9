package method

import (
	"cmp"

	"dgkip/harness/nn"
)

// TrainedNets are the settings of trained networks. Methods and protocols embed it.
type TrainedNets struct {
	Width    int  `toml:"width" min:"0" max:"65536"`  // 0 for that of the cell's networks
	Norm     bool `toml:"norm"`                       // instance norm in a conv network
	FirstPad int  `toml:"first_pad" min:"0" max:"64"` // of a conv network; 0 for 3 on 28x28 images, else 1
}

// Shape returns the shape of a trained network in a cell with networks m.
func (n TrainedNets) Shape(m Model) nn.Shape {
	s := m.Shape()
	s.Width, s.Norm, s.FirstPad = cmp.Or(n.Width, m.Width), n.Norm, n.FirstPad
	return s
}
