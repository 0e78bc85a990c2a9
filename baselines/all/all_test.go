package all

import (
	"strings"
	"testing"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
)

// A plan refuses a method and a protocol that do not fit: two different lambdas, or a protocol
// that repeats steps which the method does not learn.
func TestMethodsAndTheirScoring(t *testing.T) {
	sizes := method.Sizes{Train: 100, Test: 100, Classes: 2, H: 16, W: 16, C: 1, Smallest: 50}
	for _, c := range []struct{ name, text, want string }{
		{"kip", "[method.kip]\nlambda = 1e-3\n", "kip: the method's lambda is 0.001, but the protocol's is 1e-06"},
		{"kip", "[eval.features]\nlambda = 1e-3\n", "kip: the method's lambda is 1e-06, but the protocol's is 0.001"},
		{"kip", "[method.kip]\nlambda = 1e-3\n[eval.features]\nlambda = 1e-3\n", ""},
		{"kip", "[method.kip]\nlambda = 1e-3\n[eval]\nprotocol = \"network\"\n", ""},
		{"kip", "", ""},
		{"dgkip-ls", "[method.dgkip-ls]\nlambda = 1e-3\n", "the method's lambda is 0.001"},
		{"dgkip-lr", "[eval.features]\nlambda = 1e-3\n", "the protocol's is 0.001"},
		{"dgkip-lr", "", ""},
		{"kip", "[eval]\nprotocol = \"unrolled\"\n", "but kip learns none"},
		{"dd", "[eval]\nprotocol = \"unrolled\"\n", ""},
	} {
		text := "schema = 1\nname = \"t\"\ntitle = \"T\"\n[grid]\ndataset = [\"symbols\"]\nipc = [1]\nmodel = [\"fc\"]\nmethod = [\"" + c.name + "\"]\n" + c.text
		s, err := experiment.Parse("t.toml", text, experiment.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range s.Cells {
			err := cell.CheckSizes(sizes)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s with %q: got %v, want %q", c.name, c.text, err, c.want)
			}
		}
		if len(s.Cells) != 1 {
			t.Errorf("%s: %d cells", c.name, len(s.Cells))
		}
	}
}
