package space

import (
	"context"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// Space is the space in which the models of a run are linear: the features of some networks, or
// an exact kernel, of which only inner products are known.
type Space interface {
	// Show maps images, such as a set. If kept is not nil, the features may be stored there.
	Show(ctx context.Context, x []float32, kept *Kept) (Images, error)

	// Learn maps a set that is being learned. theta may be nil. Views include the real images
	// if reals is set or the space is a kernel.
	Learn(ctx context.Context, x []float32, theta *Model, reals bool) (Pass, error)

	// Real returns a problem with the features or the Gram matrix of the real images, but
	// without labels.
	Real(ctx context.Context) (convex.Problem, error)

	// Settings names everything that the space depends on except the data: see Source.Key.
	Settings() string
}

// Model is a model Theta_O of the real images.
type Model struct {
	Weights tensor.Mat[float64] // of features, [K, M], or of the real images in a kernel, [K, N]
	Norm    float64             // |Theta_O|, Frobenius
}

// Images are images in a space.
type Images interface {
	Gram(context.Context) (tensor.Mat[float64], error) // inner products of all pairs, [n, n]
	Norms(context.Context) ([]float64, error)          // k(x, x), [n]
	// Cross returns the inner products with a set, [n, n_S].
	Cross(ctx context.Context, set Images) (tensor.Mat[float64], error)
	// Student returns the outputs of C'A, where A are the set's features, [n, K].
	Student(ctx context.Context, set Images, c tensor.Mat[float64]) (tensor.Mat[float64], error)
	// View returns the images and Theta_O as a view.
	View(ctx context.Context, theta *Model) (convex.View, error)
	// Outputs returns the outputs of Theta_O, [n, K].
	Outputs(ctx context.Context, theta *Model) (tensor.Mat[float64], error)
}

// Pass maps a set that is being learned, and takes gradients back to its pixels.
type Pass interface {
	// View maps the current pixels for an update, and prepares for Back if gradient is set.
	// The view includes the real images in batch, or all of them if batch is nil.
	View(update int, gradient bool, batch []int) convex.View
	// Whole returns the final view, with all real images and without gradients, from which
	// labels are solved. Back still refers to the last View.
	Whole() convex.View
	// Back sets dx to the gradient in the pixels.
	Back(dx []float32)
}

// Kept names the place for the features of many images.
type Kept struct {
	In     *method.Shared
	What   string        // names the images in progress reports
	Digest func() string // names the images in keys on disk
}

// kinds are the spaces other than features of random networks, by the kind of the model. Files
// of this package register them.
var kinds = map[string]func(Source) Space{}

// Space returns the space of the source's model.
func (s Source) Space() Space {
	if space, ok := kinds[s.Model.Kind]; ok {
		return space(s)
	}
	return randomFeatures(s)
}

// ShowTest maps a trial's test images into the space. Only protocols have access to the stored
// result.
func (s Source) ShowTest(ctx context.Context, t method.Trial) (Images, error) {
	return method.Do(t.Own, s.Key("test features"), func() (Images, error) {
		return s.Space().Show(ctx, t.Test.X, &Kept{In: t.Own, What: "test", Digest: func() string { return digest(t.Test) }})
	})
}
