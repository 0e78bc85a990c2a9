package nn

import (
	"cmp"
	"errors"
	"fmt"

	"dgkip/harness/tensor"
)

// FCConfig describes a fully connected network: Depth hidden layers with ReLU,
// then a linear layer.
type FCConfig struct {
	In      int // values of an image
	Width   int // of a hidden layer; 0 means 1024
	Depth   int // hidden layers; 0 means 3
	Classes int // outputs; 0 means 2
}

func init() {
	Register(Architecture{
		Name: "fc", Title: "FCNet", Code: 0,
		Width: 1024, Depth: 3, Nets: 30,
		Net: func(s Shape, h, w, c, classes int) (*Net[float32], error) {
			return FCNet[float32](FCConfig{In: h * w * c, Width: s.Width, Depth: s.Depth, Classes: classes})
		},
	})
	Register(Architecture{Name: "nngp", Title: "NNGP (FC)", Code: 2, Limit: "fc"})
	Register(Architecture{Name: "ntk", Title: "NTK (FC)", Code: 6, Limit: "fc"})
}

// FCNet returns the network that c describes.
func FCNet[F tensor.Float](c FCConfig) (*Net[F], error) {
	c.Width, c.Depth, c.Classes = cmp.Or(c.Width, 1024), cmp.Or(c.Depth, 3), cmp.Or(c.Classes, 2)
	if min(c.In, c.Width, c.Depth, c.Classes) < 1 {
		return nil, errors.New("nn: sizes of a fully connected network must be positive")
	}
	var layers []layer[F]
	in := c.In
	for i := range c.Depth {
		layers = append(layers, &linear[F]{name: fmt.Sprintf("hidden%d", i+1), inputs: in, outputs: c.Width, relu: true})
		in = c.Width
	}
	return build(append(layers, &linear[F]{name: "linear", inputs: in, outputs: c.Classes})...), nil
}
