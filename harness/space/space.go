package space

import (
	"context"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// Space is what a model is linear in: the features of some networks, or an exact kernel,
// which is known by its inner products. It is one of the real images of a run.
type Space interface {
	// Show shows images, such as a set's. Many that are needed again may be kept.
	Show(ctx context.Context, x []float32, kept *Kept) (Images, error)

	// Learn shows a set that is being learned beside Theta_O, or without one if that is
	// nil. Its views know the real images if reals says so; in a kernel they always do.
	Learn(ctx context.Context, x []float32, theta *Model, reals bool) (Pass, error)

	// Real returns the real images as a convex problem takes them, but for their labels:
	// their features, or functions for their Gram matrix.
	Real(ctx context.Context) (convex.Problem, error)

	// Settings names all that the space depends on but the images.
	Settings() string
}

// Model is a model Theta_O of the real images.
type Model struct {
	Weights tensor.Mat[float64] // of features, [K, M], or in a kernel of the real images, [K, N]
	Norm    float64             // |Theta_O|, Frobenius
}

// Images are images as a space shows them.
type Images interface {
	Gram() tensor.Mat[float64]                                     // of all pairs, [n, n]
	Norms() []float64                                              // k(x, x), [n]
	Cross(set Images) tensor.Mat[float64]                          // with a set, [n, n_S]
	Student(set Images, c tensor.Mat[float64]) tensor.Mat[float64] // outputs of C'A, A that of the set, [n, K]
	// View shows the images as a set beside Theta_O.
	View(ctx context.Context, theta *Model) (convex.View, error)
	// Outputs returns those of Theta_O, [n, K].
	Outputs(ctx context.Context, theta *Model) (tensor.Mat[float64], error)
}

// Pass shows a set that is being learned, and takes gradients back to its pixels.
type Pass interface {
	// View shows the images as they are now, for an update, and takes up gradients if
	// they are wanted. Of the real images it shows those in batch, or all if that is nil.
	View(update int, gradient bool, batch []int) convex.View
	// Whole shows the images for good, beside all real ones and without gradients:
	// labels are made for this view. The last View stays what Back goes back from.
	Whole() convex.View
	// Back sets dx to the gradient in the pixels.
	Back(dx []float32)
}

// Kept says where a space keeps what it computes of many images, under their digest, and
// what they are called meanwhile.
type Kept struct {
	In           *method.Shared
	What, Digest string
}

// kinds are the spaces of models that are not the features of random networks, by their
// kind. A new one is a file of this package that adds itself.
var kinds = map[string]kind{}

type kind struct {
	space func(Source) Space
	flops func(method.Sizes) float64 // of a pass in an update; nil if it is that of the networks
}

// Space returns the space of the model.
func (s Source) Space() Space {
	if k, ok := kinds[s.Model.Kind]; ok {
		return k.space(s)
	}
	return randomFeatures(s)
}

// ShowTest shows a trial's test images in the space of some networks. Only protocols
// share them.
func (s Source) ShowTest(ctx context.Context, t method.Trial) (Images, error) {
	return method.Do(t.Own, s.Key("test features"), func() (Images, error) {
		return s.Space().Show(ctx, t.Test.X, &Kept{In: t.Own, What: "test", Digest: Digest(t.Test)})
	})
}
