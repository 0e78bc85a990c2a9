// Package env describes where a number was computed: host, processor, toolchain, module versions
// and the commit of the program. It also reports the time and memory that the process has used.
// Results must not depend on any of this.
package env

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// Host describes a machine and the program on it.
type Host struct {
	Name   string `json:"name"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	CPU    string `json:"cpu"`              // model, or "unknown"
	Cores  int    `json:"cores"`            // logical processors this process may use
	Memory int64  `json:"memory,omitempty"` // bytes, 0 if unknown
	Go     string `json:"go"`
	Git    Git    `json:"git"`

	// Modules holds the versions of the modules in the program. It is empty if the sources equal a
	// commit, because the go.mod there has the versions.
	Modules map[string]string `json:"modules,omitempty"`
}

// Read describes this machine and this program. Only the first call examines them.
var Read = sync.OnceValue(func() Host {
	h := Host{
		Name: "unknown", OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: "unknown",
		Cores: runtime.NumCPU(), Go: runtime.Version(),
	}
	if name, err := os.Hostname(); err == nil {
		h.Name = name
	}
	if m := cpuModel(); m != "" {
		h.CPU = m
	}
	h.Memory = memory()
	h.Git = programGit()
	if info, ok := debug.ReadBuildInfo(); ok {
		h.Modules = modules(h.Git, info)
	}
	return h
})

// modules returns the versions of the modules, or nil if the sources equal a commit.
func modules(g Git, info *debug.BuildInfo) map[string]string {
	if g.State == "clean" {
		return nil
	}
	out := map[string]string{}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		out[m.Path] = m.Version
	}
	return out
}
