// Package experiment reads experiments. What to run: a TOML file becomes a grid of cells,
// each with the settings of its method, its networks and its scoring, and, once the data
// is known, an identity that names its runs. What to show of them: a table, figures,
// published numbers, claims and deviations.
//
// Reading is strict. Every mistake in a file is reported with its line, a caret
// and the nearest valid name, all of them at once, before anything runs.
//
// Settings are layered: a method's own defaults, [method.NAME], the same in the
// chosen profile, then every [[set]] that matches the cell, later ones winning.
//
// An experiment may build on another one in its folder, or on one of the program's own:
//
//	base = "table1"
//
// It then takes over all that table1 says about what to run, its profiles included.
// What the file says itself, in any of these places, wins over whatever its base says
// of the same key. Title, name and what is shown are each file's own.
package experiment

import (
	"reflect"
	"strconv"

	"dgkip/harness/method"
	"dgkip/harness/toml"
)

// Schema is the version of the files' form.
const Schema = 1

// DefaultProfile is in use unless another is asked for.
const DefaultProfile = "desk"

// Profiles lists the sizes an experiment may be run in.
func Profiles() []string { return []string{"smoke", "desk", "paper"} }

// Spec is an experiment under one of its profiles.
type Spec struct {
	File    string
	Name    string
	Title   string
	About   string
	Profile string

	Axes     []Axis
	Cells    []*Cell
	Excluded []Excluded
	Seeds    int // of the cells that have most: 0, 1 and so on
	Cache    Cache
	Data     map[string]Data   // the [data.NAME] sections
	Titles   map[string]string // of methods' columns, by name
	Notes    []string          // on what the file has to no end

	sections

	// Times is the experiment that the table's times are of, nil for its own.
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

// Cell is a point of the grid. Its runs differ in their seed alone.
type Cell struct {
	Exp     string
	Point   map[string]string
	Dataset string
	IPC     int
	Column  string // the method's name in this experiment
	Model   string // the networks' name in this experiment
	Seeds   int    // how many: 0, 1 and so on

	Net      method.Model
	Protocol method.Protocol
	Trace    Trace
	Data     Data

	method  method.Method
	written [3]*toml.Node // what files say of the method, the networks and the scoring
}

// Method returns a fresh copy of the cell's method with its settings.
func (c *Cell) Method() method.Method {
	old := reflect.ValueOf(c.method).Elem()
	fresh := reflect.New(old.Type())
	fresh.Elem().Set(old)
	return fresh.Interface().(method.Method)
}

// CheckSizes returns why the cell cannot be run on data of these sizes, whose IPC and
// Model are the cell's own, or nil.
func (c *Cell) CheckSizes(s method.Sizes) error {
	s.IPC, s.Model = c.IPC, c.Net
	return method.CheckSizes(c.method, c.Protocol, s)
}

// At returns the cell's coordinate on an axis, as filters and tables name it.
// Beside the grid's axes there is "exp".
func (c *Cell) At(axis string) (string, bool) {
	if axis == "exp" {
		return c.Exp, true
	}
	text, ok := c.Point[axis]
	return text, ok
}

// Of returns the coordinates of the cell's run with a seed, for filters.
func (c *Cell) Of(seed uint64) func(axis string) (string, bool) {
	return func(axis string) (string, bool) {
		if axis == "seed" {
			return strconv.FormatUint(seed, 10), true
		}
		return c.At(axis)
	}
}

// Identity returns the identity of the cell's run with a seed on the data with a
// digest.
func (c *Cell) Identity(data DatasetIdentity, seed uint64) Identity {
	return c.IdentityOf(c.method, data, seed)
}

// IdentityOf is Identity for a method in the place of the cell's.
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

// Cache says how much of what runs share may be kept on disk from one start of the
// program to the next: nothing unless the experiment asks for it. It is no part of
// a run's identity.
type Cache struct {
	Disk Size `toml:"disk"`
}
