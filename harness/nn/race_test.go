//go:build race

package nn

// The race detector makes pools of memory forget at random.
func init() { raceDetector = true }
