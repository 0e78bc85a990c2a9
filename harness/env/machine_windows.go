package env

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

func memory() int64 { return 0 }

// ResetPeak resets PeakMemory to the memory in use now, if the system supports it.
func ResetPeak() {}

// CPU returns the processor time that all threads of this process have used.
func CPU() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}

// memoryCounters is PROCESS_MEMORY_COUNTERS.
type memoryCounters struct {
	size, faults                                               uint32
	peakWorkingSet, workingSet, peakPaged, paged, peakNonPaged uintptr
	nonPaged, pagefile, peakPagefile                           uintptr
}

var getMemory = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// PeakMemory returns the largest amount of memory this process has used, in bytes, or 0 if it is
// unknown.
func PeakMemory() int64 {
	var c memoryCounters
	c.size = uint32(unsafe.Sizeof(c))
	if getMemory.Find() != nil {
		return 0
	}
	if ok, _, _ := getMemory.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&c)), uintptr(c.size)); ok == 0 {
		return 0
	}
	return int64(c.peakWorkingSet)
}
