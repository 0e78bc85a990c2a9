// Package whole is a control: the whole training set instead of a distilled one. Its score is the
// reference for distilled sets.
package whole

import (
	"context"

	"dgkip/harness/method"
)

// Whole is the method. It has no settings.
type Whole struct{}

func init() { method.Register(func() method.Method { return new(Whole) }) }

// Info implements method.Method.
func (*Whole) Info() method.Info {
	return method.Info{
		Name: "whole", Title: "Whole set", Version: 1, Protocol: "network", IgnoresIPC: true,
		About: "control: the whole training set",
	}
}

// Distill implements method.Method.
func (*Whole) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	if err := ctx.Err(); err != nil {
		return nil, method.Stopped(ctx, p, err)
	}
	d := method.Blank(p)
	d.Whole = true
	observe(method.Step{Distilled: d.Clone})
	return d, nil
}
