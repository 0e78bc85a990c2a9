package store

import (
	"slices"
	"time"

	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
)

// RecordSchema is the version of the records' form.
const RecordSchema = 2

// Result is result.json: what a run found, a function of its identity alone. Its
// bytes are the same wherever and however often it is computed.
type Result struct {
	Schema   int                 `json:"schema"`
	Key      string              `json:"key"` // SHA-256 of the identity's canonical JSON
	Identity experiment.Identity `json:"identity"`

	// Metrics are single numbers by name: test_acc, a fraction in [0, 1], always;
	// others as the protocol and the method's last trace line have them, the
	// method's with "last." in front, where the protocol has none of that name. Of a pool the
	// protocol's are in the run's own networks, the method's in those of the pool.
	Metrics map[string]float64 `json:"metrics"`
	// Counts are integers by name, one for every repetition of the scoring:
	// test_errors always, and test_images, a single one.
	Counts map[string][]int64 `json:"counts"`

	Updates int      `json:"updates"` // of the distilled set
	Images  int      `json:"images"`  // in it; 0 for the whole training set
	Notes   []string `json:"notes,omitempty"`

	// Digests are of the contents of distilled.npz: its arrays, not its packaging.
	Digests map[string]string `json:"digests"`
}

// Provenance is provenance.json: where a result comes from and what it took.
type Provenance struct {
	Schema   int       `json:"schema"`
	Key      string    `json:"key"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Wall     float64   `json:"wall_seconds"` // all sessions together, scoring included
	CPU      float64   `json:"cpu_seconds"`
	Memory   int64     `json:"peak_memory_bytes"`

	// Shared says that CPU and Memory are not the run's own: they are of the whole
	// process, in which other runs were under way (-jobs > 1). Memory, a peak, may also
	// be an earlier run's where the system does not let a process forget that.
	Shared bool `json:"shared"`

	Scoring  float64   `json:"scoring_seconds"` // part of Wall
	Timing   Timing    `json:"timing"`
	Sessions []Session `json:"sessions"` // one, and one more for every time it was resumed

	// Of is the run that made the set, where this one only scored it otherwise: its
	// times and sessions are counted in, those of the method are its own.
	Of string `json:"of,omitempty"`

	Dataset Dataset `json:"dataset"`

	// Experiment and Cell say for which cell of which experiment the run was made.
	Experiment string            `json:"experiment"`
	Profile    string            `json:"profile"`
	Cell       map[string]string `json:"cell"`

	// Trace says which lines the trace has.
	Trace experiment.Trace `json:"trace"`
}

// Dataset says which data was read.
type Dataset struct {
	Title   string   `json:"title"`
	BuiltIn bool     `json:"built_in"`
	Files   []string `json:"files,omitempty"`
	Shape   Shape    `json:"shape,omitzero"`
}

// Shape is what the time and memory of a run depend on, of all that is in its data.
type Shape struct {
	Train    int `json:"train"` // images
	Test     int `json:"test"`
	Height   int `json:"height"`
	Width    int `json:"width"`
	Channels int `json:"channels"`
}

// Session is a stretch of work on a run without interruption.
type Session struct {
	Host    env.Host  `json:"host"`
	Kernels string    `json:"kernels"`        // path in use
	Code    string    `json:"code,omitempty"` // digest of the sources of method and protocol, where they are there
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Args    []string  `json:"args"`
	Jobs    int       `json:"jobs"`
	Threads int       `json:"threads"`
	Beside  bool      `json:"beside,omitzero"` // other processes made runs of the folder on this host
	From    int       `json:"from_update"`
}

// Timing is the time that an update of the distilled set and an iteration take, without
// scoring, tracing and checkpoints.
type Timing struct {
	Median   float64 `json:"seconds_per_update"` // 0 without updates; the training of networks between updates is left out
	Counted  int     `json:"updates_counted"`
	Excluded int     `json:"updates_excluded"` // the first of every session

	// Iteration is the median time of an iteration, with the training of networks. It is 0
	// in records made before iterations were timed.
	Iteration    float64 `json:"seconds_per_iteration,omitempty"`
	PerIteration int     `json:"updates_per_iteration,omitempty"`

	// Flops is the number of floating-point operations of an update, if the method
	// tells: it compares across machines.
	Flops float64 `json:"flops_per_update,omitempty"`

	// Shared says that other runs had a part of the machine (-jobs > 1, or other
	// processes that make runs for the same folder), Hosts on how many machines the
	// updates were made. Tables flag such timings.
	Shared bool `json:"shared_machine"`
	Hosts  int  `json:"hosts"`
}

// TimingRow is a line of timing.csv: seconds per update from one to another.
type TimingRow struct {
	From, To int
	Seconds  float64 // of one update, on average
	Before   float64 // what was spent before it, such as on training a network; not in the file
}

// Trace is trace.csv: what was observed along a run. The first column is update,
// the others are sorted by name. A NaN stands for a value that was not taken.
type Trace struct {
	Columns []string
	Rows    [][]float64
}

// Column returns a column by its name, nil if there is none.
func (t *Trace) Column(name string) []float64 {
	j := slices.Index(t.Columns, name)
	if j < 0 {
		return nil
	}
	out := make([]float64, len(t.Rows))
	for i, r := range t.Rows {
		out[i] = r[j]
	}
	return out
}

// Record is a finished run.
type Record struct {
	Dir        string
	Result     Result
	Provenance Provenance

	sums  map[string]string // of its files, by name
	whole bool              // all files were held against them
}

// Draft is what Put makes a record of.
type Draft struct {
	Result     Result // without Schema, Key, Images and Digests, which Put fills in
	Provenance Provenance
	Trace      Trace
	Timing     []TimingRow
	Set        *method.Distilled
}

// Failure is failed/.../failure.json: a run that ended without a result.
type Failure struct {
	Schema   int                 `json:"schema"`
	Key      string              `json:"key"`
	Identity experiment.Identity `json:"identity"`
	Kind     string              `json:"kind"` // error, panic or not-finite
	Message  string              `json:"message"`
	Stack    string              `json:"stack,omitempty"`
	Update   int                 `json:"update"` // the last one seen
	When     time.Time           `json:"when"`
	Session  Session             `json:"session"`
	Cell     map[string]string   `json:"cell"`
}
