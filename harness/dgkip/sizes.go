package dgkip

import (
	"fmt"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
)

// sizes returns why a run cannot be made with such data, or scored by such a protocol,
// if so.
func (l Loop) sizes(s method.Sizes, loss convex.Loss) error {
	if err := method.CheckLambda(l.Lambda, s); err != nil {
		return err
	}
	if err := teacher.CheckLoss(loss, s.Classes); err != nil {
		return err
	}
	if l.Draws > 0 && s.Model.Exact() {
		return fmt.Errorf("draws = %d: an exact kernel is not drawn\nhint: leave draws out, or use other networks than %q", l.Draws, s.Model.Kind)
	}
	if err := s.Model.CheckFeatures(s); err != nil {
		return err
	}
	if err := convex.CheckSize(loss, s.Train, teacher.Dim(s.Model, s.H, s.W)); err != nil {
		return err
	}
	if l.Start != "noise" && s.Smallest > 0 && s.Smallest < s.IPC {
		return fmt.Errorf("%d images per class are asked for, but the smallest class has only %d\nhint: lower ipc, or use start = \"noise\"", s.IPC, s.Smallest)
	}
	return nil
}

// estimate is what a run needs: a pass for each image of the set at every update, and
// before that Theta_O.
func (l Loop) estimate(s method.Sizes, loss convex.Loss) method.Estimate {
	theta, e := teacher.Estimate(s, loss), teacher.PassEstimate(s)
	draws := max(1, l.Draws)
	e.Updates, e.Shared = l.Updates, float64(draws)*theta.Shared
	e.Bytes = int64(draws)*(e.Bytes+teacher.MapBytes(s, true)) + theta.Bytes + teacher.ImageBytes(s)
	return e
}
