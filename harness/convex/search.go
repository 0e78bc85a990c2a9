package convex

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dgkip/harness/fmath"
)

// search tells a solver when to stop, and reports its progress.
type search struct {
	ctx    context.Context
	tol    float64
	limit  int // of steps
	loss   Loss
	images int
	report func(done float64)

	first, done float64 // the gap of the first step, and the fraction of the work done
}

func newSearch(ctx context.Context, p Problem, tol float64) *search {
	return &search{ctx: ctx, tol: tol, limit: maxSteps, loss: p.Labels.Loss, images: p.Labels.Values.Rows, report: p.Report}
}

// over reports whether the search ends with this solution. The error is the reason for a failure.
func (s *search) over(fit Solution) (bool, error) {
	if err := s.ctx.Err(); err != nil {
		return true, err // fit may have been cut short
	}
	switch {
	case fit.Gap <= s.tol:
		return true, nil
	case math.IsNaN(fit.Gap) || math.IsInf(fit.Gap, 0):
		return true, errNotFinite
	case fit.Sweeps >= float64(s.limit):
		return true, s.failed(fit)
	}
	s.reached(fit.Gap)
	return false, nil
}

var errNotFinite = errors.New("convex: the features or the labels contain NaN, infinity or numbers that are too large\nhint: check the images, or lower rate")

// ErrGap is returned by a solver that stopped before it reached the gap it was asked for.
var ErrGap = errors.New("convex: the gap is not reached")

// failed returns the error of a search that stopped at fit.
func (s *search) failed(fit Solution) error {
	return fmt.Errorf("%w: %s loss on %d images: relative gap %.2g after %g steps, wanted %.2g", ErrGap, s.loss, s.images, fit.Gap, fit.Sweeps, s.tol)
}

// reached reports progress from the logarithm of the gap.
func (s *search) reached(gap float64) {
	if s.first == 0 {
		s.first = gap
	}
	if gap > 0 && s.first > s.tol {
		s.done = max(s.done, min(0.99, fmath.Log(s.first/gap)/fmath.Log(s.first/s.tol)))
	}
	s.tick()
}

// tick repeats the last report, to show that the search is alive.
func (s *search) tick() {
	if s.report != nil {
		s.report(s.done)
	}
}
