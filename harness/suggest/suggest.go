// Package suggest finds the name that a user probably meant.
package suggest

import (
	"slices"
	"strings"
)

// elsewhere maps names of settings and metrics in other programs to ours.
var elsewhere = map[string]string{
	"lr": "rate", "learning_rate": "rate", "learning-rate": "rate", "step_size": "rate",
	"iterations": "updates", "iters": "updates", "steps": "updates",
	"test_accuracy": "test_acc", "accuracy": "test_acc", "acc": "test_acc",
}

// Name returns the candidate closest to word, or else the first that begins with word, or else "".
// A name from another program counts as close to ours. The distance is optimal string alignment:
// insertions, deletions, replacements and swaps of neighbours cost one each. Case is ignored. Beyond
// 64 bytes or 1,000 candidates, Name returns "" unless word is from another program.
func Name(word string, candidates []string) string {
	if here := elsewhere[strings.ToLower(word)]; slices.Contains(candidates, here) {
		return here
	}
	if len(word) > 64 || len(candidates) > 1000 { // comparing would take long
		return ""
	}
	best, bestCost := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if len(c)-len(word) > 4*bestCost { // characters have up to four bytes
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < bestCost {
			best, bestCost = c, d
		}
	}
	if best == "" && len(word) >= 3 {
		for _, c := range candidates {
			if strings.HasPrefix(strings.ToLower(c), strings.ToLower(word)) {
				return c
			}
		}
	}
	return best
}

// Hint returns "did you mean X?" if a candidate is close to word. Otherwise it lists the
// candidates, or returns "" if there are over 20.
func Hint(word string, candidates []string) string {
	if n := Name(word, candidates); n != "" {
		return `did you mean "` + n + `"?`
	}
	if len(candidates) == 0 || len(candidates) > 20 {
		return ""
	}
	return "known are " + strings.Join(candidates, ", ")
}

func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}
