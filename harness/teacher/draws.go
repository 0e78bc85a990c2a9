package teacher

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/space"
)

// LearnInDraws returns a pass through several draws of the networks, none of which is the run's
// own draw: see space.Draws. Every draw has its own Theta_O; the second result is the root mean
// square of their norms. With reals, features of the real images are kept for the views.
func LearnInDraws(ctx context.Context, s space.Source, p Problem, draws int, images []float32, reals bool) (space.Pass, float64, error) {
	var passes []space.Pass
	sum := 0.0
	for i := range draws {
		one := s
		one.Draw = []string{"drawn features", s.Data.Name, strconv.Itoa(i)}
		// Only Theta_O and the networks are shared. With reals the pass keeps the features; all else
		// in alone is released.
		alone := one.Alone()
		theta, err := method.Do(s.Shared, one.Key(fmt.Sprintf("pool theta %+v", p)), func() (*Theta, error) { return p.Theta(ctx, alone) })
		if err != nil {
			return nil, 0, err
		}
		pass, err := alone.Space().Learn(ctx, images, &theta.Model, reals)
		if err != nil {
			return nil, 0, err
		}
		passes = append(passes, pass)
		sum += float64(theta.Norm * theta.Norm)
	}
	norm := math.Sqrt(sum / float64(draws))
	return &space.Draws{Passes: passes, Norm: norm, Reals: reals}, norm, nil
}
