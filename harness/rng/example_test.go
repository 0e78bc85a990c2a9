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
	a := weights.Normal32()
	var resumed rng.Rand
	if err := resumed.UnmarshalBinary(state); err != nil {
		fmt.Println(err)
	}
	fmt.Println(a, a == resumed.Normal32())
	// Output:
	// [3 1 4 2 0 5]
	// -1.3001952 true
}
