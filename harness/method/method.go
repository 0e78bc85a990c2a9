// Package method is the contract between an experiment and what it compares: methods, which distil
// a dataset, and protocols, which score the distilled sets.
//
// A method sees only training images. It passes every state of its distilled set to an observer.
// The experiment decides which states to score on the test images and when to save a checkpoint.
// A method can therefore not depend on test data or on the clock. The result is the set that
// Distill returns.
//
// Most methods work in updates. They state what an update changes and along which gradient.
// Descent does the rest: the loop and its end, observations, checks, rates and checkpoints.
//
// Every method must guarantee that its result is a function of the problem's bits. The result must
// not depend on GOMAXPROCS, or on interruptions and their number. Package methodtest checks this.
package method

import (
	"context"
	"fmt"
)

// Info describes a method, for readers of tables and for the store.
type Info struct {
	Name       string   // as experiments write it: lower case, digits and hyphens
	Title      string   // as tables print it
	About      string   // one line
	Version    int      // part of a run's identity; raised when results change
	Citation   string   // where the method comes from
	Deviations []string // how this implementation differs from the original
	Protocol   string   // the default protocol for its sets

	// IgnoresIPC reports that the number of images per class has no effect, so that all
	// cells of a row may share one run.
	IgnoresIPC bool

	// SoftLabels reports that the sets train networks with learned or solved labels
	// instead of class numbers. Their scores belong to another Family.
	SoftLabels bool
}

// Method distils a dataset. Its settings are the fields with a `toml` tag of the struct that
// implements it; see Register.
type Method interface {
	Info() Info

	// Distill learns a set for the problem. It calls observe with the initial set,
	// Update 0, and again after every update (or every few). It checks ctx once per
	// update. When ctx is done it returns an *Interrupted with a checkpoint. Passed
	// back as Problem.Resume, the checkpoint continues the run with the same bits;
	// observe is then called for the first update that it has not seen.
	//
	// Distill must not change its receiver or the training images. A panic is recorded
	// as the run's failure. A panic in a goroutine would end the program, so use
	// tensor.Parallel, which raises panics of its tasks in the caller.
	Distill(ctx context.Context, p Problem, observe func(Step)) (*Distilled, error)
}

// Problem is the input of a method.
type Problem struct {
	Data   *Data  // training images and their preprocessing; there are no test images
	IPC    int    // images per class of the distilled set
	Model  Model  // the networks in use
	Seed   uint64 // root of all random streams of the run; see package rng
	Shared *Shared
	Resume []byte // a checkpoint of the same run, or nil to start

	// Begin, if given, marks the end of the work between two updates, such as training
	// a network. The time of an update counts from Begin, or otherwise from the last
	// observation.
	Begin func()

	// The method calls Phase, if given, with the task of a long preparation and the share
	// done. It only informs people, and must not change results.
	Phase func(what string, done float64)
}

// Step is what a method shows an observer after an update. Its functions may only be called until
// the observer returns.
type Step struct {
	Update  int     // updates of the distilled set so far
	Of      int     // the largest number of updates; 0 if unknown
	Loss    float64 // the method's objective, if HasLoss is set
	HasLoss bool

	// Iteration is the number of updates in an iteration, as the method's authors count
	// them; 0 means 1.
	Iteration int

	// Metrics returns further numbers by name, for the trace. It may be nil. It is only
	// called when a trace line is due, so it may be costly.
	Metrics func() map[string]float64

	// Distilled returns the current set, or nil if it has no labels yet. The caller owns
	// it.
	Distilled func() *Distilled

	// Checkpoint returns a state from which the run continues with the next update. It
	// may be nil for a method whose steps are cheap.
	Checkpoint func() ([]byte, error)
}

// Interrupted is the error of a run whose context was cancelled.
type Interrupted struct {
	Checkpoint []byte // nil to start from the beginning
	Cause      error
}

func (e *Interrupted) Error() string { return fmt.Sprintf("interrupted: %v", e.Cause) }

// Unwrap returns the cause.
func (e *Interrupted) Unwrap() error { return e.Cause }

// Sizes describes a run before its data is loaded.
type Sizes struct {
	Train, Test, Classes int // numbers of images and of classes
	H, W, C              int // of an image
	Smallest             int // training images in the smallest class; 0 if unknown
	IPC                  int
	Model                Model

	Method   Method   // distils the set
	Protocol Protocol // scores the set; both may be nil if unknown
}

// SizesChecker is implemented by methods and protocols that can reject a run before it starts,
// because of its data or its settings. Their check replaces the default of CheckSizes.
type SizesChecker interface{ CheckSizes(Sizes) error }

// CheckSizes returns an error if the method cannot run on such data, or else if the protocol cannot
// score it. By default, a method needs IPC training images of every class, as Choose does. A protocol
// must be able to train the networks that the model describes.
func CheckSizes(m Method, p Protocol, s Sizes) error {
	s.Method, s.Protocol = m, p
	var err error
	if c, ok := m.(SizesChecker); ok {
		err = c.CheckSizes(s)
	} else if !m.Info().IgnoresIPC {
		err = CheckImages(m.Info().Name, s)
	}
	if err != nil { // the protocol would often report the same fault
		return err
	}
	if m.Info().IgnoresIPC {
		s.IPC = 0
	}
	if c, ok := p.(SizesChecker); ok {
		return c.CheckSizes(s)
	}
	return s.Model.checkNetwork(s)
}

// CheckLambda returns an error if the protocol scores by a convex model with another lambda (for each
// image) than the one that the method computes labels for.
func CheckLambda(lambda float64, s Sizes) error {
	if s.Protocol == nil {
		return nil
	}
	if p := s.Protocol.Info(); p.Lambda != 0 && p.Lambda != lambda {
		return fmt.Errorf("the method's lambda is %v, but the protocol's is %v, and labels only suit one lambda\nhint: set the same lambda in [method.NAME] and [eval.%s], or in neither", lambda, p.Lambda, p.Name)
	}
	return nil
}
