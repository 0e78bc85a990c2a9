// Package submit prints what batch systems take: a job script for Slurm, a manifest for
// Kubernetes. Both start workers, all alike, that claim runs until there are none left.
package submit

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"
)

// Job is several workers, and what each of them needs.
type Job struct {
	Name    string
	About   string // for people, one line
	Program string // how to start it; a container has its own
	Work    []string
	Collect []string // arguments of a worker, and of what writes tables when all are done
	Workers int
	CPUs    int
	Memory  int64         // bytes
	Limit   time.Duration // a worker stops by itself after this time
}

//go:embed slurm.sh
var slurm string

//go:embed k8s.yaml
var k8s string

var templates = map[string]*template.Template{"slurm": parse(slurm), "k8s": parse(k8s)}

func parse(text string) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"join": command, "json": list}).Parse(text))
}

// Systems lists the batch systems that jobs can be printed for.
func Systems() []string { return slices.Sorted(maps.Keys(templates)) }

// Print writes what a batch system takes.
func Print(out io.Writer, system string, j Job) error {
	t := templates[system]
	if t == nil {
		return fmt.Errorf("no batch system %q", system)
	}
	return t.Execute(out, j)
}

// MiB is the memory in the units of batch systems.
func (j Job) MiB() int64 { return (j.Memory + 1<<20 - 1) >> 20 }

// Minutes is the time that a job asks for: room to save what it is at comes on top.
func (j Job) Minutes() int64 {
	room := min(max(j.Limit/10, 5*time.Minute), 30*time.Minute)
	return int64((j.Limit + room + time.Minute - 1) / time.Minute)
}

// Retries is how many failures a job bears: some a worker, as its host or its network may
// be at fault.
func (j Job) Retries() int { return 10 * j.Workers }

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Name makes a name that batch systems accept.
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

// list writes arguments as JSON, which is YAML as well.
func list(args []string) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(args)
	return strings.TrimSpace(b.String()), err
}
