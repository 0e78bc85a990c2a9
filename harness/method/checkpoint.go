package method

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrCheckpoint is the error for a Problem.Resume that is damaged or belongs to another run. The
// run can be started from the beginning.
var ErrCheckpoint = errors.New("checkpoint")

// checkpoint is the state of a Descent. It is stored as a magic string, a checksum and a gob.
type checkpoint struct {
	Run   string // names the run
	At    position
	Parts [][]byte // Variables, and then Keep
}

const checkpointMagic = "dgkip/descent/1\n"

// run names the run that a checkpoint belongs to, except for the method's settings: those are
// part of the key under which checkpoints are stored.
func (r *descending) run() string {
	return fmt.Sprintf("%s of %s, ipc %d, %+v, seed %d", r.Name, r.problem.Data.Name, r.problem.IPC, r.problem.Model, r.problem.Seed)
}

func (r *descending) parts() []Part {
	var parts []Part
	for _, v := range r.Variables {
		parts = append(parts, v)
	}
	return append(parts, r.Keep...)
}

func (r *descending) checkpoint() ([]byte, error) {
	c := checkpoint{Run: r.run(), At: r.at}
	for _, p := range r.parts() {
		b, err := p.MarshalBinary()
		if err != nil {
			return nil, err
		}
		c.Parts = append(c.Parts, b)
	}
	b, err := Encode(c)
	head := binary.LittleEndian.AppendUint32([]byte(checkpointMagic), crc32.ChecksumIEEE(b))
	return append(head, b...), err
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
	b, ok := bytes.CutPrefix(from, []byte(checkpointMagic))
	if !ok {
		return errors.New("it is not a checkpoint of this version of the program")
	}
	if len(b) < 4 || crc32.ChecksumIEEE(b[4:]) != binary.LittleEndian.Uint32(b) {
		return errors.New("it is damaged")
	}
	var c checkpoint
	if err := Decode(b[4:], &c); err != nil {
		return err
	}
	parts := r.parts()
	switch at := c.At; {
	case c.Run != r.run():
		return fmt.Errorf("it belongs to another run: %s, not %s", c.Run, r.run())
	case at.Update < 0 || at.Update > r.Updates:
		return fmt.Errorf("it is at update %d, but the run has %d updates", at.Update, r.Updates)
	case at.Seen < -1 || at.Seen > at.Update:
		return errors.New("it is damaged")
	case len(c.Parts) != len(parts):
		return fmt.Errorf("it has %d parts, but the run has %d: settings differ", len(c.Parts), len(parts))
	}
	for i, p := range parts {
		if err := p.UnmarshalBinary(c.Parts[i]); err != nil {
			return err
		}
	}
	r.at = c.At
	return nil
}
