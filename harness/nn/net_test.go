package nn

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

func TestTensors(t *testing.T) {
	net := must(ConvNet[float32](Shape{Kind: "conv", Width: 128, Depth: 3, Norm: true}, 28, 28, 1, 2))
	var got []string
	next := 0
	for _, p := range net.Tensors() {
		got = append(got, fmt.Sprintf("%s%d%d", p.Name, p.Shape, p.FanIn))
		if p.Offset != next {
			t.Errorf("%s begins at %d, want %d", p.Name, p.Offset, next)
		}
		next += p.Len
		if p.Weight() != (len(p.Shape) > 1) || p.Outputs() != p.Shape[len(p.Shape)-1] {
			t.Errorf("%s: weight %t with %d outputs", p.Name, p.Weight(), p.Outputs())
		}
	}
	// A first padding of 3 turns 28x28 pixels into 32x32, and three poolings into 4x4.
	want := "block1.conv.weight[3 3 1 128]9 block1.conv.bias[128]9 block1.norm.gain[128]0 block1.norm.shift[128]0 " +
		"block2.conv.weight[3 3 128 128]1152 block2.conv.bias[128]1152 block2.norm.gain[128]0 block2.norm.shift[128]0 " +
		"block3.conv.weight[3 3 128 128]1152 block3.conv.bias[128]1152 block3.norm.gain[128]0 block3.norm.shift[128]0 " +
		"linear.weight[2048 2]2048 linear.bias[2]2048"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s", got)
	}
	if next != net.Params() || net.Inputs() != 28*28 || net.Classes() != 2 {
		t.Errorf("%d parameters in tensors of %d, %d inputs, %d classes", next, net.Params(), net.Inputs(), net.Classes())
	}
}

// Weights have the variance and range that InitUniform and InitLecun document, for any element
// type. Other parameters are constant.
func TestInit(t *testing.T) {
	s := Shape{Kind: "conv", Width: 64, Depth: 3, Norm: true}
	net, net32 := must(ConvNet[float64](s, 32, 32, 3, 2)), must(ConvNet[float32](s, 32, 32, 3, 2))
	for _, c := range []struct {
		name            string
		init            func(theta []float64, stream *rng.Rand)
		init32          func(theta []float32, stream *rng.Rand)
		constant        map[Kind]float64
		sd, least, most float64 // for a fan-in of 1
	}{
		{"uniform", net.InitUniform, net32.InitUniform, map[Kind]float64{Gain: 1, Shift: 0}, 1 / math.Sqrt(3), 1, 1},
		{"Lecun", net.InitLecun, net32.InitLecun, map[Kind]float64{Gain: 1, Shift: 0, Bias: 0}, 1, 0, 2.2738},
	} {
		theta, theta32 := make([]float64, net.Params()), make([]float32, net.Params())
		c.init(theta, rng.Stream(1))
		c.init32(theta32, rng.Stream(1))
		for i, v := range theta32 {
			if v != float32(theta[i]) {
				t.Fatalf("%s: parameter %d depends on the element type", c.name, i)
			}
		}
		for _, p := range net.Tensors() {
			var sum, squares, largest float64
			for _, v := range theta[p.Offset:][:p.Len] {
				sum += v
				squares += v * v
				largest = max(largest, math.Abs(v))
			}
			n := float64(p.Len)
			if want, ok := c.constant[p.Kind]; ok {
				if sum != n*want || squares != n*want {
					t.Errorf("%s: %s is not %v", c.name, p.Name, want)
				}
				continue
			}
			scale := 1 / math.Sqrt(float64(p.FanIn))
			if largest > c.most*scale || largest < c.least*scale*(1-10/n) {
				t.Errorf("%s: %s reaches %g, want almost %g", c.name, p.Name, largest, c.most*scale)
			}
			// Five standard errors, or more for the squares of truncated normals.
			if sd := c.sd * scale; math.Abs(sum/n) > 5*sd/math.Sqrt(n) || math.Abs(squares/n-sd*sd) > 5*sd*sd*math.Sqrt(2/n) {
				t.Errorf("%s: %s has mean %g and mean square %g, want 0 and %g", c.name, p.Name, sum/n, squares/n, sd*sd)
			}
		}
	}
}

// The networks of FRePo have 128, 256 and 512 channels and 8,192 features.
func TestDoubling(t *testing.T) {
	for _, c := range []struct{ h, ch, params int }{{32, 3, 1560842}, {28, 1, 1558538}} {
		net, err := Shape{Kind: "conv", Width: 128, Depth: 3, Doubling: true}.Net(c.h, c.h, c.ch, 10)
		if err != nil {
			t.Fatal(err)
		}
		if net.Params() != c.params || net.Body().Classes() != 4*4*512 {
			t.Errorf("%d parameters, want %d, and %d features", net.Params(), c.params, net.Body().Classes())
		}
	}
}

func TestConfig(t *testing.T) {
	for want, err := range map[string]error{
		"sizes of a convolutional network must be positive":                              second(ConvNet[float32](Shape{Width: 3, Depth: 3}, 32, 0, 3, 2)),
		"images of 6x9 pixels are too small for 3 blocks that halve them; at most 2 fit": second(ConvNet[float32](Shape{Width: 3, Depth: 3}, 6, 9, 3, 2)),
		"sizes of a fully connected network must be positive":                            second(FCNet[float32](0, 1, 1, 2)),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestShapeNet(t *testing.T) {
	conv := func(h, pad int) Shape { return Shape{Kind: "conv", Width: 8, Depth: 3, Norm: true, FirstPad: pad} }
	for _, c := range []struct {
		s      Shape
		h, pad int
		first  string
		last   int // inputs of the linear layer
	}{
		{conv(28, 0), 28, 3, "block1.conv.weight", 4 * 4 * 8},
		{conv(28, 1), 28, 1, "block1.conv.weight", 3 * 3 * 8},
		{conv(32, 0), 32, 1, "block1.conv.weight", 4 * 4 * 8},
		{Shape{Kind: "fc", Width: 8, Depth: 3}, 28, 0, "hidden1.weight", 8},
	} {
		net, err := c.s.Net(c.h, c.h, 1, 5)
		if err != nil {
			t.Fatal(err)
		}
		list := net.Tensors()
		last := list[len(list)-2]
		if c.s.Padding(c.h, c.h) != c.pad || list[0].Name != c.first || last.Shape[0] != c.last || net.Classes() != 5 {
			t.Errorf("%+v on %dx%d: padding %d, %s, ..., %s %v", c.s, c.h, c.h, c.s.Padding(c.h, c.h), list[0].Name, last.Name, last.Shape)
		}
	}
	for name, s := range map[string]Shape{
		"weights": {Kind: "fc", Width: 65536, Depth: 2},
		"values":  {Kind: "conv", Width: 512, Depth: 1, FirstPad: 128},
	} {
		if _, err := s.Net(32, 32, 3, 2); err == nil || !strings.Contains(err.Error(), "is too large") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Shape{Kind: "fc", Width: 65536, Depth: 3}).Features(32, 32, 3); err == nil || !strings.Contains(err.Error(), "is too large") {
		t.Errorf("features: %v", err)
	}
	// The largest networks of experiments are far below the limits.
	if _, err := (Shape{Kind: "conv", Width: 1024, Depth: 3}).Net(64, 64, 3, 10); err != nil {
		t.Error(err)
	}
}

func second[F tensor.Float](_ *Net[F], err error) error { return err }
