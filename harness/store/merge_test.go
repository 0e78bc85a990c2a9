package store

import (
	"errors"
	"testing"
)

// A record is brought in under the lock of its run: whoever opens the folder meanwhile
// takes what is half written and has no owner for that of a dead process, and removes it.
func TestMergeLocks(t *testing.T) {
	from, s := prepared(t), prepared(t)
	record, err := from.Put(draft(0), false)
	if err != nil {
		t.Fatal(err)
	}
	key := record.Result.Key
	lock, err := s.Lock(key)
	if err != nil {
		t.Fatal(err)
	}
	busy := new(Busy)
	if _, _, err := s.Merge(t.Context(), from.Dir()); !errors.As(err, &busy) || s.Has(key) {
		t.Errorf("while another has the lock: %v", err)
	}
	lock.Unlock()
	if added, _, err := s.Merge(t.Context(), from.Dir()); added != 1 || err != nil {
		t.Errorf("%d added, %v", added, err)
	}
	if lock, err := s.Lock(key); err != nil {
		t.Errorf("the lock is kept: %v", err)
	} else {
		lock.Unlock()
	}
}
