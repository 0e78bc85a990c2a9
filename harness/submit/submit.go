// Package submit prints a job script for Slurm. It starts workers, all alike, that claim
// runs until there are none left.
package submit

import (
	_ "embed"
	"io"
	"regexp"
	"strings"
	"text/template"
	"time"
)

// Job is several workers, and what each of them needs.
type Job struct {
	Name    string
	About   string // for people, one line
	Program string // how to start it
	Work    []string
	Collect []string // arguments of a worker, and of what writes tables when all are done
	Workers int
	CPUs    int
	Memory  int64         // bytes
	Limit   time.Duration // a worker stops by itself after this time
}

//go:embed slurm.sh
var slurm string

var script = template.Must(template.New("").Funcs(template.FuncMap{"join": command}).Parse(slurm))

// Print writes the job script.
func Print(out io.Writer, j Job) error { return script.Execute(out, j) }

// MiB is the memory in Slurm's units.
func (j Job) MiB() int64 { return (j.Memory + 1<<20 - 1) >> 20 }

// Minutes is the time that a job asks for: room to save what it is at comes on top.
func (j Job) Minutes() int64 {
	room := min(max(j.Limit/10, 5*time.Minute), 30*time.Minute)
	return int64((j.Limit + room + time.Minute - 1) / time.Minute)
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Name makes a name that Slurm accepts.
func Name(s string) string {
	s = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if s == "" {
		return "dgkip"
	}
	return strings.Trim(s[:min(len(s), 40)], "-")
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:,=@%+-]+$`)

// quoted writes an argument for a shell.
func quoted(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// command writes a command for a shell.
func command(program string, args []string) string {
	parts := []string{quoted(program)}
	for _, a := range args {
		parts = append(parts, quoted(a))
	}
	return strings.Join(parts, " ")
}
