package method

import (
	"fmt"
	"slices"
)

// Checker is implemented by settings that need more checks than tags can express. Check returns a
// *BadSetting, several joined, or nil.
type Checker interface{ Check() error }

// BadSetting is the error for one setting.
type BadSetting struct {
	Key  string // as in the toml tag
	Why  string // such as "must be below 1"
	Hint string // advice, or ""
}

func (e *BadSetting) Error() string { return e.Key + " " + e.Why }

// Limits of settings. Larger values would give meaningless results without an error: images far from
// all data, or a model whose outputs are zero. A smaller lambda would vanish in the rounding errors
// of the Gram matrix that it is added to.
const (
	mostSetting = 1e6
	leastLambda = 1e-14
)

// Positive returns a *BadSetting unless the value of a setting is positive and at most 10^6.
func Positive(key string, value float64, hint string) error {
	if value > 0 && value <= mostSetting {
		return nil
	}
	return &BadSetting{Key: key, Why: fmt.Sprintf("must be positive and at most 1e6, not %v", value), Hint: hint}
}

// NoEffect returns a *BadSetting unless the value of a setting, which has no effect with another
// setting, is one of the usual values. Otherwise equal runs would have different keys.
func NoEffect[T comparable](key string, value T, with string, usual ...T) error {
	if slices.Contains(usual, value) {
		return nil
	}
	return &BadSetting{Key: key, Why: "has no effect with " + with, Hint: fmt.Sprintf("leave out %s, or write %v", key, usual[0])}
}

// PositiveLambda is Positive for lambda, the regularisation for each image, which must be at least
// 10^-14.
func PositiveLambda(value float64) error {
	if value >= leastLambda && value <= mostSetting {
		return nil
	}
	hint := "1e-6 is usual"
	if value > 0 && value < leastLambda {
		hint += "; less than 1e-14 vanishes in rounding errors"
	}
	return &BadSetting{Key: "lambda", Why: fmt.Sprintf("must be between 1e-14 and 1e6, not %v", value), Hint: hint}
}
