package cli

import (
	"io"
	"os"
	"syscall"
	"testing"
)

// Several termination signals mean one stop, because batch systems send several. Only pressing
// Ctrl-C twice leaves without a checkpoint.
func TestStopOn(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals []os.Signal
		leaves  int
	}{
		{"one interrupt", []os.Signal{os.Interrupt}, 0},
		{"termination, three times", []os.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM}, 0},
		{"termination and an interrupt", []os.Signal{syscall.SIGTERM, os.Interrupt}, 0},
		{"two interrupts", []os.Signal{os.Interrupt, os.Interrupt}, 1},
		{"two interrupts and termination between", []os.Signal{os.Interrupt, syscall.SIGTERM, os.Interrupt}, 1},
	} {
		signals := make(chan os.Signal, len(c.signals))
		for _, s := range c.signals {
			signals <- s
		}
		close(signals)
		stops, leaves := 0, 0
		stopOn(signals, io.Discard, func(error) { stops++ }, func() { leaves++ })
		if stops != 1 || leaves != c.leaves {
			t.Errorf("%s: %d stops and %d leaves, want 1 and %d", c.name, stops, leaves, c.leaves)
		}
	}
}
