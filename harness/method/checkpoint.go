package method

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
)

// ErrCheckpoint is the error for a Problem.Resume that cannot be read, such as one of an earlier
// version of the program. The run can be started from the beginning.
var ErrCheckpoint = errors.New("checkpoint")

// checkpoint is the state of a Descent. The store keeps it under the key of the run, with a
// checksum.
type checkpoint struct {
	At    position
	Parts [][]byte // Variables, and then Keep
}

func (r *descending) parts() []Part {
	var parts []Part
	for _, v := range r.Variables {
		parts = append(parts, v)
	}
	return append(parts, r.Keep...)
}

func (r *descending) checkpoint() ([]byte, error) {
	c := checkpoint{At: r.at}
	for _, p := range r.parts() {
		b, err := p.MarshalBinary()
		if err != nil {
			return nil, err
		}
		c.Parts = append(c.Parts, b)
	}
	return Encode(c)
}

// Encode returns a part of a checkpoint, as a gob.
func Encode(value any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(value)
	return b.Bytes(), err
}

// Decode sets *value to what Encode saved.
func Decode(b []byte, value any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(value) }

func (r *descending) restore(from []byte) error {
	var c checkpoint
	if err := Decode(from, &c); err != nil {
		return fmt.Errorf("it is not a checkpoint of this version of the program: %w", err)
	}
	parts := r.parts()
	if len(c.Parts) != len(parts) {
		return fmt.Errorf("it has %d parts, not %d", len(c.Parts), len(parts))
	}
	for i, p := range parts {
		if err := p.UnmarshalBinary(c.Parts[i]); err != nil {
			return err
		}
	}
	r.at = c.At
	return nil
}
