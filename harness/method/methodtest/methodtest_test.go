package methodtest_test

import (
	"context"
	"encoding/json"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/rng"
)

// shrink is a method that fulfils the contract without method.Descent. It moves random images towards
// zero in noisy steps.
type shrink struct{}

type shrinkState struct {
	Update int
	Images []float32
	Stream []byte
}

func (*shrink) Info() method.Info {
	return method.Info{Name: "shrink", Title: "Shrink", About: "for this test", Version: 1, Protocol: "network"}
}

func (*shrink) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	const updates = 7
	set, err := method.Choose(p, rng.Stream(p.Seed, "shrink"))
	if err != nil {
		return nil, err
	}
	noise := rng.Stream(p.Seed, "shrink", "noise")
	s := shrinkState{Update: -1, Images: set.Images}
	save := func() ([]byte, error) {
		var err error
		if s.Stream, err = noise.MarshalBinary(); err != nil {
			return nil, err
		}
		return json.Marshal(s)
	}
	if p.Resume != nil {
		if err := json.Unmarshal(p.Resume, &s); err != nil {
			return nil, err
		}
		if err := noise.UnmarshalBinary(s.Stream); err != nil {
			return nil, err
		}
		set.Images = s.Images
	}
	for s.Update < updates {
		if ctx.Err() != nil {
			b, err := save()
			if err != nil {
				return nil, err
			}
			return nil, &method.Interrupted{Checkpoint: b, Cause: context.Cause(ctx)}
		}
		s.Update++
		if s.Update > 0 {
			for i := range s.Images {
				s.Images[i] += float32(0.1*noise.Normal64()) - s.Images[i]/4
			}
		}
		observe(method.Step{
			Update: s.Update, Of: updates, Loss: 1, HasLoss: true, Distilled: set.Clone, Checkpoint: save,
			Metrics: func() map[string]float64 { return map[string]float64{"first_value": float64(s.Images[0])} },
		})
	}
	return set, nil
}

func TestRun(t *testing.T) {
	methodtest.Run(t, func() method.Method { return new(shrink) }, methodtest.Options{})
}
