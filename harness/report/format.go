package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/chart"
)

// fixed formats x with a number of decimals, and never writes -0.
func fixed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

// shortest formats with the fewest digits that read back to the same bits.
func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// significant formats x with at least a number of significant digits. Only very small and very large numbers
// have an exponent.
func significant(x float64, digits int) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	e := strconv.FormatFloat(x, 'e', digits-1, 64)
	exp, err := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	if err != nil || exp < -5 || exp > 6 {
		return e
	}
	return strconv.FormatFloat(x, 'f', max(0, digits-1-exp), 64)
}

// given returns a field of a CSV file, which is empty if there is no number.
func given(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// tenDigits formats x with at most ten digits, because machines may differ in later digits of
// library functions.
func tenDigits(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }

// seconds formats a time: fewer decimals for long times, and two significant digits for very
// short ones.
func seconds(x float64) string {
	switch a := math.Abs(x); {
	case a == 0:
		return "0"
	case a < 0.0095:
		return significant(x, 2)
	case a < 10:
		return fixed(x, 3)
	case a < 100:
		return fixed(x, 2)
	}
	return fixed(x, 1)
}

// signed formats a difference with its sign.
func signed(x float64, decimals int) string {
	s := fixed(x, decimals)
	if x > 0 && strings.Trim(s, "0.") != "" {
		s = "+" + s
	}
	return s
}

// times formats a factor.
func times(x float64) string {
	if math.Abs(x) >= 10 {
		return "× " + significant(x, 2)
	}
	return "× " + fixed(x, 2)
}

// Count writes a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// amount writes a count, or a mean of counts: 1000 as 1,000, and fractions with a decimal.
func amount(x float64) string {
	if x == math.Trunc(x) {
		return chart.Thousands(fixed(x, 0))
	}
	return chart.Thousands(fixed(x, 1))
}

// setting writes the value of a setting.
func setting(v any) string {
	switch x := v.(type) {
	case int:
		return amount(float64(x))
	case float64:
		return shortest(x)
	}
	return fmt.Sprint(v)
}

// decimalsOf is the number of decimals in the shortest form of a number.
func decimalsOf(x float64) int {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return len(s) - i - 1
	}
	return 0
}

func capital(s string) string {
	for i, r := range s {
		if i == 0 {
			return strings.ToUpper(string(r)) + s[len(string(r)):]
		}
	}
	return s
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// list joins words.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// with appends those elements that the list lacks.
func with[T comparable](list []T, more ...T) []T { return experiment.With(list, more...) }

// short returns the first 12 characters of a key, by which people refer to it.
func short(key string) string { return key[:min(len(key), 12)] }

// percent formats a mean and its spread, both in percent.
func percent(mean, spread float64, hasSpread bool) string {
	s := fixed(mean, 2)
	if hasSpread {
		s += " ± " + fixed(spread, 2)
	}
	return s + " %"
}
