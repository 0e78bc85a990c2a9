package eval

import (
	"context"
	"fmt"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/nn"
	"dgkip/harness/rng"
)

// networks are networks that are trained on a set one after another, and then tested.
type networks struct {
	protocol string
	trial    method.Trial
	net      *nn.Net[float32]
	count    int // of networks
	steps    int // of training of a network
	observe  func(method.Step)
}

// training is the training of a network.
type training interface {
	method.Part
	// run takes the remaining steps. It calls more after every step, counted from 1, and stops if
	// that returns false. It returns the context's error if ctx is done.
	run(ctx context.Context, more func(step int, loss float64) bool) error
}

// begin returns a training before its first step, and the weights that it changes. Random numbers
// come from streams of the network.
type begin func(stream func(purpose ...string) *rng.Rand) (training, []float32)

// state is a scoring in progress: test errors of finished networks, and the training of the next.
type state struct {
	Errors   []int64
	Training []byte
}

// score returns the scores of all networks.
func (n networks) score(ctx context.Context, start begin) (*method.Scores, error) {
	var s state
	if err := resume(n.trial, &s); err != nil {
		return nil, err
	}
	for len(s.Errors) < n.count {
		wrong, err := n.next(ctx, start, s)
		if err != nil {
			return nil, err
		}
		s = state{Errors: append(s.Errors, int64(wrong))}
	}
	return scores(s.Errors, n.trial), nil
}

// next trains the next network, or continues with the one in s, and returns its test errors. If it
// is interrupted while it counts errors, the checkpoint contains the finished training.
func (n networks) next(ctx context.Context, start begin, s state) (wrong int, err error) {
	number := len(s.Errors)
	one, theta := start(func(purpose ...string) *rng.Rand {
		return rng.Stream(n.trial.Seed, append([]string{"eval", n.protocol, strconv.Itoa(number)}, purpose...)...)
	})
	if s.Training != nil {
		if err := one.UnmarshalBinary(s.Training); err != nil {
			return 0, fmt.Errorf("%w of a scoring: %w", method.ErrCheckpoint, err)
		}
	}
	checkpoint := func() ([]byte, error) {
		b, err := one.MarshalBinary()
		if err != nil {
			return nil, err
		}
		return method.Encode(state{s.Errors, b})
	}
	var diverged error
	err = one.run(ctx, func(step int, loss float64) bool {
		if loss-loss != 0 {
			diverged = fmt.Errorf("the training diverged: the loss of network %d of %d is %v at step %d of %d", number+1, n.count, loss, step, n.steps)
			return false
		}
		n.observe(method.Step{Update: number*n.steps + step, Of: n.count * n.steps, Loss: loss, HasLoss: true, Checkpoint: checkpoint})
		return true
	})
	if err == nil {
		if diverged == nil {
			diverged = nn.Finite(theta)
		}
		if diverged != nil {
			return 0, fmt.Errorf("%s: %w\nhint: lower rate in [eval.%[1]s], or check the pixels of the set, which may be too large", n.protocol, diverged)
		}
		wrong, err = n.net.NewPass().Errors(ctx, theta, n.trial.Test.X, n.trial.Test.Labels)
	}
	return wrong, interrupted(ctx, err, checkpoint)
}

// resume reads the state of an interrupted scoring, if there is one.
func resume(t method.Trial, state any) error {
	if t.Resume == nil {
		return nil
	}
	if err := method.Decode(t.Resume, state); err != nil {
		return fmt.Errorf("%w of a scoring: %w", method.ErrCheckpoint, err)
	}
	return nil
}

// interrupted returns err, or method.Interrupted if ctx is done.
func interrupted(ctx context.Context, err error, checkpoint func() ([]byte, error)) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	b, saving := checkpoint()
	if saving != nil {
		return saving
	}
	return &method.Interrupted{Checkpoint: b, Cause: context.Cause(ctx)}
}

// scores returns the scores of repetitions with these numbers of test errors.
func scores(wrong []int64, t method.Trial) *method.Scores {
	var total int64
	for _, e := range wrong {
		total += e
	}
	tests := int64(t.Test.Len())
	tried := tests * int64(len(wrong))
	return &method.Scores{
		Metrics: map[string]float64{"test_acc": float64(tried-total) / float64(tried)},
		Counts:  map[string][]int64{"test_errors": wrong, "test_images": {tests}},
	}
}
