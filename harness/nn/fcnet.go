package nn

import (
	"errors"
	"fmt"

	"dgkip/harness/tensor"
)

func init() {
	Register(Architecture{
		Name: "fc", Title: "FCNet", Code: 0,
		Width: 1024, Depth: 3, Nets: 30,
		Net: func(s Shape, h, w, c, classes int) (*Net[float32], error) {
			return FCNet[float32](h*w*c, s.Width, s.Depth, classes)
		},
	})
	Register(Architecture{Name: "nngp", Title: "NNGP (FC)", Code: 2, Limit: "fc"})
	Register(Architecture{Name: "ntk", Title: "NTK (FC)", Code: 6, Limit: "fc"})
}

// FCNet returns a fully connected network for images of in values: depth hidden layers of the
// given width with ReLU, then a linear layer.
func FCNet[F tensor.Float](in, width, depth, classes int) (*Net[F], error) {
	if min(in, width, depth, classes) < 1 {
		return nil, errors.New("sizes of a fully connected network must be positive")
	}
	var layers []layer[F]
	for i := range depth {
		layers = append(layers, &linear[F]{name: fmt.Sprintf("hidden%d", i+1), inputs: in, outputs: width, relu: true})
		in = width
	}
	return build(append(layers, &linear[F]{name: "linear", inputs: in, outputs: classes})...), nil
}
