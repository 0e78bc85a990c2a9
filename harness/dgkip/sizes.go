package dgkip

import (
	"fmt"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/teacher"
)

// CheckProtocol implements method.ProtocolChecker: bounds are for one lambda, and so
// are solved labels.
func (l Loop) CheckProtocol(p method.Protocol) error {
	if q, ok := p.(interface{ PerImage() float64 }); ok && q.PerImage() != l.Lambda {
		return fmt.Errorf("the method's lambda is %v and that of its scoring %v; labels are made for one of them\nhint: set lambda alike in [method] and [eval.features], or leave both out", l.Lambda, q.PerImage())
	}
	return nil
}

// sizes tells whether data of some sizes suits a run.
func (l Loop) sizes(s method.Sizes, loss convex.Loss) error {
	if err := teacher.CheckLoss(loss, s.Classes); err != nil {
		return err
	}
	if err := teacher.CheckSize(loss, s.Train, teacher.Dim(s.Model, s.H, s.W)); err != nil {
		return err
	}
	if l.Start != "noise" && s.Smallest > 0 && s.Smallest < s.IPC {
		return fmt.Errorf("%d images per class are asked for, but the smallest class has only %d\nhint: lower ipc, or use start = \"noise\"", s.IPC, s.Smallest)
	}
	return s.Model.CheckSizes(s)
}

// estimate tells what a run needs: a forward and a backward pass for each image of
// the set at every update, and before that Theta_O.
func (l Loop) estimate(s method.Sizes, loss convex.Loss) method.Estimate {
	flops := teacher.Flops(s.Model, s.H, s.W, s.C)
	images := float64(s.IPC * s.Classes)
	real := teacher.Estimate(s, loss)
	return method.Estimate{
		Updates: l.Updates,
		Flops:   2 * images * flops,
		Shared:  real.Shared,
		// Features and their gradients, and what the backward pass keeps.
		Bytes: real.Bytes + int64(images)*(8*int64(teacher.Dim(s.Model, s.H, s.W))+16*int64(s.H*s.W*s.C)) + int64(4*images*flops/1000),
	}
}
