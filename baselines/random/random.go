// Package random is a control: random training images with their own labels. A useful method must be
// better.
package random

import (
	"context"

	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// Random is the method. It has no settings.
type Random struct{}

func init() { method.Register(func() method.Method { return new(Random) }) }

// Info implements method.Method.
func (*Random) Info() method.Info {
	return method.Info{
		Name: "random", Title: "Random", Version: 1, Protocol: "network",
		About: "control: random training images with their labels",
	}
}

// Distill implements method.Method.
func (*Random) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	if err := ctx.Err(); err != nil {
		return nil, method.Stopped(ctx, p, err)
	}
	d, err := method.Choose(p, rng.Stream(p.Seed, "random"))
	if err != nil {
		return nil, err
	}
	observe(method.Step{Distilled: d.Clone})
	return d, nil
}
