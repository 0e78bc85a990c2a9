package cli

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestChoose(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("mine.toml", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	l := newLibrary(fstest.MapFS{"experiments/quickstart.toml": {}, "experiments/table-one.toml": {}})
	for list, want := range map[string]string{
		"all": "quickstart table-one", "table-one,all": "table-one quickstart", "all,quickstart": "quickstart table-one", "quickstart,": "quickstart",
		" table-one ,quickstart,table-one": "table-one quickstart", "table-one,mine.toml,./mine.toml,mine.toml": "table-one mine.toml ./mine.toml",
	} {
		names, problems := l.choose(list)
		if strings.Join(names, " ") != want || problems != nil {
			t.Errorf("%q: %q, %v", list, names, problems)
		}
	}
	for list, want := range map[string]string{
		"quikstart": `did you mean "quickstart"?`, "figures": "known are quickstart, table-one", ",": "no experiment was named", "yours.toml": "the path of its file",
		"table-one quickstart": "commas", "./": "./ is a folder",
	} {
		names, problems := l.choose(list)
		if len(names) > 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), want) {
			t.Errorf("%q: %q, %v, want %q", list, names, problems, want)
		}
	}
}
