package submit

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var example = Job{
	Name: "table1", About: "3 workers compute what is left of table1, 10 runs.", Program: "./dgkip",
	Work:    []string{"-exp", "table1", "-only", "method:* -dataset:'mnist'", "-worker", "-for", "1h"},
	Collect: []string{"-exp", "table1", "-only", "method:* -dataset:'mnist'", "-collect"},
	Workers: 3, CPUs: 2, Memory: 3 << 30, Limit: time.Hour,
}

func printed(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, example); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// program writes a script to a file.
func program(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return file
}

// The job script passes the syntax checks of shells and of shellcheck.
func TestSlurmSyntax(t *testing.T) {
	file := program(t, filepath.Join(t.TempDir(), "job.sh"), printed(t))
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

// The script runs with stand-ins for Slurm and the program. It submits itself, and then the tables
// job with the same directives. It passes arguments unchanged. It requeues its own task only if the
// program exits with 75, or does not stop near the limit.
func TestSlurmFlow(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("SKIPPED: sh is not installed")
	}
	const (
		work = "dgkip [-exp] [table1] [-only] [method:* -dataset:'mnist'] [-worker] [-for] [1h]\n"
		next = "scontrol [requeue] [7_3]\n"
		rest = "[--array=0] [--job-name=table1-tables] [--output=table1-tables.log] [--cpus-per-task=1] [--time=60] [JOB]\n"
	)
	for _, c := range []struct {
		name, does, task, id, want string
		exit                       int
	}{
		{"done", "exit 0", "3", "", work, 0},
		{"failed", "exit 1", "3", "", work, 1},
		{"interrupted", "exit 130", "3", "", work, 130},
		{"in time", "exit 75", "3", "", work + next + "sleep [60]\n", 75},
		{"killed", "kill -9 $$", "3", "", work, 137},
		{"cancelled", "kill -TERM $PPID; $SLEEP 0.3; exit 130", "3", "", work, 130},
		{"near the limit", "trap 'exit 75' USR1; kill -USR1 $PPID; while :; do $SLEEP 0.05; done", "3", "",
			work + "sleep [60]\n" + next + next + "sleep [60]\n", 75},
		{"at its end, near the limit", "trap '' USR1; kill -USR1 $PPID; exit 75", "3", "", work + "sleep [60]\n" + next + next + "sleep [60]\n", 75},
		{"near the limit, without an end", "trap : USR1; kill -USR1 $PPID; $SLEEP 1; exit 1", "3", "", work + "sleep [60]\n" + next, 1},
		{"tables", "exit 3", "0", "", "dgkip [-exp] [table1] [-only] [method:* -dataset:'mnist'] [-collect]\n", 3},
		{"submitted", "", "", "42", "sbatch [--parsable] [JOB]\nsbatch [--dependency=afterany:42] " + rest, 0},
		{"submitted, with several clusters", "", "", "42;two", "sbatch [--parsable] [JOB]\nsbatch [--clusters=two] [--dependency=afterany:42] " + rest, 0},
	} {
		dir := t.TempDir()
		job := program(t, filepath.Join(dir, "job.sh"), printed(t))
		for name, does := range map[string]string{"sbatch": "echo '" + c.id + "'", "scontrol": "", "sleep": "", "dgkip": c.does} {
			// Each line is one write, because two programs may log at once.
			program(t, filepath.Join(dir, name), "#!/bin/sh\nline=$(printf '%s' "+name+"; printf ' [%s]' \"$@\")\nprintf '%s\\n' \"$line\" >>log\n"+does+"\n")
		}
		real, _ := exec.LookPath("sleep")
		cmd := exec.Command(shell, job)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLEEP="+real, "SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID="+c.task)
		out, err := cmd.CombinedOutput()
		exit := 0
		if failed := new(exec.ExitError); errors.As(err, &failed) {
			exit = failed.ExitCode()
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		// Background commands log at any time, so the order is ignored.
		lines := func(s string) []string { return slices.Sorted(strings.Lines(s)) }
		if want := strings.ReplaceAll(c.want, "JOB", job); exit != c.exit || !slices.Equal(lines(string(b)), lines(want)) {
			t.Errorf("%s: exit %d, want %d; log\n%swant\n%s%s", c.name, exit, c.exit, b, want, out)
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

// The job's limit leaves time to save after the worker's limit.
func TestMinutes(t *testing.T) {
	for limit, want := range map[time.Duration]int64{20 * time.Second: 6, time.Hour: 66, 12 * time.Hour: 750} {
		if got := (Job{Limit: limit}).Minutes(); got != want {
			t.Errorf("%v: %d minutes, want %d", limit, got, want)
		}
	}
}
