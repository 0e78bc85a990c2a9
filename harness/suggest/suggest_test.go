package suggest_test

import (
	"fmt"
	"testing"

	"dgkip/harness/suggest"
)

func ExampleHint() {
	fmt.Println(suggest.Hint("tabel1", []string{"table1", "table2", "figure2"}))
	fmt.Println(suggest.Hint("zebra", []string{"smoke", "short", "full"}))
	// Output:
	// did you mean "table1"?
	// known are smoke, short, full
}

func TestName(t *testing.T) {
	known := []string{"dataset", "ipc", "method", "model", "quickstart"}
	if got := suggest.Name("Learning_Rate", []string{"label_rate", "rate", "updates"}); got != "rate" {
		t.Errorf("the suggestion for another program's name of a rate is %q", got)
	}
	for word, want := range map[string]string{
		"datset": "dataset", "dataste": "dataset", "METHOD": "method", "quick": "quickstart",
		"icp": "ipc", "x": "", "": "", "completely different": "",
	} {
		if got := suggest.Name(word, known); got != want {
			t.Errorf("Name(%q) = %q, want %q", word, got, want)
		}
	}
}
