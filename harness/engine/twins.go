package engine

import "slices"

// A set that is scored by several protocols is made once, where a process makes one run
// after the other: what the method did does not depend on how it is scored.

// fromTwin takes up the distillation of a run that differs in its scoring alone, and
// reports whether there was one.
func (a *attempt) fromTwin() bool {
	if a.s.Method != nil { // this one has begun
		return false
	}
	key := a.run.distillation()
	a.group.mu.Lock()
	defer a.group.mu.Unlock()
	state, ok := a.group.states[key]
	if !ok || len(a.s.Past) > 0 || len(a.s.Tracing.Score) > 0 || !slices.Equal(a.s.Tracing.Every, state.Tracing.Every) {
		return false
	}
	if a.group.twins[key]--; a.group.twins[key] <= 1 {
		delete(a.group.states, key)
	}
	a.s = state.copy()
	a.from = max(0, a.s.Last)
	return true
}

// forTwins leaves what the method did to the runs that will score it otherwise.
func (a *attempt) forTwins() {
	key := a.run.distillation()
	a.group.mu.Lock()
	defer a.group.mu.Unlock()
	if key == "" || a.group.twins[key] < 2 || a.s.Set.Whole || len(a.s.Tracing.Score) > 0 {
		return
	}
	s := a.s.copy()
	a.close(&s)
	a.group.states[key] = s
}

// copy returns a state that shares nothing which a run changes.
func (s saved) copy() saved {
	s.Trace, s.Timing, s.Past = slices.Clone(s.Trace), slices.Clone(s.Timing), slices.Clone(s.Past)
	s.Set = s.Set.Clone()
	return s
}
