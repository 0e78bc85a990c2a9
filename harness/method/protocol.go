package method

import "context"

// ProtocolInfo describes a protocol.
type ProtocolInfo struct {
	Name    string
	Title   string // as in tables
	About   string // one line
	Version int    // part of a run's identity
	Family  Family // what its scores may be compared with, of sets with hard labels

	// Lambda is the regularisation for each image of the convex model that scores a
	// set; 0 if none does.
	Lambda float64
}

// Protocol scores a distilled set on test images. Its settings are the exported
// fields of the struct that implements it, as for a Method.
type Protocol interface {
	Info() ProtocolInfo

	// Score scores the set. Training that takes long calls observe as Distill
	// does, and stops as Distill does when ctx ends. It must not change its
	// receiver, nor anything in the trial.
	Score(ctx context.Context, t Trial, observe func(Step)) (*Scores, error)
}

// Trial is what a protocol is asked to score.
type Trial struct {
	Data   *Data
	Test   Images
	Set    *Distilled
	Model  Model
	Seed   uint64
	Shared *Shared // what methods share, too: nothing about test images may go in
	Own    *Shared // for protocols alone

	// Final marks the set that counts, unlike those along the way, for which a protocol
	// may leave costly extras out.
	Final  bool
	Resume []byte
	Phase  func(what string, done float64) // as in Problem
}

// Scores is what a protocol found. Names are lower case with underscores; a dot
// leads from a group to its member, as in "transfer.hinge.test_acc".
type Scores struct {
	// Metrics are single numbers. test_acc, a fraction in [0, 1], is always there.
	Metrics map[string]float64
	// Counts are integers, one for every repetition: test_errors is always there,
	// and test_images, the number of test images, as a single one.
	Counts map[string][]int64
	Notes  []string
}
