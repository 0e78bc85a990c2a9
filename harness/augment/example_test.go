package augment_test

import (
	"fmt"

	"dgkip/harness/augment"
	"dgkip/harness/rng"
)

func Example() {
	s, err := augment.New("dsa", true)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)

	// The same change for real and synthetic images, and the gradient of the latter.
	d := s.Draw(rng.Stream(1, "augment"), 4, 4)
	images, synthetic := make([]float64, 3*4*4), make([]float64, 2*4*4)
	for i := range synthetic {
		synthetic[i] = float64(i % 5)
	}
	r, y := make([]float64, len(images)), make([]float64, len(synthetic))
	augment.Apply(d, r, images, 3, 4, 4, 1)
	augment.Apply(d, y, synthetic, 2, 4, 4, 1)

	gradient := make([]float64, len(y))
	augment.Adjoint(d, gradient, y, 2, 4, 4, 1) // gradient of <y, y>/2, for linear changes
	fmt.Println(len(r), len(gradient))
	// Output:
	// color_crop_cutout_scale_rotate
	// 48 32
}
