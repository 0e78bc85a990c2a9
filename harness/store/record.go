package store

import (
	"slices"
	"time"

	"dgkip/harness/env"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
)

// RecordSchema is the format version of records.
const RecordSchema = 2

// Result is the content of result.json. It depends only on the identity, so its bytes are the same
// on every machine.
type Result struct {
	Schema   int                 `json:"schema"`
	Key      string              `json:"key"` // SHA-256 of the identity's canonical JSON
	Identity experiment.Identity `json:"identity"`

	// Metrics are numbers by name. test_acc, in [0, 1], is always present. The others come from the
	// protocol, and from the method's last trace line with the prefix "last." unless the protocol
	// has a metric of the same name. With several draws, the protocol's metrics come from the run's
	// own networks and the method's from all draws.
	Metrics map[string]float64 `json:"metrics"`
	// Counts are integers by name, one for each repetition of the scoring. They include
	// test_errors, and test_images with a single number.
	Counts map[string][]int64 `json:"counts"`

	Updates int      `json:"updates"` // of the distilled set
	Images  int      `json:"images"`  // in the distilled set; 0 for the whole training set
	Notes   []string `json:"notes,omitempty"`

	// Digests of the arrays in distilled.npz. Compression does not affect them.
	Digests map[string]string `json:"digests"`
}

// Provenance is the content of provenance.json: how and where a result was computed.
type Provenance struct {
	Schema   int       `json:"schema"`
	Key      string    `json:"key"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Wall     float64   `json:"wall_seconds"` // of all sessions, with scoring
	CPU      float64   `json:"cpu_seconds"`
	Memory   int64     `json:"peak_memory_bytes"`

	// Shared is set if other runs were computed in the same process (-jobs > 1). CPU and Memory
	// then cover the whole process. On systems that cannot reset the peak, Memory may always
	// include earlier runs.
	Shared bool `json:"shared"`

	Scoring  float64   `json:"scoring_seconds"` // part of Wall
	Timing   Timing    `json:"timing"`
	Sessions []Session `json:"sessions"` // one, and another after each interruption

	// Of is the run that distilled the set, if this run only scored it. Wall, CPU and Sessions then
	// include the distillation, and Timing comes from that run.
	Of string `json:"of,omitempty"`

	Dataset Dataset `json:"dataset"`

	// Experiment, Profile and Cell name what the run was computed for.
	Experiment string            `json:"experiment"`
	Profile    string            `json:"profile"`
	Cell       map[string]string `json:"cell"`

	// Trace describes the lines that the trace has.
	Trace experiment.Trace `json:"trace"`
}

// Dataset describes the data of a run.
type Dataset struct {
	Title   string   `json:"title"`
	BuiltIn bool     `json:"built_in"`
	Files   []string `json:"files,omitempty"`
	Shape   Shape    `json:"shape,omitzero"`
}

// Shape holds the sizes of the data that determine the time and memory of a run.
type Shape struct {
	Train    int `json:"train"` // images
	Test     int `json:"test"`
	Height   int `json:"height"`
	Width    int `json:"width"`
	Channels int `json:"channels"`
}

// Session is an uninterrupted part of a run.
type Session struct {
	Host    env.Host  `json:"host"`
	Kernels string    `json:"kernels"`        // implementation in use
	Code    string    `json:"code,omitempty"` // digest of the sources of method and protocol; "" if unknown
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Args    []string  `json:"args"`
	Jobs    int       `json:"jobs"`
	Threads int       `json:"threads"`
	Busy    bool      `json:"beside,omitzero"` // the host was busy with other work
	From    int       `json:"from_update"`
}

// Timing holds the time of an update and of an iteration, without scoring, tracing and checkpoints.
type Timing struct {
	Median   float64 `json:"seconds_per_update"` // 0 without updates; excludes the training of networks between updates
	Counted  int     `json:"updates_counted"`
	Excluded int     `json:"updates_excluded"` // the first of every session

	// Iteration is the median time of an iteration, including the training of networks. It is 0 in
	// old records, whose iterations were not timed.
	Iteration    float64 `json:"seconds_per_iteration,omitempty"`
	PerIteration int     `json:"updates_per_iteration,omitempty"`

	// Shared is set if other runs used the same machine (-jobs > 1, other processes in the same
	// folder, or a busy machine). Hosts is the number of machines that computed updates. Tables mark times with
	// Shared set or Hosts > 1.
	Shared bool `json:"shared_machine"`
	Hosts  int  `json:"hosts"`
}

// Trace is the content of trace.csv: values observed during a run. The first column is update, and
// the others are sorted by name. NaN marks a missing value.
type Trace struct {
	Columns []string
	Rows    [][]float64
}

// Column returns a column by its name, or nil if it does not exist.
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

	sums map[string]string // checksums by file name
}

// Draft is the content of a new record.
type Draft struct {
	Result     Result // Put sets Schema, Key, Images and Digests
	Provenance Provenance
	Trace      Trace
	Set        *method.Distilled
}

// Failure is the content of failed/.../failure.json: a run that ended without a result.
type Failure struct {
	Schema   int                 `json:"schema"`
	Key      string              `json:"key"`
	Identity experiment.Identity `json:"identity"`
	Kind     string              `json:"kind"` // error, panic or not-finite
	Message  string              `json:"message"`
	Stack    string              `json:"stack,omitempty"`
	Update   int                 `json:"update"` // last update that was observed
	When     time.Time           `json:"when"`
	Session  Session             `json:"session"`
	Cell     map[string]string   `json:"cell"`
}
