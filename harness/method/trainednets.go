package method

import (
	"cmp"

	"dgkip/harness/nn"
)

// TrainedNets are settings of networks that are trained, for a method or a protocol that
// embeds them.
type TrainedNets struct {
	Width    int  `toml:"width" min:"0" max:"65536"`  // 0 for that of the cell's networks
	Norm     bool `toml:"norm"`                       // instance norm in a conv network
	FirstPad int  `toml:"first_pad" min:"0" max:"64"` // of a conv network; 0 for 3 on 28x28 images, else 1
}

// Shape is that of the networks of a cell.
func (n TrainedNets) Shape(m Model) nn.Shape {
	s := m.Shape()
	s.Width, s.Norm, s.FirstPad = cmp.Or(n.Width, m.Width), n.Norm, n.FirstPad
	return s
}
