package data_test

import (
	"context"
	"fmt"

	"dgkip/harness/data"
)

func Example() {
	ctx := context.Background()
	// A built-in dataset needs no files. For "mnist", Load would search the files, or else
	// download them.
	set, err := data.Load(ctx, "symbols", []int{1, 0}, data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Classes, set.Train.Len(), set.Test.Len(), set.H, set.W, set.Ch)
	fmt.Println("built in:", set.BuiltIn, "identity:", set.Digest[:16])

	// The transform for networks and kernels is fitted to the training images.
	transform, err := data.Fit(ctx, "standard", set)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := transform.Apply(ctx, set.Test.Images)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(x) == set.Test.Len()*set.Dim(), byte(transform.Invert(x)[0]+0.5) == set.Test.Images[0])
	// Output:
	// [ring cross] 800 200 28 28 1
	// built in: true identity: 845bfdc28f96f2fe
	// true true
}
