package data_test

import (
	"context"
	"errors"
	"fmt"
	"os"

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

func ExampleLoad_missing() {
	defer os.Setenv("DGKIP_DATA", os.Getenv("DGKIP_DATA"))
	os.Unsetenv("DGKIP_DATA")
	_, err := data.Load(context.Background(), "cifar-10", []int{0, 1}, data.Options{
		Dir: "nowhere", CacheDir: "neither", Offline: true,
	})
	fmt.Println(errors.Is(err, data.ErrMissing))
	fmt.Println(err)
	// Output:
	// true
	// cifar-10: files not found: searched nowhere (-data: no such folder), neither (cache: no such folder), and in each cifar-10, cifar-10/cifar-10-batches-bin, cifar-10-batches-bin; downloading is switched off
	// hint: download cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz/ or https://cave.cs.toronto.edu/kriz/ or https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/notebook/datasets/ into DIR/cifar-10, and pass -data DIR or set DGKIP_DATA=DIR
	// hint: or use "colour-symbols", a built-in dataset of the same kind with other results
}
