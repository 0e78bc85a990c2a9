// Package herding chooses real images whose mean in feature space is close to the mean of their class.
//
// Let phi be the features and mu the class mean. Image k of a class is the remaining image that brings
// the mean of the first k images nearest to mu:
//
//	x_k = argmin_x |mu - (phi(x_1) + ... + phi(x_k-1) + phi(x))/k|
//	    = argmin_x |phi(x)|^2 - 2 <w, phi(x)>,   w = k mu - phi(x_1) - ... - phi(x_k-1),
//
// A smaller choice is therefore always the beginning of a larger one. Features are the run's fixed
// random features; the seed only matters through them. In a tie, the earlier image is chosen.
package herding

import (
	"context"
	"errors"
	"math"

	"dgkip/harness/method"
	"dgkip/harness/space"
	"dgkip/harness/tensor"
)

// Herding is the method. It has no settings.
type Herding struct{}

func init() { method.Register(func() method.Method { return new(Herding) }) }

// Info implements method.Method.
func (*Herding) Info() method.Info {
	return method.Info{
		Name: "herding", Title: "Herding", Version: 1, Protocol: "network",
		About: "chooses real images, one by one, whose mean feature is near the mean of their class",
		Citation: "M. Welling: Herding Dynamical Weights to Learn. ICML 2009; " +
			"in the form of S.-A. Rebuffi, A. Kolesnikov, G. Sperl, C. H. Lampert: iCaRL. CVPR 2017",
		Deviations: []string{
			"features are those of the experiment's random networks instead of a trained network",
			"features are not scaled to unit length",
		},
	}
}

// CheckSizes implements method.SizesChecker.
func (*Herding) CheckSizes(s method.Sizes) error {
	return errors.Join(method.CheckImages("herding", s), s.Model.CheckStored(s))
}

// Distill implements method.Method. Its loss is the distance between the mean of the chosen images and
// the mean of the class, averaged over classes.
func (*Herding) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	d, loss, err := herd(ctx, p)
	if err != nil {
		return nil, method.Stopped(ctx, p, err)
	}
	observe(method.Step{Loss: loss, HasLoss: true, Distilled: d.Clone})
	return d, nil
}

func herd(ctx context.Context, p method.Problem) (*method.Distilled, float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	train := p.Data.Train
	classes, err := method.Members(p)
	if err != nil {
		return nil, 0, err
	}
	real, err := space.Of(p).Space().Real(ctx)
	if err != nil {
		return nil, 0, err
	}
	d := method.Blank(p)
	loss := 0.0
	for class, members := range classes {
		chosen, distance, err := choose(ctx, real.Features, members, p.IPC)
		if err != nil {
			return nil, 0, err
		}
		loss += distance / float64(len(classes))
		for _, i := range chosen {
			d.Images = append(d.Images, train.At(i)...)
			d.Of = append(d.Of, class)
		}
	}
	d.Labels = method.OneHot(d.Of, len(d.Classes))
	return d, loss, nil
}

// choose returns count of the members, which are row numbers of phi, in the order of choice. It also
// returns the distance of their mean from the mean of all members.
func choose(ctx context.Context, phi tensor.Mat[float32], members []int, count int) ([]int, float64, error) {
	row := func(i int) tensor.Mat[float32] { return tensor.MatOf(phi.Row(members[i]), 1, phi.Cols) }
	mu, norm2 := make([]float64, phi.Cols), make([]float64, len(members))
	for i := range members {
		tensor.AddRows64(mu, row(i), []float64{1 / float64(len(members))})
	}
	tensor.Parallel(len(members), func(i int) {
		for _, v := range phi.Row(members[i]) {
			norm2[i] += float64(float64(v) * float64(v))
		}
	})
	w := make([]float64, phi.Cols)
	inner, taken := make([]float64, len(members)), make([]bool, len(members))
	var chosen []int
	for range count {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		for j, v := range mu {
			w[j] += v
		}
		tensor.Parallel(len(members), func(i int) { tensor.MulVec64(inner[i:i+1], row(i), w) })
		best := -1
		for i := range members {
			if !taken[i] && (best < 0 || norm2[i]-2*inner[i] < norm2[best]-2*inner[best]) {
				best = i
			}
		}
		taken[best] = true
		chosen = append(chosen, members[best])
		tensor.AddRows64(w, row(best), []float64{-1})
	}
	left := 0.0
	for _, v := range w { // count times the difference of the means
		left += float64(v * v)
	}
	return chosen, math.Sqrt(left) / float64(count), nil
}
