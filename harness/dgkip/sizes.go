package dgkip

import (
	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/space"
	"dgkip/harness/teacher"
)

// sizes returns an error if the method cannot run on data of such sizes.
func (l Loop) sizes(name string, s method.Sizes, loss convex.Loss) error {
	if err := method.CheckLambda(l.Lambda, s); err != nil {
		return err
	}
	if err := teacher.CheckLoss(loss, s.Classes); err != nil {
		return err
	}
	if l.Draws > 0 {
		if err := s.Model.CheckDrawn("draws", l.Draws); err != nil {
			return err
		}
	}
	if err := s.Model.CheckFeatures(s); err != nil {
		return err
	}
	if err := convex.CheckSize(loss, s.Train, space.Dim(s.Model, s.H, s.W)); err != nil {
		return err
	}
	return method.CheckStart(name, l.Start, s)
}
