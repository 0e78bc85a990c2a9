package method

import "context"

// ProtocolInfo describes a protocol.
type ProtocolInfo struct {
	Name    string
	Title   string // as in tables
	About   string // one line
	Version int    // part of a run's identity
	Family  Family // of its scores, for sets with hard labels

	// Lambda is the regularisation (for each image) of the convex model that scores a
	// set, or 0 if there is none.
	Lambda float64
}

// Protocol scores a distilled set on test images. Its settings are the fields of the struct that
// implements it, as for a Method.
type Protocol interface {
	Info() ProtocolInfo

	// Score scores the set. Long training calls observe. When ctx is done, Score returns an
	// *Interrupted with a checkpoint, or the context's error if it has none. It must not change its receiver or the trial.
	Score(ctx context.Context, t Trial, observe func(Step)) (*Scores, error)
}

// Trial is the input of a protocol.
type Trial struct {
	Data   *Data
	Test   Images
	Set    *Distilled
	Model  Model
	Seed   uint64
	Shared *Shared // shared with methods: must hold nothing about test images
	Own    *Shared // only for protocols

	// Final marks the final set. For earlier sets a protocol may omit costly extras.
	Final  bool
	Resume []byte
	Phase  func(what string, done float64) // as in Problem
}

// Scores is the result of a protocol. Names are lower case with underscores. A dot separates a group
// from its member, as in "transfer.hinge.test_acc".
type Scores struct {
	// Metrics are single numbers. They include test_acc, a fraction in [0, 1].
	Metrics map[string]float64
	// Counts are integers, one for every repetition. They include test_errors.
	// test_images has one value, the number of test images.
	Counts map[string][]int64
	Notes  []string
}
