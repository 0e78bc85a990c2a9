package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
)

// -list shows every setting with its default, allowed values and description, all from the code
// that reads it.
func TestListTellsOfEverySetting(t *testing.T) {
	for _, name := range slices.Concat(method.Names(), method.ProtocolNames(), experiment.SectionNames(), []string{"model"}) {
		if name == "slow" {
			continue // a method of the tests, whose source is not available
		}
		var out bytes.Buffer
		if err := printAbout(&out, name); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i, line := range lines {
			setting := strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ")
			if setting && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "      ")) {
				t.Errorf("%s: this setting has no comment: %s", name, line)
			}
		}
	}
	for name, want := range map[string]string{
		"dgkip-ls":  `  rate = 0.01   (a number, at least 0)`,
		"table":     `  digits = 2   (an integer, 0 to 9)`,
		"features":  `  lambda = 0.000001   (a number, 1e-14 to 1e6)`,
		"figure":    `  kind = ""   ("curves", "scatter", "images"; required)`,
		"claim":     `  only = ""   (text)`,
		"published": `  family = {}   (a name, or a table of names by column)`,
	} {
		var out bytes.Buffer
		if err := printAbout(&out, name); err != nil || !strings.Contains(out.String(), want+"\n") {
			t.Errorf("%v: %s", err, out.String())
		}
	}
	if err := printAbout(new(bytes.Buffer), "figur"); err == nil || !strings.Contains(err.Error(), `did you mean "figure"?`) {
		t.Error(err)
	}
}
