package space

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// version is part of every key on disk. Raise it when values change.
const version = 4

// Source is the real data of a run with the settings of its space.
type Source struct {
	Data   *method.Data
	Model  method.Model
	Seed   uint64
	Shared *method.Shared
	Phase  func(what string, done float64) // may be nil

	// Draw names the random stream of networks other than the run's own; nil means the run's.
	Draw []string

	base *method.Shared // where networks and digests are shared; nil means Shared
}

// Of returns the real data of a problem.
func Of(p method.Problem) Source {
	return Source{Data: p.Data, Model: p.Model, Seed: p.Seed, Shared: p.Shared, Phase: p.Phase}
}

// OfTrial returns the real data against which a set is scored.
func OfTrial(t method.Trial) Source {
	return Source{Data: t.Data, Model: t.Model, Seed: t.Seed, Shared: t.Shared, Phase: t.Phase}
}

// Report announces a phase, and returns a function that reports its progress from 0 to 1.
func (s Source) Report(what string) func(float64) {
	if s.Phase == nil {
		return func(float64) {}
	}
	if s.Draw != nil {
		what += ", draw " + s.Draw[len(s.Draw)-1]
	}
	s.Phase(what, 0)
	return func(done float64) { s.Phase(what, done) }
}

// Alone returns the source with its own memory for everything except networks and digests.
func (s Source) Alone() Source {
	s.base, s.Shared = s.shared(), new(method.Shared).With(s.Shared.Disk())
	return s
}

// shared returns where networks and digests are shared.
func (s Source) shared() *method.Shared { return cmp.Or(s.base, s.Shared) }

// Key names a value that runs share. It contains the name of the dataset, because the random
// networks depend on that name even if the images are equal.
func (s Source) Key(what string) string {
	return fmt.Sprintf("teacher %s %s %q", what, s.Space().Settings(), s.Data.Name)
}

// Digest identifies the training images and labels. It is computed once, as all runs that share
// memory use the same dataset.
func (s Source) Digest() string {
	of, _ := method.Do(s.shared(), "teacher digest", func() (string, error) { return digest(s.Data.Train), nil })
	return of
}

// digest identifies images and their labels.
func digest(s method.Images) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d\n", s.Len(), s.H, s.W, s.C)
	buffer := make([]byte, 0, 1<<16)
	for _, v := range s.X {
		buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		if len(buffer) == cap(buffer) {
			h.Write(buffer)
			buffer = buffer[:0]
		}
	}
	h.Write(buffer)
	for _, y := range s.Labels {
		fmt.Fprintln(h, y)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// rows returns the rows of a matrix.
func rows(m tensor.Mat[float32]) [][]float32 {
	all := make([][]float32, m.Rows)
	for i := range all {
		all[i] = m.Row(i)
	}
	return all
}
