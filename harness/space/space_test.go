package space

import (
	"context"
	"errors"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/tensor"
)

func real(kind string) Source {
	return Source{
		Data: methodtest.Data(1), Seed: 3, Shared: new(method.Shared),
		Model: method.Model{Kind: kind, Width: 8, Depth: 2, Nets: 3},
	}
}

// gram returns the inner products of the training images.
func gram(ctx context.Context, s Source) (tensor.Mat[float32], error) {
	p, err := s.Space().Real(ctx)
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	return p.Large(ctx)
}

// The Gram matrix, which takes half a minute at full size, stops with the context.
func TestGramStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r := real("fc")
	r.Phase = func(what string, _ float64) {
		if what == "Gram matrix" {
			cancel()
		}
	}
	if _, err := gram(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	r.Phase = nil
	if k, err := gram(context.Background(), r); err != nil || k.Rows != r.Data.Train.Len() {
		t.Errorf("asked again: %d rows, %v", k.Rows, err)
	}
}

// Scoring in an exact kernel stops with the context, and keeps no part of its inner products.
func TestScoringStops(t *testing.T) {
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for _, kind := range []string{"nngp", "ntk-conv"} {
		r := real(kind)
		set, err := r.Space().Show(t.Context(), r.Data.Train.X[:3*r.Data.Train.Size()], nil)
		if err != nil {
			t.Fatal(err)
		}
		c := tensor.NewMat[float64](3, 1)
		c.Data[0] = 1
		if _, err := set.Student(stopped, set, c); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: outputs: %v", kind, err)
		}
		if _, err := set.Cross(stopped, set); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: inner products: %v", kind, err)
		}
		if _, err := set.Gram(stopped); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Gram matrix: %v", kind, err)
		}
		f, err := set.Student(t.Context(), set, c)
		if err != nil {
			t.Fatal(err)
		}
		if k, err := set.Gram(t.Context()); err != nil || float32(f.Data[1]) != float32(k.Row(0)[1]) {
			t.Errorf("%s: asked again: %v, %v", kind, f.Data, err)
		}
	}
}

// Test features must never be where methods can see them.
func TestOnlyProtocolsShareTestFeatures(t *testing.T) {
	r := real("fc")
	trial := method.Trial{Data: r.Data, Test: r.Data.Train, Model: r.Model, Seed: r.Seed, Shared: r.Shared, Own: new(method.Shared)}
	first, err := OfTrial(trial).ShowTest(context.Background(), trial)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := OfTrial(trial).ShowTest(context.Background(), trial)
	at := func(s Images) *float32 { return &s.(stored).phi.Data[0] }
	if at(first) != at(second) {
		t.Error("computed twice")
	}
	trial.Own = new(method.Shared)
	third, _ := OfTrial(trial).ShowTest(context.Background(), trial)
	if at(first) == at(third) {
		t.Error("test features are stored where methods have access")
	}
}
