package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"dgkip/harness/engine"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
)

// Data is read once however many ask for it, and again after a mishap.
func TestImagesOnce(t *testing.T) {
	calls := 0
	d := &engine.Dataset{Load: func(context.Context) (*method.Data, method.Images, error) {
		if calls++; calls == 1 {
			return nil, method.Images{}, errors.New("no luck")
		}
		data := methodtest.Data(1)
		return data, data.Train, nil
	}}
	if _, _, err := d.Images(context.Background()); err == nil {
		t.Error("the mishap was not told of")
	}
	first, _, err := d.Images(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if data, _, err := d.Images(context.Background()); data != first || err != nil {
				t.Errorf("other data, or %v", err)
			}
		}()
	}
	wg.Wait()
	if calls != 2 {
		t.Errorf("read %d times, want once after the mishap", calls)
	}
}

// The parts of a plan are the plan, no group is in two of them, and groups of a kind are
// spread.
func TestShard(t *testing.T) {
	p := plan(t, strings.Replace(text, "count = 2", "count = 5", 1))
	for _, n := range []int{1, 2, 3, 10, 11} {
		seen := map[string]int{}
		owner := map[string]int{}
		most, total := 0, 0
		for i := 1; i <= n; i++ {
			part := p.Shard(i, n)
			for _, r := range part.Runs {
				seen[r.Key]++
				group := fmt.Sprint(r.Identity.Dataset.Name, r.Seed)
				if was, ok := owner[group]; ok && was != i {
					t.Errorf("%d parts: %s is in two", n, group)
				}
				owner[group] = i
			}
			most = max(most, len(part.Runs))
			total += len(part.Runs)
		}
		if total != len(p.Runs) || len(seen) != len(p.Runs) {
			t.Errorf("%d parts have %d runs, of which %d differ, not %d", n, total, len(seen), len(p.Runs))
		}
		if want := 2 * ((10 + n - 1) / n); most > want {
			t.Errorf("%d parts: one has %d runs, more than %d", n, most, want)
		}
	}
}
