package teacher

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/space"
)

// LearnInDraws is Learn of a space for several draws of its networks other than the run's
// own, each with its own Theta_O: see space.Draws. It returns |Theta_O| of them all, too.
// Unless reals asks for the real images, a Theta_O is all that is kept of them.
func LearnInDraws(ctx context.Context, s space.Source, p Problem, draws int, images []float32, reals bool) (space.Pass, float64, error) {
	var passes []space.Pass
	sum := 0.0
	for i := range draws {
		one := s
		one.Draw = []string{"drawn features", s.Data.Name, strconv.Itoa(i)}
		// Theta_O and the networks are shared. What else it takes to solve for it is let go,
		// and features that the pass asks for are its own.
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
