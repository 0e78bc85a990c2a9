// Package experiment reads experiments from TOML files. A file describes runs, and how to display them.
//
// The runs form a grid of cells. Each cell has the settings of its method, its networks and its protocol.
// Once the data is known, a cell also has an identity, which names its runs. The display sections describe
// a table, figures, published numbers, claims and deviations.
//
// Reading is strict. All mistakes in a file are reported at once, before anything runs, each with its line,
// a caret and the nearest valid name.
//
// Settings come in layers, of which later ones win:
//
//   - the defaults of the method,
//   - the sections of the methods and columns that a column uses,
//   - for each file, the outermost base first: its section with the chosen profile, then every [[set]] that
//     matches the cell,
//   - -set, and
//   - axes with a dot.
//
// An experiment may have a base, another experiment in its folder or in this program:
//
//	base = "table1"
//
// It then inherits the runs of table1, including the profiles. A key of the file, in any of these places,
// overrides the same key of the base. Name, title and display sections are not inherited.
package experiment

import (
	"reflect"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/toml"
)

// Schema is the version of the file format.
const Schema = 1

// DefaultProfile is the profile unless another is chosen.
const DefaultProfile = "short"

// Profiles returns the names of the profiles, which are sizes of an experiment.
func Profiles() []string { return []string{"smoke", "short", "full"} }

// Spec is an experiment under one profile.
type Spec struct {
	File    string
	Name    string
	Title   string
	About   string
	Profile string

	Axes     []Axis
	Cells    []*Cell
	Excluded []Excluded
	Seeds    int // the largest number of seeds of a cell; seeds count from 0
	Cache    Cache
	Data     map[string]Data   // the [data.NAME] sections
	Titles   map[string]string // of methods' columns, by name

	sections

	// Times is the experiment that supplies the times of the table, or nil.
	Times *Spec
}

// Axis is a dimension of the grid.
type Axis struct {
	Name   string
	Values []Value
}

// Excluded is a part of the grid that is not run.
type Excluded struct {
	Where  Where  `toml:"when" required:"true"`
	Reason string `toml:"reason" required:"true"`
}

// Cell is a point of the grid. Its runs only differ in their seeds.
type Cell struct {
	Exp     string
	Point   map[string]string
	Dataset string
	IPC     int
	Column  string // the method's name in this experiment
	Model   string // the networks' name in this experiment
	Seeds   int    // number of seeds, which count from 0

	Net      method.Model
	Protocol method.Protocol
	Trace    Trace
	Data     Data

	timing  []*Cell // cells of a table that show this cell's time, if it belongs to Spec.Times
	method  method.Method
	written [3]*toml.Node // settings that files give to the method, the networks and the protocol
}

// Method returns a new copy of the cell's method with its settings.
func (c *Cell) Method() method.Method {
	old := reflect.ValueOf(c.method).Elem()
	fresh := reflect.New(old.Type())
	fresh.Elem().Set(old)
	return fresh.Interface().(method.Method)
}

// CheckSizes returns an error if the cell cannot run on data of these sizes. It sets IPC and Model to the
// cell's.
func (c *Cell) CheckSizes(s method.Sizes) error {
	s.IPC, s.Model = c.IPC, c.Net
	return method.CheckSizes(c.method, c.Protocol, s)
}

// At returns the cell's coordinate on an axis, as used in filters and tables. "exp" also counts as an axis.
func (c *Cell) At(axis string) (string, bool) {
	if axis == "exp" {
		return c.Exp, true
	}
	text, ok := c.Point[axis]
	return text, ok
}

// Of returns the coordinates of a run of the cell, for filters.
func (c *Cell) Of(seed uint64) func(axis string) (string, bool) {
	return func(axis string) (string, bool) {
		if axis == "seed" {
			return strconv.FormatUint(seed, 10), true
		}
		return c.At(axis)
	}
}

// Identity returns the identity of the cell's run with a seed on the given data.
func (c *Cell) Identity(data DatasetIdentity, seed uint64) Identity {
	return c.IdentityOf(c.method, data, seed)
}

// IdentityOf is Identity with another method.
func (c *Cell) IdentityOf(m method.Method, data DatasetIdentity, seed uint64) Identity {
	info, scoring := m.Info(), c.Protocol.Info()
	id := Identity{
		Schema: IdentitySchema, Dataset: data, IPC: c.IPC, Seed: seed,
		Method: PartIdentity{info.Name, info.Version, toml.Settings(m)},
		Model:  toml.Settings(c.Net),
		Eval:   PartIdentity{scoring.Name, scoring.Version, toml.Settings(c.Protocol)},
	}
	if info.IgnoresIPC {
		id.IPC = 0
	}
	return id
}

// Cache sets the disk space for shared values that later starts of the program can reuse, none by default.
// It does not affect the identity of runs.
type Cache struct {
	Disk float64 `toml:"disk" min:"0" max:"1e6" hint:"write disk = 8, in GB"` // GB
}
