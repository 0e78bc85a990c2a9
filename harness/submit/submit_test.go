package submit

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var example = Job{
	Name: "table1", About: "3 workers make what is left of table1, 10 runs.", Program: "./dgkip",
	Work:    []string{"-exp", "table1", "-only", "method:* -dataset:'mnist'", "-worker", "-for", "1h"},
	Collect: []string{"-exp", "table1", "-only", "method:* -dataset:'mnist'", "-collect"},
	Workers: 3, CPUs: 2, Memory: 3 << 30, Limit: time.Hour,
}

func printed(t *testing.T, system string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, system, example); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// script writes a program of some lines.
func script(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return file
}

// The job script is sound for shells, and for what looks for their pitfalls.
func TestSlurmSyntax(t *testing.T) {
	file := script(t, filepath.Join(t.TempDir(), "job.sh"), printed(t, "slurm"))
	for _, check := range [][]string{{"sh", "-n"}, {"bash", "-n"}, {"shellcheck"}} {
		if _, err := exec.LookPath(check[0]); err != nil {
			t.Logf("SKIPPED: %s is not installed", check[0])
			continue
		}
		if out, err := exec.Command(check[0], append(check[1:], file)...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", check, err, out)
		}
	}
}

// With stand-ins for Slurm and the program: the script submits itself and the tables
// after it, passes arguments on as they are, and has its own task requeued after 75 alone.
func TestSlurmFlow(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIPPED: sh is not installed")
	}
	dir := t.TempDir()
	job := script(t, filepath.Join(dir, "job.sh"), printed(t, "slurm"))
	for _, name := range []string{"sbatch", "scontrol", "sleep", "dgkip"} {
		script(t, filepath.Join(dir, name), "#!/bin/sh\n{ printf '%s' "+name+"; printf ' [%s]' \"$@\"; echo; } >>log\n[ "+name+" = sbatch ] && echo 42 && [ $# -gt 2 ] && cat >>log\n[ "+name+" = dgkip ] && exit $CODE\nexit 0\n")
	}
	run := func(code, task string) (exit int, log string) {
		t.Helper()
		os.Remove(filepath.Join(dir, "log"))
		cmd := exec.Command("sh", job)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "CODE="+code, "SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID="+task)
		out, err := cmd.CombinedOutput()
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			exit = failed.ExitCode()
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		return exit, string(b)
	}
	const work = "dgkip [-exp] [table1] [-only] [method:* -dataset:'mnist'] [-worker] [-for] [1h]\n"
	for _, c := range []struct {
		code, task, want string
		exit             int
	}{
		{"0", "3", work, 0},
		{"1", "3", work, 1},
		{"130", "3", work, 130},
		{"75", "3", work + "scontrol [requeue] [7_3]\nsleep [60]\n", 75},
		{"0", "", "sbatch [--parsable] [" + job + "]\nsbatch [--dependency=afterany:42] [--job-name=table1-tables] [--output=table1-tables.log] [--mem=3072M] [--time=60]\n" +
			"#!/bin/sh\n./dgkip -exp table1 -only 'method:* -dataset:'\\''mnist'\\''' -collect\n", 0},
	} {
		if exit, log := run(c.code, c.task); exit != c.exit || log != c.want {
			t.Errorf("code %s, task %q: exit %d, want %d; log\n%swant\n%s", c.code, c.task, exit, c.exit, log, c.want)
		}
	}
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"table1": "table1", "table1,table2": "table1-table2", "My_Own.exp": "my-own-exp", "...": "dgkip",
		strings.Repeat("a", 39) + "-b": strings.Repeat("a", 39),
	} {
		if got := Name(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Room to save comes on top of the time after which a worker stops.
func TestMinutes(t *testing.T) {
	for limit, want := range map[time.Duration]int64{20 * time.Second: 6, time.Hour: 66, 12 * time.Hour: 750} {
		if got := (Job{Limit: limit}).Minutes(); got != want {
			t.Errorf("%v: %d minutes, want %d", limit, got, want)
		}
	}
}
