// Package submit prints a job script for Slurm. The job starts identical workers, which claim runs
// until none are left.
package submit

import (
	_ "embed"
	"io"
	"regexp"
	"strings"
	"text/template"
	"time"
)

// Job describes the workers, and the resources of each of them.
type Job struct {
	Name    string
	About   string   // comment in the script
	Program string   // command that starts the program
	Work    []string // arguments of a worker
	Collect []string // arguments of the job that writes the tables afterwards
	Workers int
	CPUs    int
	Memory  int64         // bytes
	Limit   time.Duration // time after which a worker stops by itself
}

//go:embed slurm.sh
var slurm string

var script = template.Must(template.New("").Funcs(template.FuncMap{"join": command}).Parse(slurm))

// Print writes the job script to out.
func Print(out io.Writer, j Job) error { return script.Execute(out, j) }

// MiB returns the memory of a worker in MiB, rounded up.
func (j Job) MiB() int64 { return (j.Memory + 1<<20 - 1) >> 20 }

// Minutes returns the time limit of the job: the limit of a worker, plus time to save its state.
func (j Job) Minutes() int64 {
	room := min(max(j.Limit/10, 5*time.Minute), 30*time.Minute)
	return int64((j.Limit + room + time.Minute - 1) / time.Minute)
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Name turns s into a name that Slurm accepts.
func Name(s string) string {
	s = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if s == "" {
		return "dgkip"
	}
	return strings.Trim(s[:min(len(s), 40)], "-")
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:,=@%+-]+$`)

// quoted quotes an argument for a shell.
func quoted(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// command returns a command line for a shell.
func command(program string, args []string) string {
	parts := []string{quoted(program)}
	for _, a := range args {
		parts = append(parts, quoted(a))
	}
	return strings.Join(parts, " ")
}
