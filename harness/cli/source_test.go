package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dgkip/harness/data"
	"dgkip/harness/experiment"
	"dgkip/harness/sets"
)

// The declaration that images are characters reaches methods, and is part of the identity of a run.
func TestCharacters(t *testing.T) {
	dir := t.TempDir()
	images, labels := make([]byte, 40), make([]uint8, 10)
	for i := range labels {
		images[4*i], labels[i] = byte(20*i), uint8(i%2)
	}
	file, err := sets.Encode([]sets.Array{sets.Of("images", []int{10, 2, 2}, images), sets.Of("labels", []int{10}, labels)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "own.npz"), file, 0o666); err != nil {
		t.Fatal(err)
	}
	digests := map[string]bool{}
	for _, characters := range []bool{false, true} {
		d := experiment.Data{Name: "own", Dir: dir, Config: data.Config{Format: "npz", Train: "own.npz", Characters: characters}}
		set, err := (&source{warn: t.Logf}).Open(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		train, _, err := set.Load(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if train.Characters != characters {
			t.Errorf("declared %v, loaded %v", characters, train.Characters)
		}
		digests[string(experiment.Canonical(set.DatasetIdentity))] = true
	}
	if len(digests) != 2 {
		t.Error("both runs have the same identity")
	}
	if mnist, err := data.Describe("mnist"); err != nil || !mnist.Characters {
		t.Error("the images of MNIST do not count as characters")
	}
}

// A failed download may succeed later, but missing or damaged data needs a person. The exit codes
// differ.
func TestExitCodesOfData(t *testing.T) {
	for err, want := range map[error]int{data.ErrFetch: exitFailed, data.ErrMissing: exitUsage, data.ErrChecksum: exitUsage} {
		wrapped := fmt.Errorf("mnist: %w", errors.Join(err, data.ErrMissing))
		var c coded
		if got := dataError(wrapped); !errors.As(got, &c) || c.code != want {
			t.Errorf("%v: exit code of %v is not %d", err, got, want)
		}
	}
}
