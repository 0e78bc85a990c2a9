package optim_test

import (
	"fmt"

	"dgkip/harness/optim"
)

func Example() {
	// Minimise (w-3)^2 by gradient descent with momentum.
	var o optim.Optimizer[float32] = optim.NewSGD[float32](1, optim.SGDConfig{LR: 0.1, Momentum: 0.5})
	w := []float32{0}
	for range 60 {
		o.Step(w, []float32{2 * (w[0] - 3)})
	}
	fmt.Printf("%.4f\n", w[0])
	// Output: 3.0000
}
