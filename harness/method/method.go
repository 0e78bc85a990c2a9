// Package method is the contract between an experiment and what it compares:
// methods, which distil a dataset, and protocols, which score what they made.
//
// A method sees training images only. It hands every state of its distilled set
// to an observer, and the experiment decides which of them to score on the test
// images and when to save a checkpoint: nothing a method does can depend on test
// data or on the clock. What counts is the set that Distill returns.
//
// Most methods go by updates. They state what an update changes and along which
// gradient, and leave the rest to Descent: the loop and its end, observations,
// checks, rates and checkpoints.
//
// Guarantee asked of every method: its result is a function of the problem's
// bits. It depends neither on GOMAXPROCS nor on whether, and how often, the run
// was interrupted and continued. Package methodtest checks it.
package method

import (
	"context"
	"errors"
	"fmt"
)

// Info describes a method to readers of tables and to the store.
type Info struct {
	Name       string   // as experiments write it: lower case, digits and hyphens
	Title      string   // as tables print it
	About      string   // one line
	Version    int      // part of a run's identity; raised when results change
	Citation   string   // where the method comes from
	Deviations []string // how this implementation differs from the original
	Protocol   string   // the protocol that scores it unless the experiment says otherwise

	// IgnoresIPC says that the number of images a class makes no difference, so
	// that all cells of a row may share one run.
	IgnoresIPC bool

	// SoftLabels says that networks trained on its sets see labels that are no class
	// numbers, but learned or solved: such scores are of another Family.
	SoftLabels bool
}

// Method distils a dataset. Its settings are the fields of the struct that implements
// it that have a `toml` tag; see Register.
type Method interface {
	Info() Info

	// Distill learns a set for the problem. It calls observe with the initial
	// set, Update 0, and again after every update (or after every few). It checks
	// ctx once per update; when ctx has ended it returns an *Interrupted that
	// holds a checkpoint. Given back as Problem.Resume, it continues to the same
	// bits, and calls observe next with the first update after those it had.
	//
	// Distill must not change its receiver or the training images. A panic is
	// recorded as the run's failure, but one in a goroutine of its own would end the
	// program: tensor.Parallel hands those of its tasks on.
	Distill(ctx context.Context, p Problem, observe func(Step)) (*Distilled, error)
}

// Problem is what a method is asked to distil.
type Problem struct {
	Data   *Data  // training images and their preprocessing; there are no test images
	IPC    int    // images per class to make
	Model  Model  // the networks in use
	Seed   uint64 // root of all random streams of the run; see package rng
	Shared *Shared
	Resume []byte // a checkpoint of the same run, or nil to start

	// Begin, if given, says that what had to be done between two updates is over:
	// the time of an update counts from there, or else from the observation before
	// it. A method that trains a network in between calls it.
	Begin func()

	// Phase, if given, is told what long preparations are doing, and how much of
	// it is done. It is for people to watch and must not change results.
	Phase func(what string, done float64)
}

// Step is what a method lets an observer see after an update. The functions may
// be called only until the observer returns.
type Step struct {
	Update  int     // updates of the distilled set so far
	Of      int     // updates the run will make at most; 0 if unknown
	Loss    float64 // the method's own objective, if HasLoss says that it has one
	HasLoss bool

	// Iteration is how many updates make an iteration as the method's authors count
	// them; 0 stands for 1.
	Iteration int

	// Metrics returns further scalars by name, for the trace. It may be nil, is
	// called only when a trace line is due, and so may cost something.
	Metrics func() map[string]float64

	// Distilled returns the set as it stands, nil where it has no labels yet. The caller
	// keeps it.
	Distilled func() *Distilled

	// Checkpoint returns the state from which the run continues with the update
	// that follows this one. It may be nil where a step is too small to matter.
	Checkpoint func() ([]byte, error)
}

// Interrupted is the error of a run that stopped because its context ended.
type Interrupted struct {
	Checkpoint []byte // opaque; nil to start again from the beginning
	Cause      error
}

func (e *Interrupted) Error() string { return fmt.Sprintf("interrupted: %v", e.Cause) }

// Unwrap returns the cause.
func (e *Interrupted) Unwrap() error { return e.Cause }

// Sizes is what is known of a run before its data is loaded.
type Sizes struct {
	Train, Test, Classes int // images, images, classes
	H, W, C              int // of an image
	Smallest             int // training images of the class that has fewest; 0 if unknown
	IPC                  int
	Model                Model

	Method   Method   // what makes the set
	Protocol Protocol // and what scores it; either may be nil if unknown
}

// SizesChecker is implemented by methods and protocols that know, before a run,
// that it cannot be made with such data, or with each other. Its answer stands in
// place of CheckSizes.
type SizesChecker interface{ CheckSizes(Sizes) error }

// CheckSizes returns why no run of the method, scored by the protocol, can be made
// with such data, if so. Unless they know better, a method is held to need as many
// images of every class as it makes, for that is what Choose needs, and a protocol
// to train the networks that the model describes.
func CheckSizes(m Method, p Protocol, s Sizes) error {
	s.Method, s.Protocol = m, p
	var errs []error
	if c, ok := m.(SizesChecker); ok {
		errs = append(errs, c.CheckSizes(s))
	} else if !m.Info().IgnoresIPC {
		errs = append(errs, CheckImages(m.Info().Name, s))
	}
	if m.Info().IgnoresIPC {
		s.IPC = 0
	}
	if c, ok := p.(SizesChecker); ok {
		errs = append(errs, c.CheckSizes(s))
	} else {
		errs = append(errs, s.Model.CheckNetwork(s))
	}
	return errors.Join(errs...)
}

// CheckLambda refuses a protocol that scores by a convex model with another
// regularisation for each image than the one that a method makes labels for.
func CheckLambda(lambda float64, s Sizes) error {
	if s.Protocol == nil {
		return nil
	}
	if p := s.Protocol.Info(); p.Lambda != 0 && p.Lambda != lambda {
		return fmt.Errorf("the method's lambda is %v and that of its scoring %v; labels are made for one of them\nhint: set lambda alike in [method] and [eval.%s], or leave both out", lambda, p.Lambda, p.Name)
	}
	return nil
}

// Counter is implemented by methods that know about how many floating-point operations an
// update takes.
type Counter interface{ Flops(Sizes) float64 }
