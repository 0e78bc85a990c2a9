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

// A checkpoint file consists of: magic, kind (plain or forced), key, SHA-256 of the state, state.
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

// SaveCheckpoint stores the state of a run. The previous state stays intact until the new one is
// complete. The state of a forced run is marked as such: that run started from the beginning
// despite a record or an earlier state.
func (s *Store) SaveCheckpoint(key string, forced bool, state []byte) error {
	kind := byte(plainState)
	if forced {
		kind = forcedState
	}
	b := checkpointFile(kind, key, state)
	return s.explain(s.replace(s.checkpoint(key), key+".ckpt", b))
}

// Checkpoint returns the state of a run, or nil if there is none. A forced run accepts only the
// state of a forced run; other runs accept both kinds. If the state is damaged, Checkpoint returns
// an error, and the run must start over.
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

// DropCheckpoint deletes the state of a run.
func (s *Store) DropCheckpoint(key string) { os.Remove(s.checkpoint(key)) }

// Begun returns the keys with a checkpoint.
func (s *Store) Begun() map[string]bool {
	keys := map[string]bool{}
	for _, e := range entries(s.work("checkpoints")) {
		keys[strings.TrimSuffix(e.Name(), ".ckpt")] = true
	}
	return keys
}

// DropLeftover deletes the state of a recorded run, unless a process holds its lock.
func (s *Store) DropLeftover(key string) {
	if _, err := os.Stat(s.checkpoint(key)); err != nil {
		return
	}
	if lock, err := s.Lock(key); err == nil {
		s.DropCheckpoint(key)
		lock.Unlock()
	}
}
