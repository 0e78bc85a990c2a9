package store

import (
	"os"
	"testing"
)

// A snapshot gives the same answers as the store, but ignores later changes.
func TestSnapshot(t *testing.T) {
	s := prepared(t)
	a, b, c := draft(1), draft(2), draft(3)
	key := func(d Draft) string { return d.Result.Identity.Key() }
	if _, err := s.Put(a, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Fail(Failure{Identity: b.Result.Identity}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.run(key(c)), 0o777); err != nil {
		t.Fatal(err)
	}
	l := s.Snapshot()
	for _, d := range []Draft{a, b, c, draft(4)} {
		k := key(d)
		if l.Has(k) != s.Has(k) || (l.Failed(k) == nil) != (s.Failed(k) == nil) || (l.Damaged(k) == nil) != (s.Damaged(k) == nil) {
			t.Errorf("snapshot: %v %v %v", l.Has(k), l.Failed(k), l.Damaged(k))
		}
	}
	if _, err := s.Put(draft(4), false); err != nil {
		t.Fatal(err)
	}
	if l.Has(key(draft(4))) {
		t.Error("a snapshot knows a later record")
	}
}
