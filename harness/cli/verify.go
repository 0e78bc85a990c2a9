package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dgkip/harness/engine"
	"dgkip/harness/progress"
	"dgkip/harness/report"
	"dgkip/harness/store"
)

// verifyRecords makes recorded runs again, apart from the records and with the lines
// that their traces have, and compares the files byte for byte.
func (f *flags) verifyRecords(ctx context.Context, out io.Writer, p *engine.Plan, s *store.Store, board *progress.Board) error {
	var done []*engine.Run
	differ := 0
	for _, r := range p.Runs {
		record, err := s.Get(r.Key)
		if err == nil {
			again := *r
			again.Trace = record.Provenance.Trace
			done = append(done, &again)
		} else if err := s.Damaged(r.Key); err != nil {
			fmt.Fprintf(out, "%s: DAMAGED: %s\n", r.Name(), oneLine(err))
			differ++
		}
	}
	if len(done)+differ == 0 {
		return usageError(errors.New("-verify: none of the selected runs has a record\nhint: run the experiment first"))
	}
	// Spread over the plan, so that few runs see many methods.
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
		return coded{errors.New("records could not be verified"), exitCheck}
	}
	return nil
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

const sameBytes = "same bytes"

// verifyOne compares a record with the one that was made again.
func verifyOne(s, fresh *store.Store, key string) string {
	was, err := s.Get(key)
	if err == nil {
		err = was.Verify()
	}
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
	// The set, which may be left out, is compared by its digest in the result.
	for _, name := range []string{"result.json", "trace.csv", "preview.png"} {
		a, errA := was.File(name)
		b, errB := is.File(name)
		if name == "preview.png" && (errors.Is(errA, fs.ErrNotExist) || errors.Is(errB, fs.ErrNotExist)) {
			continue
		}
		if err := cmp.Or(errA, errB); err != nil {
			return "FAILED: " + oneLine(err)
		}
		if !bytes.Equal(a, b) {
			return "DIFFERS: " + filepath.Join(was.Dir, name)
		}
	}
	return sameBytes
}
