package optim

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Variable holds values that an optimiser changes, with their gradient.
type Variable[F Float] struct {
	X    []F
	Grad []F // as long as X; set it before each Step

	name string
	rule Optimizer[F]
	rate float64
}

// NewVariable returns a variable with the values x, which it changes in place. newRule is the
// constructor of an optimiser, such as NewSGD, and settings are its settings, which it must accept.
// Messages call the values by name.
func NewVariable[F Float, C any, R Optimizer[F]](name string, x []F, newRule func(n int, settings C) R, settings C) *Variable[F] {
	rule := newRule(len(x), settings)
	return &Variable[F]{X: x, Grad: make([]F, len(x)), name: name, rule: rule, rate: rule.LR()}
}

// Step changes the values along the gradient, at share times the learning rate of the rule.
func (v *Variable[F]) Step(share float64) {
	v.rule.SetLR(float64(v.rate * share))
	v.rule.Step(v.X, v.Grad)
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

// MarshalBinary saves the values and the state of the rule.
func (v *Variable[F]) MarshalBinary() ([]byte, error) {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(v.X)))
	b, err := binary.Append(b, binary.LittleEndian, v.X)
	if err != nil {
		return nil, err
	}
	state, err := v.rule.MarshalBinary()
	return append(b, state...), err
}

// UnmarshalBinary restores what MarshalBinary saved from a variable of the same type, length
// and rule. Otherwise it returns an error and changes nothing.
func (v *Variable[F]) UnmarshalBinary(data []byte) error {
	if len(data) < 8 {
		return errors.New("optim: saved variable is damaged")
	}
	saved := binary.LittleEndian.Uint64(data)
	if saved != uint64(len(v.X)) {
		return fmt.Errorf("saved variable has %d values of %s, not %d", saved, v.name, len(v.X))
	}
	values := data[8:]
	bytes := len(v.X) * binary.Size(F(0))
	if len(values) < bytes {
		return errors.New("optim: saved variable is damaged")
	}
	if err := v.rule.UnmarshalBinary(values[bytes:]); err != nil {
		return err
	}
	_, err := binary.Decode(values, binary.LittleEndian, v.X)
	return err
}
