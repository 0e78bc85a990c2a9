package report

import (
	"strings"
	"testing"

	"dgkip/harness/store"
)

// Of every part the longest is shown, and none of a run that was not alone.
func TestPartSheet(t *testing.T) {
	r := made(t, small, map[string][]float64{"slow": {0.9, 0.9}, "fast-lr": {0.9}})
	if r.parts() != nil {
		t.Error("parts of records that have none")
	}
	give := func(cell, run int, shared bool, parts ...store.Part) {
		p := &r.Cells[cell].Runs[run].Record.Provenance
		p.Parts, p.Shared = parts, shared
	}
	give(0, 0, false, store.Part{What: "features", Seconds: 2, Memory: 3e9}, store.Part{What: "model", Seconds: 7.25, Memory: 4e9})
	give(0, 1, false, store.Part{What: "features", Seconds: 100, Memory: 2e9})
	give(1, 0, true, store.Part{What: "model", Seconds: 1000, Memory: 9e9})
	if got, want := string(r.partsCSV()), "dataset,model,part,seconds,peak_memory_bytes,machine\nmnist,conv,features,100,2000000000,\"Some CPU, avx2, 2 threads\"\nmnist,conv,model,7.25,4000000000,\"Some CPU, avx2, 2 threads\"\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(r.parts().Markdown()); !strings.Contains(got, "| model | 7.2 | 4.0 |") {
		t.Error(got)
	}
}
