package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"dgkip/harness/method"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// State is what a plan knows of a run.
type State int

// States of a run.
const (
	Missing State = iota
	Done
	Failed
	Begun // with a checkpoint
)

// Forecast is what is expected of a run that is still to be made.
type Forecast struct {
	State   State
	Again   bool    // it failed, and is tried again
	Seconds float64 // 0 if unknown
	Shared  float64 // part of Seconds: for what runs of its group need, if it is the first
	Basis   string  // "the same cell", "similar runs", "operations", or "" if unknown

	// Bytes is how much memory it needs, 0 if unknown: a peak that was Measured in a
	// run of its kind, or else at least so much.
	Bytes    int64
	Measured bool
}

// Machine is what runs are forecast for.
type Machine struct {
	Threads int // that a run has

	// CPU and Kernels are those of its records, which count before those of other
	// machines; "" if any machine is as good.
	CPU, Kernels string

	// Speed returns what operations are converted to time with, per second; 0 if that is
	// not known. It is asked where no records of the same kind say how long a run takes.
	Speed func() float64
}

// another reports whether a record was made on a machine of another kind.
func (m Machine) another(p store.Provenance) bool {
	return m.CPU != "" && slices.ContainsFunc(p.Sessions, func(s store.Session) bool {
		return s.Host.CPU != m.CPU || s.Kernels != m.Kernels
	})
}

// atWork is the part of the time for which threads have work, where there are few of them:
// the median of the records of two threads.
const atWork = 0.8

// slower is how many times as long as a record a run of its kind takes on the machine: as
// long with as many threads, if no other process had a part of them. Otherwise it takes the
// same processor time, if the record tells its own, and not that of several runs (-jobs).
func (m Machine) slower(p store.Provenance) float64 {
	if len(p.Sessions) == 0 {
		return 1
	}
	last := p.Sessions[len(p.Sessions)-1]
	threads, beside := last.Threads/max(1, last.Jobs), func(x store.Session) bool { return x.Beside }
	switch {
	case p.Shared:
		return ratio(float64(threads), float64(m.Threads))
	case threads == m.Threads && !slices.ContainsFunc(p.Sessions, beside):
		return 1
	}
	return ratio(p.CPU, p.Wall*atWork*float64(m.Threads))
}

// Forecasts says of every run of a plan whether it is done and, if not, how long it
// may take: as the same cell took with another seed, or on other data of the same
// shape; else as long as records of the same method and networks let expect, scaled
// by operations; and where there are none, by its operations alone. A set that is on
// record, or that a run before it makes, is not made again. Runs that failed before the time retry
// count as still to be made, and with force so do all.
func Forecasts(p *Plan, s *store.Store, m Machine, retry time.Time, force bool) ([]Forecast, error) {
	past, err := readHistory(s, m)
	if err != nil {
		return nil, err
	}
	if force {
		clear(past.sets)
	}
	out := make([]Forecast, len(p.Runs))
	paid := map[string]float64{} // operations that the runs before it have made for a group
	for i, r := range p.Runs {
		f := &out[i]
		if !force && s.Has(r.Key) {
			f.State = Done
			continue
		}
		failure := s.Failed(r.Key)
		f.Again = failure != nil
		if f.Again && !failure.Before(retry) && !force {
			f.State = Failed
			continue
		}
		if state, err := s.Checkpoint(r.Key, force); state != nil && err == nil {
			f.State = Begun
		}
		set, alike := makes(r.Identity), r.distillation() != ""
		past.forecast(f, r, alike && past.sets[set], paid)
		past.sets[set] = past.sets[set] || alike
	}
	return out, nil
}

// history is what records say of the time and memory of runs, by kinds of runs.
type history struct {
	Machine
	seconds map[string][]wall // of the same cell, and of the same settings
	like    map[string][]past // runs of the same method with the same networks
	memory  map[peak]int64    // the least that a process needed
	sets    map[string]bool   // that can be scored otherwise
	shared  map[string][]wall // runs of any method that found little ready of what they share
}

// wall is how long a run takes by a record, and how long the scoring of its set.
type wall struct {
	seconds, scoring float64
	parts            float64 // of seconds: for what it shared, where the record tells; else 0
	whole            bool    // little of these was found ready, and only read
	another          bool    // it was on a machine of another kind
	rough            bool    // the scoring: sets were scored on the way as well, maybe by less
	beside           bool    // other runs had a part of the machine
}

// past is what the time that a run took was made of.
type past struct {
	wall
	size     method.Sizes
	eval     string
	settings string // the method's settings
	shared   string // with whom it shares what, but for seeds
	updates  float64
	pace     float64 // seconds of an update
	flops    float64 // of an update, if they are known
	rest     float64 // seconds for all else, without its parts
}

// peak names the memory of processes for a kind of run, which had others at the same
// time or not.
type peak struct {
	kind   string
	shared bool
}

func readHistory(s *store.Store, m Machine) (*history, error) {
	keys, err := s.Keys()
	if err != nil {
		return nil, err
	}
	h := &history{m, map[string][]wall{}, map[string][]past{}, map[peak]int64{}, map[string]bool{}, map[string][]wall{}}
	for _, key := range keys {
		if r, err := s.Get(key); err == nil { // -collect names the others
			h.add(r)
		}
	}
	return h, nil
}

func (h *history) add(r *store.Record) {
	p, id, shape := r.Provenance, r.Result.Identity, r.Provenance.Dataset.Shape
	k := kindsOf(id, shape)
	if reusable(r) && r.HasSet() {
		h.sets[makes(id)] = true
	}
	slower := h.slower(p)
	scores := 1.0
	for _, every := range p.Trace.Score {
		scores += 1 + float64(r.Result.Updates/max(1, every))
	}
	took, pace := wall{slower * p.Wall, slower * p.Scoring / scores, 0, false, h.another(p), scores > 1, p.Shared}, slower*p.Timing.Median
	read := 0.0
	for _, part := range p.Parts {
		took.parts += slower * part.Seconds
		if strings.HasPrefix(part.What, method.ReadingFeatures) {
			read += slower * part.Seconds
		}
	}
	took.parts = min(took.parts, took.seconds)
	if p.Of != "" { // then the time is that of two runs, and the parts are the second one's
		took.parts = 0
	}
	if took.whole = read < 0.1*took.parts; took.whole {
		h.shared[k.shared] = append(h.shared[k.shared], took)
	}
	h.seconds[k.cell] = append(h.seconds[k.cell], took)
	if shape == (store.Shape{}) {
		return
	}
	h.seconds[k.whole] = append(h.seconds[k.whole], took)
	updates := float64(p.Timing.Counted + p.Timing.Excluded)
	h.like[k.like] = append(h.like[k.like], past{
		wall: took,
		size: method.Sizes{Train: shape.Train, Test: shape.Test, Classes: len(id.Dataset.Classes), H: shape.Height, W: shape.Width, C: shape.Channels, IPC: id.IPC},
		eval: k.eval, settings: k.settings, shared: k.shared, updates: updates, pace: pace, flops: p.Timing.Flops, rest: max(0, took.seconds-took.parts-float64(pace*updates)),
	})
	// The lowest peak is nearest to a run's own: on some systems a process also has
	// those of its earlier runs.
	at := peak{k.memory, p.Shared}
	if least := h.memory[at]; least == 0 || p.Memory > 0 && p.Memory < least {
		h.memory[at] = p.Memory
	}
}

// forecast fills in time and memory of a run. The first run of a group pays for what
// they share. A twin only scores a set.
func (h *history) forecast(f *Forecast, r *Run, twin bool, paid map[string]float64) {
	size := r.sizes()
	k := kindsOf(r.Identity, store.Shape{Train: size.Train, Test: size.Test, Height: size.H, Width: size.W, Channels: size.C})
	m, scoring := estimates(r, size)
	f.Bytes = max(m.Bytes, scoring.Bytes)
	if n := cmp.Or(h.memory[peak{k.memory, false}], h.memory[peak{k.memory, true}]); n > 0 {
		f.Bytes, f.Measured = n, true
	}
	shared := sharedBy(m, scoring)
	if twin {
		m = method.Estimate{}
	}
	group := r.group()
	due := pay(paid, group, max(m.Shared, scoring.Shared)) + pay(paid, group+scoring.Networks, scoring.Drawn)
	operations := m.Setup + scoring.Setup + due + (m.Flops+m.Between)*float64(m.Updates)
	alone := false // f.Seconds lacks what is shared, which comes on top
	switch {
	case len(h.seconds[k.cell]) > 0:
		f.Seconds, alone = middle(h.seconds[k.cell], twin)
		f.Basis = "the same cell"
	case len(h.seconds[k.whole]) > 0:
		f.Seconds, alone = middle(h.seconds[k.whole], twin)
		f.Basis = "similar runs"
	case h.tells(k, m.Updates):
		f.Seconds, alone = h.scaled(r, k, twin)
		f.Basis = "similar runs"
	case operations+m.Shared+scoring.Shared+scoring.Drawn > 0 && h.Speed() > 0:
		f.Seconds, f.Basis = operations/h.Speed(), "operations"
	}
	share := due / operations
	switch {
	case alone && due > 0:
		f.Shared = due * h.sharing(k, shared)
		f.Seconds += f.Shared
	case share > 0 && share <= 1:
		f.Shared = share * f.Seconds
	}
	if !(f.Seconds >= 0 && f.Seconds <= math.MaxFloat64) {
		f.Seconds, f.Shared, f.Basis = 0, 0, ""
	}
}

// sharing is how many seconds an operation takes of those that runs share: by the record of
// the method on such data that spent most on them, as others found more ready, by the median
// of other methods', which share with other ones, or as the machine does. Records of runs
// that had the machine to themselves go before others.
func (h *history) sharing(k kinds, operations float64) float64 {
	var same []wall
	for _, p := range prefer(h.like[k.like], func(p past) bool { return p.settings == k.settings }) {
		if p.whole && p.eval == k.eval && p.shared == k.shared {
			same = append(same, p.wall)
		}
	}
	parts := func(all []wall) []float64 {
		out := []float64{0}
		all = prefer(all, func(w wall) bool { return !w.another })
		for _, w := range prefer(all, func(w wall) bool { return !w.beside }) {
			out = append(out, w.parts)
		}
		slices.Sort(out)
		return out
	}
	others := parts(h.shared[k.shared])
	switch seconds := cmp.Or(slices.Max(parts(same)), others[len(others)/2]); {
	case seconds > 0:
		return seconds / operations
	case h.Speed() > 0:
		return 1 / h.Speed()
	}
	return 0
}

// sharedBy is the number of operations that a run shares with others.
func sharedBy(m, scoring method.Estimate) float64 {
	return max(m.Shared, scoring.Shared) + scoring.Drawn
}

// pay returns what a group still lacks of shared operations, which are then made.
func pay(paid map[string]float64, group string, operations float64) float64 {
	due := max(0, operations-paid[group])
	paid[group] += due
	return due
}

// tells reports whether there are records that a run's time can be scaled from. What
// another scoring took says nothing; the time of an update does, if the run makes any.
func (h *history) tells(k kinds, updates int) bool {
	like := h.like[k.like]
	scored := func(p past) bool { return p.eval == k.eval }
	paced := func(p past) bool { return updates > 0 && p.pace > 0 }
	return slices.ContainsFunc(like, scored) || slices.ContainsFunc(like, paced) && h.Speed() > 0
}

// nearest is by how many of the records that are most like it a run is judged.
const nearest = 3

// scaled is the median of the times that records let expect of a run: an update and all
// else take longer in proportion to their operations. The records nearest in these count.
// Those that were scored otherwise, or made updates where the run makes none, are poor.
// Alone says that what is shared is not in it: the record's parts were taken off, or the rest
// was reckoned from operations.
func (h *history) scaled(r *Run, k kinds, twin bool) (seconds float64, alone bool) {
	ours, oursScoring := estimates(r, r.sizes())
	if twin {
		ours = method.Estimate{}
	}
	updates := float64(ours.Updates)
	var all []guess
	for _, p := range h.like[k.like] {
		p.size.Model = r.Cell.Net
		theirs, theirsScoring := estimates(r, p.size)
		if twin {
			theirs, p.rest = method.Estimate{}, p.scoring
		}
		pace := ratio(ours.Flops, cmp.Or(p.flops, theirs.Flops))
		apart, count := !twin && p.parts > 0, allBut
		if apart {
			count = own
		}
		rest := ratio(count(ours, oursScoring, updates), count(theirs, theirsScoring, p.updates))
		g := guess{
			making: updates * p.pace * pace, rest: p.rest * rest, distance: math.Abs(math.Log(pace)) + math.Abs(math.Log(rest)),
			poor: p.eval != k.eval || twin && p.rough || !twin && (p.updates > 0) != (updates > 0), another: p.another, otherwise: p.settings != k.settings, alone: apart,
		}
		if p.eval != k.eval {
			if !(updates > 0 && p.pace > 0 && h.Speed() > 0) {
				continue
			}
			g.rest, g.alone = own(ours, oursScoring, updates)/h.Speed(), true
		}
		all = append(all, g)
	}
	g := typical(all)
	return g.making + g.rest, g.alone
}

// guess is the time that one record lets expect.
type guess struct {
	making, rest, distance float64
	poor, another          bool // it counts only if there are none that are not
	otherwise              bool // other settings, such as draws, may take much that ours do not: it counts last
	alone                  bool // it is without what is shared
}

// typical is the median of the guesses from the nearest records.
func typical(all []guess) guess {
	all = prefer(all, func(g guess) bool { return !g.poor })
	all = prefer(all, func(g guess) bool { return !g.another })
	all = prefer(all, func(g guess) bool { return !g.otherwise })
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(a.distance, b.distance) })
	all = all[:min(nearest, len(all))]
	slices.SortStableFunc(all, func(a, b guess) int { return cmp.Compare(a.making+a.rest, b.making+b.rest) })
	return all[len(all)/2]
}

// allBut is the number of operations beside so many updates.
func allBut(m, scoring method.Estimate, updates float64) float64 {
	return own(m, scoring, updates) + sharedBy(m, scoring)
}

// own is allBut without those that are shared.
func own(m, scoring method.Estimate, updates float64) float64 {
	return m.Between*updates + m.Setup + scoring.Setup
}

// ratio is how many times as many operations a has as b, 1 if either is not known.
func ratio(a, b float64) float64 {
	if a > 0 && b > 0 {
		return a / b
	}
	return 1
}

// middle is the median time, or that of scoring alone, and whether it is without what is
// shared.
func middle(x []wall, scoring bool) (seconds float64, alone bool) {
	x = prefer(x, func(w wall) bool { return !w.another })
	if scoring {
		x = prefer(x, func(w wall) bool { return !w.rough })
		for i, w := range x {
			x[i] = wall{seconds: w.scoring}
		}
	} else {
		x = prefer(x, func(w wall) bool { return w.parts > 0 })
	}
	slices.SortFunc(x, func(a, b wall) int { return cmp.Compare(a.seconds-a.parts, b.seconds-b.parts) })
	w := x[len(x)/2]
	return w.seconds - w.parts, w.parts > 0
}

// prefer returns a copy with those that are good, or with all if none is.
func prefer[T any](all []T, good func(T) bool) []T {
	var out []T
	for _, x := range all {
		if good(x) {
			out = append(out, x)
		}
	}
	if out == nil {
		return slices.Clone(all)
	}
	return out
}

// kinds are names for runs that are alike in what a forecast needs.
type kinds struct{ cell, whole, like, eval, settings, memory, shared string }

func kindsOf(id spec.Identity, shape store.Shape) kinds {
	name := func(parts ...any) string { return string(spec.Canonical(parts)) }
	k := kinds{
		like: name(id.Method.Name, id.Method.Version, id.Model), eval: name(id.Eval), settings: name(id.Method.Settings),
		memory: name(id.Method.Name, id.Method.Version, id.Model, id.IPC, id.Eval, shape, len(id.Dataset.Classes)),
		shared: name(id.Model, shape, len(id.Dataset.Classes)),
	}
	k.whole = k.memory + k.settings
	id.Seed = 0
	k.cell = name(id)
	return k
}

// estimates are what a run's method and its scoring are expected to need on data of
// some size.
func estimates(r *Run, size method.Sizes) (m, scoring method.Estimate) {
	own := r.Cell.Method()
	if e, ok := own.(method.Estimator); ok {
		m = e.Estimate(size)
	}
	if own.Info().IgnoresIPC {
		size.IPC = 0
	}
	if e, ok := r.Cell.Protocol.(method.Estimator); ok {
		scoring = e.Estimate(size)
	}
	return m, scoring
}
