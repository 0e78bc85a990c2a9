package cli

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
)

// Our numbers are scored by the same protocol family as the published numbers next to them. Numbers
// for ten classes are not shown next to two classes.
func TestPublishedFamilies(t *testing.T) {
	beside := map[string]int{"table1": 63, "table2": 63, "table3": 36, "outside": 2}
	for name, want := range beside {
		s := shipped(t, name, experiment.DefaultProfile)
		n := 0
		for _, p := range s.Published {
			for _, c := range s.Cells {
				if _, ok := p.Values[c.Column]; !ok || !method.IsScore(p.Metric) || p.OnlyClaims || !p.When.Matches(c.At) {
					continue
				}
				n++
				if own := method.FamilyOf(p.Metric, c.Method(), c.Protocol); own != p.FamilyOf(c.Column) {
					t.Errorf("%s %v %s: our number is of family %q, the published one of %q", name, p.When, c.Column, own, p.FamilyOf(c.Column))
				}
			}
			if strings.HasPrefix(p.Source, "Aoyama et al.") == (name == "outside") {
				t.Errorf("%s has numbers of %s", name, p.Source)
			}
		}
		if n != want {
			t.Errorf("%s: %d accuracies next to ours, want %d", name, n, want)
		}
	}
}

// Timed runs equal the runs of the tables except for their length, in all profiles but smoke.
func TestTimesAreOfTheTables(t *testing.T) {
	for _, name := range []string{"table1", "table2"} {
		for _, profile := range []string{"short", "full"} {
			s := shipped(t, name, profile)
			timed := map[string]experiment.PartIdentity{}
			at := func(c *experiment.Cell) string {
				return fmt.Sprint(c.Point["dataset"], c.Point["ipc"], c.Point["model"], c.Column)
			}
			of := func(c *experiment.Cell) (m experiment.PartIdentity, updates int) {
				m = c.Identity(experiment.DatasetIdentity{}, 0).Method
				m.Settings = maps.Clone(m.Settings)
				for _, setting := range []string{"updates", "iterations"} {
					if n, ok := m.Settings[setting]; ok {
						updates, _ = strconv.Atoi(fmt.Sprint(n))
					}
					delete(m.Settings, setting)
				}
				if c.Column == "dgkip-lr" || c.Column == "dgkip-svm" { // all updates take the same work
					for _, setting := range []string{"objective", "labels", "label_rate", "beta2", "schedule", "temperature", "start"} {
						delete(m.Settings, setting)
					}
				}
				if c.Column == "dc" || c.Column == "dsa" { // an iteration has as many updates as images per class
					images, _ := strconv.Atoi(fmt.Sprint(c.Point["ipc"]))
					updates *= images
				}
				return m, updates
			}
			for _, c := range s.Times.Cells {
				m, updates := of(c)
				timed[at(c)] = m
				if updates < 20 || updates > 50 {
					t.Errorf("%s, profile %s: %s is timed over %d updates", name, profile, at(c), updates)
				}
			}
			n := 0
			for _, c := range s.Cells {
				if want, ok := timed[at(c)]; ok {
					n++
					if got, _ := of(c); !reflect.DeepEqual(got, want) {
						t.Errorf("%s, profile %s: %s is timed with %+v and has %+v", name, profile, at(c), want, got)
					}
				}
			}
			if n != 99 {
				t.Errorf("%s, profile %s: %d cells are timed, want 99", name, profile, n)
			}
		}
	}
}
