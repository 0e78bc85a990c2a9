package method

import "fmt"

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

// Bounds of settings. Larger values pass through every formula and mean nothing: images
// far from all data, or a model whose outputs are zero. A smaller lambda disappears in the
// rounding errors of the Gram matrix that it is added to.
const (
	mostSetting = 1e6
	leastLambda = 1e-14
)

// Positive returns a *BadSetting unless the value of a setting is positive, and at most
// 10^6.
func Positive(key string, value float64, hint string) error {
	if value > 0 && value <= mostSetting {
		return nil
	}
	return &BadSetting{Key: key, Why: fmt.Sprintf("must be positive and at most 1e6, not %v", value), Hint: hint}
}

// PositiveLambda is Positive for a regularisation for each image, of at least 10^-14.
func PositiveLambda(value float64) error {
	if value >= leastLambda && value <= mostSetting {
		return nil
	}
	hint := "1e-6 is usual"
	if value > 0 && value < leastLambda {
		hint += "; a smaller one than 1e-14 disappears in rounding errors"
	}
	return &BadSetting{Key: "lambda", Why: fmt.Sprintf("must be between 1e-14 and 1e6, not %v", value), Hint: hint}
}
