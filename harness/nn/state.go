package nn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"dgkip/harness/rng"
)

// header encodes the settings that must be equal when a saved training is restored.
func (t *Training[F]) header() []byte {
	b := append([]byte("dgkip/nn/training/1"), byte(binary.Size(F(0))))
	r := t.recipe
	for _, n := range []int{len(t.theta), t.data.N, r.Epochs, r.Batch, len(r.Drops)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, x := range append([]float64{r.Rate, 0}, r.Drops...) { // 0 keeps the place of a former setting
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// MarshalBinary saves the training between two steps: parameters, state of the optimiser,
// epoch and batch, and position of the stream.
func (t *Training[F]) MarshalBinary() ([]byte, error) {
	sgd, err := t.sgd.MarshalBinary()
	if err != nil {
		return nil, err
	}
	theta, err := binary.Append(nil, binary.LittleEndian, t.theta)
	if err != nil {
		return nil, err
	}
	b := t.header()
	b = binary.LittleEndian.AppendUint64(b, uint64(t.epoch))
	b = binary.LittleEndian.AppendUint64(b, uint64(t.batch))
	// The permutation of the current epoch is drawn again from its start.
	var start []byte
	if t.order != nil {
		start = t.start
	}
	for _, part := range [][]byte{start, position(t.stream), sgd, theta} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b, nil
}

var errDamaged = errors.New("nn: saved training is damaged")

// UnmarshalBinary restores what MarshalBinary saved, into a training of the same network,
// data and recipe. It overwrites the parameters given to NewTraining and moves their stream
// to the saved position. On error nothing changes.
func (t *Training[F]) UnmarshalBinary(data []byte) error {
	data, ok := bytes.CutPrefix(data, t.header())
	if !ok {
		return errors.New("nn: saved training belongs to a different network, data set or recipe")
	}
	var parts [4][]byte
	if len(data) < 16 {
		return errDamaged
	}
	epoch, batch := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
	data = data[16:]
	for i := range parts {
		if len(data) < 8 || binary.LittleEndian.Uint64(data) > uint64(len(data)-8) {
			return errDamaged
		}
		k := binary.LittleEndian.Uint64(data)
		parts[i], data = data[8:8+k], data[8+k:]
	}
	batches := (t.data.N + t.recipe.Batch - 1) / t.recipe.Batch
	begun := len(parts[0]) > 0
	if len(data) > 0 || epoch > uint64(t.recipe.Epochs) || batch >= uint64(batches) || !begun && batch > 0 ||
		len(parts[3]) != len(t.theta)*binary.Size(F(0)) {
		return errDamaged
	}
	var order []int
	var now rng.Rand
	if begun {
		if err := now.UnmarshalBinary(parts[0]); err != nil {
			return fmt.Errorf("nn: saved training: %w", err)
		}
		order = now.Perm(t.data.N)
	}
	if err := now.UnmarshalBinary(parts[1]); err != nil {
		return fmt.Errorf("nn: saved training: %w", err)
	}
	sgd := t.newSGD()
	if err := sgd.UnmarshalBinary(parts[2]); err != nil {
		return fmt.Errorf("nn: saved training: %w", err)
	}
	// Nothing can fail from here on: the length is right.
	if _, err := binary.Decode(parts[3], binary.LittleEndian, t.theta); err != nil {
		return err
	}
	*t.stream, t.sgd = now, sgd
	t.epoch, t.batch, t.start, t.order = int(epoch), int(batch), bytes.Clone(parts[0]), order
	return nil
}
