package nn_test

import (
	"context"
	"fmt"
	"math"

	"dgkip/harness/nn"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

func Example() {
	// Learn exclusive or.
	net, err := nn.FCNet[float64](2, 8, 1, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	theta := make([]float64, net.Params())
	net.InitUniform(theta, rng.Stream(1, "init"))
	x := []float64{0, 0, 0, 1, 1, 0, 1, 1}
	targets := []float64{1, 0, 0, 1, 0, 1, 1, 0}
	data := nn.Data[float64]{N: 4, X: x, Targets: targets}
	recipe := nn.Recipe{Epochs: 100, Batch: 4, Rate: 0.3, Momentum: 0.9, Drops: []float64{0.5}}
	training := nn.NewTraining(net, theta, data, recipe, rng.Stream(1, "batches"))
	if err := training.Run(context.Background(), nil); err != nil {
		fmt.Println(err)
		return
	}
	pass := net.NewPass()
	wrong, err := pass.Errors(context.Background(), theta, x, []int{0, 1, 1, 0})
	fmt.Println("errors:", wrong, err)

	// One tangent gives the gradient of <grad_theta L, v> in all pixels.
	v := make([]float64, len(theta))
	for i := range v {
		v[i] = 1
	}
	mixed := make([]float64, len(x))
	pass.Loss(theta, x, targets, 4)
	pass.Tangent(nn.Grad[float64]{Theta: v}, nn.Grad[float64]{X: mixed})

	// A difference quotient gives the gradient in one pixel.
	along := func(pixel float64) float64 {
		x := append([]float64{pixel}, x[1:]...)
		g := make([]float64, len(theta))
		pass.Loss(theta, x, targets, 4)
		pass.Gradient(nn.Grad[float64]{Theta: g})
		return tensor.Dot(g, v)
	}
	const h = 1e-5
	difference := (along(x[0]+h) - along(x[0]-h)) / (2 * h)
	fmt.Println("equal:", math.Abs(difference-mixed[0]) < 1e-8)
	// Output:
	// errors: 0 <nil>
	// equal: true
}
