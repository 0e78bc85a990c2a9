package rng_test

import (
	"fmt"

	"dgkip/harness/rng"
)

func Example() {
	// Each random decision has its own stream, named after the decision.
	weights := rng.Stream(1, "init", "layer 1")
	order := rng.Stream(1, "batches", "epoch 3")
	fmt.Println(order.Perm(6))

	// A checkpoint stores the position.
	state, _ := weights.MarshalBinary()
	a := weights.Normal64()
	var resumed rng.Rand
	if err := resumed.UnmarshalBinary(state); err != nil {
		fmt.Println(err)
	}
	fmt.Println(a, a == resumed.Normal64())
	// Output:
	// [3 1 4 2 0 5]
	// -1.30019524825283 true
}
