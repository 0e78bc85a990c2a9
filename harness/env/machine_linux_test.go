package env

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

func TestCPUModel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpuinfo")
	for text, want := range map[string]string{
		"processor\t: 0\nmodel name\t: Some CPU\n":                                          "Some CPU",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n": "0x41/0xd0c",
		"processor\t: 0\n": "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := cpuIn(file); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The memory limit is the smallest limit of the control groups.
func TestAllowedMemory(t *testing.T) {
	for name, c := range map[string]struct {
		groups string
		limits map[string]string
		want   int64
	}{
		"no groups":     {"", nil, 0},
		"no limit":      {"0::/\n", map[string]string{"memory.max": "max\n"}, 0},
		"a job":         {"0::/slurm/job_1/step_0\n", map[string]string{"slurm/job_1/memory.max": "4096\n", "slurm/job_1/step_0/memory.max": "max\n"}, 4096},
		"the smallest":  {"0::/a/b\n", map[string]string{"a/memory.max": "100\n", "a/b/memory.max": "200\n"}, 100},
		"version 1":     {"9:name=systemd:/\n4:cpu,memory:/slurm/job_1\n", map[string]string{"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/slurm/job_1/memory.limit_in_bytes": "8192\n"}, 8192},
		"a container":   {"4:memory:/docker/0123\n", map[string]string{"memory/memory.limit_in_bytes": "16384\n"}, 16384},
		"another group": {"3:cpuset:/a\n", map[string]string{"a/memory.max": "100\n"}, 0},
	} {
		root := fstest.MapFS{"proc/self/cgroup": {Data: []byte(c.groups)}}
		for file, text := range c.limits {
			root["sys/fs/cgroup/"+file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := allowed(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
