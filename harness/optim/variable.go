package optim

import (
	"encoding/binary"
	"fmt"
)

// Variable holds values that an optimiser changes, with their gradient.
type Variable[F Float] struct {
	X    []F
	Grad []F // as long as X; set it before each Step

	name string
	by   *Optimizer[F]
}

// NewVariable returns a variable with the values x, which it changes in place by the rule. Messages
// call the values by name.
func NewVariable[F Float](name string, x []F, rule Rule) *Variable[F] {
	return &Variable[F]{X: x, Grad: make([]F, len(x)), name: name, by: New[F](rule, len(x))}
}

// Step changes the values along the gradient, at share times the learning rate of the rule.
func (v *Variable[F]) Step(share float64) {
	v.by.Step(v.X, v.Grad, float64(v.by.rule.rate*share))
}

// Check returns an error if the gradient or its square is not finite. Adam and AdaBelief
// average squares, and their averages would never become finite again.
func (v *Variable[F]) Check() error {
	for _, g := range v.Grad {
		if square := F(g * g); square-square != 0 {
			why := ""
			if g-g == 0 {
				why = ", whose square is not finite"
			}
			return fmt.Errorf("the gradient of the %s contains %v%s", v.name, g, why)
		}
	}
	return nil
}

// MarshalBinary saves the values and the state of the optimiser.
func (v *Variable[F]) MarshalBinary() ([]byte, error) {
	b, err := binary.Append(nil, binary.LittleEndian, v.X)
	if err != nil {
		return nil, err
	}
	state, err := v.by.MarshalBinary()
	return append(b, state...), err
}

// UnmarshalBinary restores what MarshalBinary saved from a variable of the same length and rule.
// It returns an error and changes nothing if the length of the state differs.
func (v *Variable[F]) UnmarshalBinary(data []byte) error {
	size := binary.Size(v.X)
	if len(data) < size {
		return fmt.Errorf("the saved state of the %s has the wrong length", v.name)
	}
	if err := v.by.UnmarshalBinary(data[size:]); err != nil {
		return err
	}
	_, err := binary.Decode(data, binary.LittleEndian, v.X)
	return err
}
