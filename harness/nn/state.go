package nn

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
)

// saved is a training between two steps.
type saved struct {
	Epoch, Batch              int
	Start, Stream, SGD, Theta []byte // Start is the stream's position before the epoch's permutation, if it is drawn
}

// MarshalBinary saves the training between two steps: parameters, state of the optimiser,
// epoch and batch, and position of the stream.
func (t *Training[F]) MarshalBinary() ([]byte, error) {
	sgd, err := t.sgd.MarshalBinary()
	if err != nil {
		return nil, err
	}
	theta, err := binary.Append(nil, binary.LittleEndian, t.theta) // gob is slower with floats
	if err != nil {
		return nil, err
	}
	s := saved{Epoch: t.epoch, Batch: t.batch, Stream: position(t.stream), SGD: sgd, Theta: theta}
	if t.order != nil {
		s.Start = t.start
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(s)
	return b.Bytes(), err
}

// UnmarshalBinary restores what MarshalBinary saved, into a training of the same network,
// data and recipe. It overwrites the parameters given to NewTraining and moves their stream
// to the saved position. After an error the training must not be used.
func (t *Training[F]) UnmarshalBinary(data []byte) error {
	var s saved
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return err
	}
	if len(s.Theta) != binary.Size(t.theta) || s.Epoch > t.recipe.Epochs {
		return errors.New("nn: saved training belongs to a different network or recipe")
	}
	t.order = nil
	if s.Start != nil { // the permutation is drawn again
		if err := t.stream.UnmarshalBinary(s.Start); err != nil {
			return err
		}
		t.order = t.stream.Perm(t.data.N)
	}
	if err := t.stream.UnmarshalBinary(s.Stream); err != nil {
		return err
	}
	if err := t.sgd.UnmarshalBinary(s.SGD); err != nil {
		return err
	}
	t.epoch, t.batch, t.start = s.Epoch, s.Batch, s.Start
	_, err := binary.Decode(s.Theta, binary.LittleEndian, t.theta)
	return err
}
