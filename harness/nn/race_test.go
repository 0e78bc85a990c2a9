//go:build race

package nn

// Under the race detector, sync.Pool drops items at random.
func init() { raceDetector = true }
