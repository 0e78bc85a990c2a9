package teacher

import (
	"encoding/binary"
	"io"

	"dgkip/harness/tensor"
)

// On disk, Theta is a header of numbers and the two matrices, little-endian.

type header struct {
	Rows, Cols, Images        int64
	Errors                    int64
	Norm, Lambda, Gap, Sweeps float64
}

func (t *Theta) header() header {
	return header{
		Rows: int64(t.Weights.Rows), Cols: int64(t.Weights.Cols), Images: int64(t.Outputs.Rows), Errors: int64(t.Errors),
		Norm: t.Norm, Lambda: t.Lambda, Gap: t.Gap, Sweeps: t.Sweeps,
	}
}

func (t *Theta) size() int {
	return binary.Size(header{}) + 8*(len(t.Weights.Data)+len(t.Outputs.Data))
}

func (t *Theta) write(to io.Writer) error {
	for _, part := range []any{t.header(), t.Weights.Data, t.Outputs.Data} {
		if err := binary.Write(to, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}

func (t *Theta) read(from io.Reader) error {
	var h header
	if err := binary.Read(from, binary.LittleEndian, &h); err != nil {
		return err
	}
	// The store verified the bytes, and the key fixes the shapes.
	t.Weights = tensor.NewMat[float64](int(h.Rows), int(h.Cols))
	t.Outputs = tensor.NewMat[float64](int(h.Images), int(h.Rows))
	t.Errors, t.Norm, t.Lambda, t.Gap, t.Sweeps = int(h.Errors), h.Norm, h.Lambda, h.Gap, h.Sweeps
	for _, part := range [][]float64{t.Weights.Data, t.Outputs.Data} {
		if err := binary.Read(from, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}
