package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dgkip/harness/engine"
	"dgkip/harness/progress"
	"dgkip/harness/report"
	"dgkip/harness/store"
)

// verifyRecords computes recorded runs again in another folder, with the same lines in their
// traces, and compares them: sets by digest, results and traces byte for byte. It also
// checks the files of all records against their checksums.
func (f *flags) verifyRecords(ctx context.Context, out io.Writer, p *engine.Plan, s *store.Store, board *progress.Board) error {
	var done []*engine.Run
	differ := 0
	for _, r := range p.Runs {
		record, err := s.Whole(r.Key)
		if err == nil {
			again := *r
			again.Trace = record.Provenance.Trace
			done = append(done, &again)
		} else if errors.Is(err, store.ErrDamaged) {
			fmt.Fprintf(out, "%s: DAMAGED: %s\n", r.Name(), oneLine(err))
			differ++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", r.Name(), err)
		}
	}
	if len(done)+differ == 0 {
		return usageError(errors.New("-verify: none of the selected runs has a record\nhint: run the experiment first"))
	}
	// Spread the runs over the plan, so that a few cover many methods.
	n := min(f.verify, len(done))
	all := n + differ
	again := &engine.Plan{}
	for i := range n {
		again.Runs = append(again.Runs, done[i*len(done)/n])
	}
	dir, err := os.MkdirTemp("", "dgkip-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := store.Open(dir)
	_, err = engine.Execute(ctx, again, fresh, f.options(board))
	board.Close()
	if err != nil {
		return err
	}
	for _, r := range again.Runs {
		verdict := verifyOne(s, fresh, r.Key)
		if verdict != sameBytes {
			differ++
		}
		fmt.Fprintf(out, "%s: %s\n", r.Name(), verdict)
	}
	fmt.Fprintf(out, "%d of %s verified\n", all-differ, report.Count(all, "record", "records"))
	if differ > 0 {
		return coded{errors.New("some records differ, are damaged or could not be computed again, as the lines above say\nhint: -force replaces records that differ or are damaged"), exitCheck}
	}
	return nil
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

const sameBytes = "same bytes"

// verifyOne compares a record with the repeated run.
func verifyOne(s, fresh *store.Store, key string) string {
	was, err := s.Get(key)
	if err != nil {
		return "DAMAGED: " + oneLine(err)
	}
	if failure := fresh.Failed(key); failure != nil {
		return "FAILED: " + failure.Message
	}
	is, err := fresh.Get(key)
	if err != nil {
		return "FAILED: " + oneLine(err)
	}
	if _, err := was.File(store.SetFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "DAMAGED: " + oneLine(err)
	}
	var out []string
	for _, name := range []string{"result.json", "trace.csv"} { // the result has the digest of the set
		a, err := was.File(name)
		if err != nil {
			return "DAMAGED: " + oneLine(err)
		}
		b, err := is.File(name)
		if err != nil {
			return "FAILED: " + oneLine(err)
		}
		if !bytes.Equal(a, b) {
			out = append(out, "DIFFERS: "+filepath.Join(was.Dir, name))
			out = append(out, differences(name, a, b)...)
		}
	}
	return cmp.Or(strings.Join(out, "\n  "), sameBytes)
}

// differences lists the differences between two versions of a record's file: values of results, or
// the first different line of traces.
func differences(name string, was, is []byte) (out []string) {
	note := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s: %s recorded, %s now", what, cmp.Or(a, "nothing"), cmp.Or(b, "nothing")))
		}
	}
	if name == "result.json" {
		a, b := map[string]string{}, map[string]string{}
		leaves(a, "", was)
		leaves(b, "", is)
		all := maps.Clone(a)
		maps.Copy(all, b)
		for _, path := range slices.Sorted(maps.Keys(all)) {
			note(path, a[path], b[path])
		}
	} else {
		a, b := strings.Split(string(was), "\n"), strings.Split(string(is), "\n")
		line := func(of []string, i int) string {
			if i < len(of) {
				return of[i]
			}
			return ""
		}
		for i := 0; i < max(len(a), len(b)) && out == nil; i++ {
			note(fmt.Sprintf("line %d", i+1), line(a, i), line(b, i))
		}
		if out == nil {
			out = []string{"only the line breaks at the end differ"}
		}
	}
	return out
}

// leaves adds the values of a JSON text to out, by path. A list counts as one value.
func leaves(out map[string]string, path string, text []byte) {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		out[path] = strings.Join(strings.Fields(string(text)), " ")
		return
	}
	for key, value := range object {
		leaves(out, strings.TrimPrefix(path+"."+key, "."), value)
	}
}
