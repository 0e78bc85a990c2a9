package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A file of a checkpoint holds magic | plain or forced | key | SHA-256 of the state
// | state.
const (
	checkpointMagic = "dgkip/checkpoint/2\n"
	plainState      = 'p'
	forcedState     = 'f'
)

func checkpointFile(kind byte, key string, state []byte) []byte {
	sum := sha256.Sum256(state)
	return slices.Concat([]byte(checkpointMagic), []byte{kind}, []byte(key), sum[:], state)
}

func (s *Store) checkpoint(key string) string {
	return filepath.Join(s.work("checkpoints"), key+".ckpt")
}

// SaveCheckpoint keeps the state of a run in place of an earlier one, which stays
// whole until the new one is. That of a forced run, which is made from the beginning
// though there is a record or an earlier state, is marked.
func (s *Store) SaveCheckpoint(key string, forced bool, state []byte) error {
	kind := byte(plainState)
	if forced {
		kind = forcedState
	}
	b := checkpointFile(kind, key, state)
	return s.explain(s.replace(s.checkpoint(key), key+".ckpt", b))
}

// Checkpoint returns the state of a run, nil if there is none. A damaged one is an
// error, after which the run has to start over. A forced run continues from a forced
// one's state alone, any other from either.
func (s *Store) Checkpoint(key string, forced bool) ([]byte, error) {
	file := s.checkpoint(key)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	head := len(checkpointMagic) + 1 + len(key)
	if len(b) < head+sha256.Size {
		return nil, fmt.Errorf("checkpoint %s is damaged", file)
	}
	kind, state := b[len(checkpointMagic)], b[head+sha256.Size:]
	if !bytes.Equal(b, checkpointFile(kind, key, state)) {
		return nil, fmt.Errorf("checkpoint %s is damaged", file)
	}
	if forced && kind != forcedState {
		return nil, nil
	}
	return state, nil
}

// DropCheckpoint forgets the state of a run.
func (s *Store) DropCheckpoint(key string) { os.Remove(s.checkpoint(key)) }

// Begun returns the keys that have a checkpoint.
func (s *Store) Begun() map[string]bool {
	keys := map[string]bool{}
	for _, e := range entries(s.work("checkpoints")) {
		keys[strings.TrimSuffix(e.Name(), ".ckpt")] = true
	}
	return keys
}

// DropLeftover forgets the state of what is on record and nobody is at.
func (s *Store) DropLeftover(key string) {
	if _, err := os.Stat(s.checkpoint(key)); err != nil {
		return
	}
	if lock, err := s.Lock(key); err == nil {
		s.DropCheckpoint(key)
		lock.Unlock()
	}
}
