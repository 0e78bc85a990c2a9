package optim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// state contains the values that optimisers keep between steps.
type state[F Float] struct {
	rule     string
	n        int        // number of parameters
	settings []float64  // fixed at construction
	lr       float64    // may change
	powers   [2]float64 // beta1^t and beta2^t
	slots    [][]F      // averages, n numbers each
}

func (s *state[F]) check(params, grad []F) {
	if len(params) != s.n || len(grad) != s.n {
		panic("optim." + s.rule + ".Step: wrong number of parameters or gradients")
	}
}

// LR implements Optimizer.
func (s *state[F]) LR() float64 { return s.lr }

// SetLR implements Optimizer.
func (s *state[F]) SetLR(lr float64) {
	if !validRate(lr) {
		panic(badRate)
	}
	s.lr = lr
}

// header encodes rule, type, length and settings, which must be equal when a saved state is
// restored.
func (s *state[F]) header() []byte {
	b := append([]byte("dgkip/optim/1 "), s.rule...)
	b = append(b, 0, byte(binary.Size(F(0))))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.n))
	return appendFloats(b, s.settings...)
}

// MarshalBinary implements Optimizer.
func (s *state[F]) MarshalBinary() ([]byte, error) {
	b := appendFloats(s.header(), s.lr, s.powers[0], s.powers[1])
	for _, slot := range s.slots {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, slot); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// UnmarshalBinary implements Optimizer.
func (s *state[F]) UnmarshalBinary(data []byte) error {
	data, ok := bytes.CutPrefix(data, s.header())
	if !ok {
		return errors.New("optim: saved state belongs to a different rule, type, length or setting")
	}
	if len(data) != 3*8+len(s.slots)*s.n*binary.Size(F(0)) {
		return errors.New("optim: saved state has the wrong size")
	}
	var scalars [3]float64
	for i := range scalars {
		scalars[i] = math.Float64frombits(binary.LittleEndian.Uint64(data))
		data = data[8:]
	}
	lr, p1, p2 := scalars[0], scalars[1], scalars[2]
	if !validRate(lr) || !(p1 >= 0 && p1 <= 1 && p2 >= 0 && p2 <= 1) {
		return errors.New("optim: saved state is damaged")
	}
	// Nothing can fail from here on: the size is right.
	s.lr, s.powers = lr, [2]float64{p1, p2}
	for _, slot := range s.slots {
		k, err := binary.Decode(data, binary.LittleEndian, slot)
		if err != nil {
			return err
		}
		data = data[k:]
	}
	return nil
}

func appendFloats(b []byte, x ...float64) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}
