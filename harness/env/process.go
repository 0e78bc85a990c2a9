package env

import (
	"os"
	"sync"
)

// Process names a process for other processes, also those on other machines that
// see the same files.
type Process struct {
	Machine string `json:"machine"` // differs between machines, their restarts, and containers
	PID     int    `json:"pid"`
	Start   string `json:"start,omitempty"` // tells it from a later one with its number; "" if unknown
}

var self = sync.OnceValue(func() Process {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	pid := os.Getpid()
	return Process{Machine: name + machineID(), PID: pid, Start: processStart(pid)}
})

// Self names this process.
func Self() Process { return self() }

// Gone tells whether a process has certainly ended. It can know that only of
// processes on this machine.
func (p Process) Gone() bool {
	if p.Machine != self().Machine || p.PID <= 0 {
		return false
	}
	if alive, known := processAlive(p.PID); !known {
		return false
	} else if !alive {
		return true
	}
	start := processStart(p.PID)
	return p.Start != "" && start != "" && p.Start != start
}
