package engine_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/progress"
	"dgkip/harness/store"
)

func TestFailuresAreIsolated(t *testing.T) {
	const wrong = `schema = 1
name = "t"
title = "T"
[grid]
dataset = ["a"]
ipc = [1]
method = ["walk", "error", "panic", "nan", "heedless", "infinite", "many", "more", "wider"]
[method.error]
use = "walk"
wrong = "error"
[method.panic]
use = "walk"
wrong = "panic"
[method.nan]
use = "walk"
wrong = "nan"
[method.heedless]
use = "walk"
wrong = "heedless"
[method.infinite]
use = "walk"
wrong = "score"
[method.more]
use = "walk"
wrong = "more"
[method.wider]
use = "walk"
wrong = "wider"
[method.many]
use = "walk"
updates = 7
[[set]]
when = { method = "infinite" }
with = { eval = { half = { wrong = true } } }
`
	p := plan(t, wrong)
	s := store.Open(t.TempDir())
	if out := execute(t, p, s, options()); out != (engine.Outcome{Computed: 2, Failed: 7, Broke: 7}) {
		t.Errorf("outcome %+v", out)
	}
	for _, r := range p.Runs {
		f := s.Failed(r.Key)
		want := map[string]string{"error": "error: out of luck", "panic": "panic: out of order", "nan": "not-finite: loss is NaN at update 2", "heedless": "not-finite: loss is NaN at update 2", "infinite": "not-finite: test_acc is +Inf at update 6",
			"more":  "error: method walk: distilled set: it has 3 images, but ipc 1 with 2 classes needs 2",
			"wider": "error: method walk: distilled set: 2 classes of 4x16x1 images, but the data has 2 of 8x8x1"}[r.Cell.Column]
		got := ""
		if f != nil {
			got = f.Kind + ": " + f.Message
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", r.Cell.Column, got, want)
		}
		if f != nil && f.Kind == "panic" && !strings.Contains(f.Stack, "Distill") {
			t.Errorf("the stack does not lead to the method:\n%s", f.Stack)
		}
	}
	if out := execute(t, p, s, options()); out != (engine.Outcome{Before: 2, Failed: 7}) {
		t.Errorf("the second time: %+v", out)
	}
	o := options()
	o.Retry = time.Now()
	for _, broke := range []int{7, 0} { // the failures of the first time are later than Retry
		if out := execute(t, p, s, o); out != (engine.Outcome{Before: 2, Failed: 7, Broke: broke}) {
			t.Errorf("retried: %+v", out)
		}
	}
}

func TestDamagedCheckpoint(t *testing.T) {
	p, want := reference(t, text)
	s := store.Open(t.TempDir())
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	for i, r := range p.Runs {
		if i%2 == 0 {
			err := os.WriteFile(filepath.Join(s.Dir(), "work", "checkpoints", r.Key+".ckpt"), []byte("rubbish"), 0o666)
			if err != nil {
				t.Fatal(err)
			}
		} else if err := s.SaveCheckpoint(r.Key, []byte("rubbish")); err != nil {
			t.Fatal(err)
		}
	}
	var messages bytes.Buffer
	o := options()
	o.Board = progress.New(&messages, false)
	execute(t, p, s, o)
	if got := contents(t, p, s); !maps.Equal(got, want) {
		t.Error("records differ")
	}
	if !strings.Contains(messages.String(), "is damaged; starting over") || !strings.Contains(messages.String(), "has an unknown format; starting over") {
		t.Errorf("messages: %s", &messages)
	}
}

func TestStorageFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := engine.Execute(context.Background(), plan(t, text), store.Open(file), options())
	if !errors.Is(err, store.ErrStorage) {
		t.Errorf("got %v", err)
	}
	// During runs.
	dir := t.TempDir()
	hook = func(_ context.Context, update int) {
		if update == 3 {
			os.RemoveAll(filepath.Join(dir, "work", "tmp"))
			os.WriteFile(filepath.Join(dir, "work", "tmp"), nil, 0o666)
		}
	}
	defer func() { hook = func(context.Context, int) {} }()
	o := options()
	o.CheckpointEvery = time.Nanosecond
	_, err = engine.Execute(context.Background(), plan(t, text), store.Open(dir), o)
	if !errors.Is(err, store.ErrStorage) {
		t.Errorf("during runs: %v", err)
	}
}

func TestMissingData(t *testing.T) {
	s, err := experiment.Parse("t.toml", strings.Replace(text, `["a", "b"]`, `["a", "c"]`, 1), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (engine.Lookup{Source: source{}}).Make(context.Background(), []*experiment.Spec{s}, experiment.Filter{}); err == nil || err.Error() != "c: no such data" {
		t.Errorf("got %v", err)
	}
	only, err := experiment.ParseFilter("dataset:a seed:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Lookup{Source: source{}}.Make(context.Background(), []*experiment.Spec{s}, only)
	if err != nil || len(p.Runs) != 2 {
		t.Errorf("%v, %v", p, err)
	}
}
