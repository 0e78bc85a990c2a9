package engine_test

import (
	"testing"

	"dgkip/harness/store"
)

// What a run prepares is timed by name, and ends with the first update.
func TestParts(t *testing.T) {
	const one = `schema = 1
name = "t"
title = "T"
[grid]
dataset = ["a"]
ipc = [1]
method = ["prepares"]
[method.prepares]
use = "walk"
updates = 8
wrong = "prepares"
`
	p := plan(t, one)
	s := store.Open(t.TempDir())
	execute(t, p, s, options())
	record, err := s.Get(p.Runs[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	of := record.Provenance
	if len(of.Parts) != 2 || of.Parts[0].What != "straw" || of.Parts[1].What != "bricks" {
		t.Fatalf("parts %+v", of.Parts)
	}
	straw, bricks := of.Parts[0].Seconds, of.Parts[1].Seconds
	// Eight slow updates are no part of it.
	if least := surroundings.Seconds(); straw < 2*least || bricks < least || straw+bricks > of.Wall-8*least {
		t.Errorf("parts %+v of %v s, at least %v and %v", of.Parts, of.Wall, 2*least, least)
	}
	if m := of.Parts[1].Memory; m > of.Memory || m < 0 {
		t.Errorf("%d of %d bytes", m, of.Memory)
	}
}
