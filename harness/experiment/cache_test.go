package experiment

import (
	"strings"
	"testing"
)

func TestCacheSize(t *testing.T) {
	for text, want := range map[string]Size{
		`"4GB"`: 4e9, `"4 GB"`: 4e9, `"1.5GiB"`: 3 << 29, `"512MiB"`: 512 << 20, `"20 KB"`: 2e4, `"1KiB"`: 1024,
		`"7B"`: 7, `"2TB"`: 2e12, `"1TiB"`: 1 << 40, `"0B"`: 0, `0`: 0,
	} {
		s, err := Parse("demo.toml", good+"\n[cache]\ndisk = "+text+"\n", Options{Datasets: known})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if s.Cache.Disk != want {
			t.Errorf("%s is %d bytes, want %d", text, s.Cache.Disk, want)
		}
	}
	for text, want := range map[string]string{
		`"4"`: "not a size", `"4gb"`: "not a size", `"-4GB"`: "not a size", `"GB"`: "not a size", `"4 G"`: "not a size", `"4iB"`: "not a size",
		`"4  GB"`: "not a size", `"1e3GB"`: "not a size", `""`: "not a size", `"9999999TB"`: "larger than any disk",
		`4`: `hint: such as "500MB"`, `4.5`: "not a size", `true`: "not a size", `["4GB"]`: "not a size",
	} {
		_, err := Parse("demo.toml", good+"\n[cache]\ndisk = "+text+"\n", Options{Datasets: known})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := Parse("demo.toml", good+"\n[cache]\ndsk = \"4GB\"\n", Options{Datasets: known}); err == nil || !strings.Contains(err.Error(), `did you mean "disk"?`) {
		t.Errorf("a wrong key: %v", err)
	}
}

// A profile may ask for more. By default nothing is cached.
func TestCacheProfile(t *testing.T) {
	text := good + "\n[profile.full.cache]\ndisk = \"20GB\"\n"
	for profile, want := range map[string]Size{"short": 0, "full": 20e9} {
		s, err := Parse("demo.toml", text, Options{Datasets: known, Profile: profile})
		if err != nil {
			t.Fatal(err)
		}
		if s.Cache.Disk != want {
			t.Errorf("profile %s: %d bytes, want %d", profile, s.Cache.Disk, want)
		}
	}
}

// The cache must not affect the identity of runs.
func TestCacheIsNotInTheKey(t *testing.T) {
	keys := map[string]bool{}
	for _, more := range []string{"", "\n[cache]\ndisk = \"4GB\"\n"} {
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
