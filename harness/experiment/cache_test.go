package experiment

import (
	"fmt"
	"strings"
	"testing"
)

func TestCacheSize(t *testing.T) {
	for text, want := range map[string]string{"8": "", "0.5": "", "0": "", "-1": "at least 0", "1e7": "at most", "true": "must be a number", `"4GB"`: "hint: write disk = 8, in GB"} {
		s, err := Parse("demo.toml", good+"\n[cache]\ndisk = "+text+"\n", Options{Datasets: known})
		if want == "" && (err != nil || fmt.Sprint(s.Cache.Disk) != text) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, %v, want %q", text, s, err, want)
		}
	}
}

// A profile may ask for more. By default nothing is cached.
func TestCacheProfile(t *testing.T) {
	text := good + "\n[profile.full.cache]\ndisk = 20\n"
	for profile, want := range map[string]float64{"short": 0, "full": 20} {
		s, err := Parse("demo.toml", text, Options{Datasets: known, Profile: profile})
		if err != nil {
			t.Fatal(err)
		}
		if s.Cache.Disk != want {
			t.Errorf("profile %s: %v GB, want %v", profile, s.Cache.Disk, want)
		}
	}
}

// The cache must not affect the identity of runs.
func TestCacheIsNotInTheKey(t *testing.T) {
	keys := map[string]bool{}
	for _, more := range []string{"", "\n[cache]\ndisk = 4\n"} {
		s, err := Parse("demo.toml", good+more, Options{Datasets: known})
		if err != nil {
			t.Fatal(err)
		}
		keys[s.Cells[0].Identity(DatasetIdentity{Name: "glyphs"}, 7).Key()] = true
	}
	if len(keys) != 1 {
		t.Error("the key depends on the cache")
	}
}
