package env

import (
	"os"
	"sync"
)

// Process names a process for other processes, also those on other machines that
// see the same files.
type Process struct {
	Machine string `json:"machine"` // differs between machines, containers and mostly their restarts
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

// Running tells whether a process is there, stopped or not. That can be known only
// of processes on this machine, and of those only where it tells when they began:
// a number alone may be another process's by now.
func (p Process) Running() (running, known bool) {
	if p.Machine != self().Machine || machineID() == "" || p.PID <= 0 {
		return false, false
	}
	alive, known := processAlive(p.PID)
	if !known || !alive {
		return false, known
	}
	start := processStart(p.PID)
	if p.Start == "" || start == "" {
		return false, false
	}
	return p.Start == start, true
}
