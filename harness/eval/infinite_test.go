package eval

import (
	"math"
	"strings"
	"testing"

	"dgkip/harness/method"
)

func inInfinite() *Infinite { return method.NewProtocol("infinite").(*Infinite) }

func TestInfiniteScores(t *testing.T) {
	trial := featureTrial(t)
	for _, kind := range []string{"fc", "conv", "nngp", "nngp-conv"} {
		for _, kernel := range []string{"nngp", "ntk"} {
			trial.Model.Kind = kind
			f := inInfinite()
			f.Kernel = kernel
			s := scored(t, f, trial)
			if s.Metrics["test_acc"] < 0.8 || s.Metrics["solve_gap"] > 1e-10 || len(s.Counts["test_errors"]) != 1 || len(s.Notes) != 1 {
				t.Errorf("%s of %s: %+v", kernel, kind, s)
			}
		}
	}
}

// If the run itself uses the exact kernel, the protocols infinite and features agree.
func TestInfiniteEqualsExactKernel(t *testing.T) {
	trial := featureTrial(t)
	for _, trial.Model.Kind = range []string{"nngp", "nngp-conv", "ntk", "ntk-conv"} {
		f := inInfinite()
		f.Kernel, _, _ = strings.Cut(trial.Model.Kind, "-")
		infinite, own := scored(t, f, trial), scored(t, inFeatures(), trial)
		if infinite.Counts["test_errors"][0] != own.Counts["test_errors"][0] {
			t.Errorf("%s: %d errors, but %d in the protocol features", trial.Model.Kind, infinite.Counts["test_errors"], own.Counts["test_errors"])
		}
	}
}

// Wide new networks score like infinite ones.
func TestFreshConvergesToInfinite(t *testing.T) {
	trial := featureTrial(t)
	want := scored(t, inInfinite(), trial).Metrics["test_acc"]
	f := inFresh()
	f.Width, f.Nets = 1024, 8
	if got := scored(t, f, trial).Metrics["test_acc"]; math.Abs(got-want) > 0.05 {
		t.Errorf("accuracy %v in new networks, %v in infinite ones", got, want)
	}
}

func TestInfiniteNeedsANetwork(t *testing.T) {
	sizes := method.Sizes{IPC: 1, H: 4, W: 4, C: 1, Classes: 2, Model: method.Model{Kind: "conv", Width: 8, Depth: 3, Nets: 1}}
	if inInfinite().CheckSizes(sizes) == nil {
		t.Error("three averages of four pixels were accepted")
	}
	sizes.Model.Depth = 2
	if err := inInfinite().CheckSizes(sizes); err != nil {
		t.Error(err)
	}
	if sizes.IPC = 0; inInfinite().CheckSizes(sizes) == nil {
		t.Error("the whole training set was accepted")
	}
}
