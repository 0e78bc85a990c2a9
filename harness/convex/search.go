package convex

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"dgkip/harness/fmath"
)

// search tells a solver when to stop, reports its progress, and keeps its state.
type search struct {
	ctx    context.Context
	tol    float64
	limit  int // of steps
	loss   Loss
	images int
	report func(done float64)
	keeper Keeper

	first, done float64 // the gap of the first step, and the fraction of the work done

	solver string
	state  []any // of the solver, in types that encoding/binary reads and writes
}

// Keeper stores the state of a search under the name of its solver.
type Keeper interface {
	// Keep may store the size bytes that write produces, replacing an earlier state.
	Keep(solver string, size int64, write func(io.Writer) error)
	// Load passes the stored state to read. It reports whether a state was found and read
	// accepted it.
	Load(solver string, read func(io.Reader) error) bool
}

func newSearch(ctx context.Context, p Problem, tol float64) *search {
	return &search{ctx: ctx, tol: tol, limit: maxSteps, loss: p.Labels.Loss, images: p.Labels.Values.Rows, report: p.Report, keeper: p.Keeper}
}

// resume registers the state of a solver at the start of a step, given as slices and pointers
// to numbers. It restores a stored state if there is one, and reports whether it did.
func (s *search) resume(solver string, state ...any) bool {
	if s.keeper == nil {
		return false
	}
	s.solver, s.state = solver, append(state, &s.first, &s.done)
	return s.keeper.Load(solver, func(from io.Reader) error {
		kept := make([]byte, s.size()+1)
		n, err := io.ReadFull(from, kept)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		if n != s.size() {
			return fmt.Errorf("convex: the stored state of the search is not %d bytes long", s.size())
		}
		r := bytes.NewReader(kept)
		for _, part := range s.state {
			if err := binary.Read(r, binary.LittleEndian, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// keep offers the state to the keeper.
func (s *search) keep() {
	if s.state == nil || s.ctx.Err() != nil { // a done ctx may have cut the last step short
		return
	}
	s.keeper.Keep(s.solver, int64(s.size()), func(to io.Writer) error {
		for _, part := range s.state {
			if err := binary.Write(to, binary.LittleEndian, part); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *search) size() int {
	sum := 0
	for _, part := range s.state {
		sum += binary.Size(part)
	}
	return sum
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
