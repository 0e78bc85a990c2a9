//go:build linux || darwin

package env

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A process that is stopped is still there; one that has ended is not, whether
// anybody has asked how it ended or not.
func TestOtherProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip("SKIPPED: no program sleep")
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	other := Process{Machine: Self().Machine, PID: cmd.Process.Pid, Start: processStart(cmd.Process.Pid)}
	for _, state := range []struct {
		signal  syscall.Signal
		running bool
	}{{0, true}, {syscall.SIGSTOP, true}, {syscall.SIGKILL, false}} {
		if err := cmd.Process.Signal(state.signal); err != nil {
			t.Fatal(err)
		}
		var running, known bool
		for range 100 { // a signal takes its time
			if running, known = other.Running(); running == state.running {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if running != state.running || !known {
			t.Errorf("after signal %v: running %v, known %v", state.signal, running, known)
		}
	}
}
