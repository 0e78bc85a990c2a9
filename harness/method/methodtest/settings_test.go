package methodtest

import (
	"reflect"
	"strings"
	"testing"
)

func TestFaults(t *testing.T) {
	type inner struct {
		Rate float64 `toml:"rate" min:"o"`
	}
	type settings struct {
		inner
		Steps  int
		Meant  int            `toml:"-"`
		Good   []string       `toml:"good" enum:"a,b"`
		Bound  float32        `toml:"bound" min:"0.5" max:"1e3"`
		Map    map[string]int `toml:"map"`
		Choice int            `toml:"choice" enum:"1,2"`
		Name   string         `toml:"name" max:"3"`
	}
	got := faults(reflect.TypeFor[settings]())
	want := []string{`inner.Rate: min:"o" is not a limit`, "settings.Steps: an exported field without", "settings.Map: a setting cannot be", "settings.Choice: enum only applies to strings", `settings.Name: max:"3" is not a limit`}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i, text := range want {
		if !strings.Contains(got[i], text) {
			t.Errorf("got %q, want %q", got[i], text)
		}
	}
}
