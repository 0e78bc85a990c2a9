package env

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

// cpuFeatures lists the instruction sets that decide which kernels are used.
func cpuFeatures() []string {
	var out []string
	add := func(has bool, name string) {
		if has {
			out = append(out, name)
		}
	}
	switch runtime.GOARCH {
	case "amd64":
		add(cpu.X86.HasAVX, "avx")
		add(cpu.X86.HasAVX2, "avx2")
		add(cpu.X86.HasFMA, "fma")
		add(cpu.X86.HasAVX512F, "avx512f")
		add(cpu.X86.HasAVX512BW, "avx512bw")
		add(cpu.X86.HasAVX512DQ, "avx512dq")
		add(cpu.X86.HasAVX512VL, "avx512vl")
	case "arm64":
		add(cpu.ARM64.HasASIMD, "asimd")
		add(cpu.ARM64.HasSVE, "sve")
	}
	return out
}
