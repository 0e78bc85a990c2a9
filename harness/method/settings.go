package method

import (
	"fmt"
	"math"
)

// Checker is implemented by settings that need more than the checks of their
// tags. Check returns what is wrong, as *BadSetting or several joined, or nil.
type Checker interface{ Check() error }

// BadSetting says what is wrong with one setting.
type BadSetting struct {
	Key  string // as in the toml tag
	Why  string // "must be below 1"
	Hint string // what to do about it, or ""
}

func (e *BadSetting) Error() string { return e.Key + " " + e.Why }

// Positive returns a *BadSetting unless the value of a setting is positive and finite.
func Positive(key string, value float64, hint string) error {
	if value > 0 && !math.IsInf(value, 1) {
		return nil
	}
	return &BadSetting{Key: key, Why: fmt.Sprintf("is %v, and must be positive and finite", value), Hint: hint}
}
