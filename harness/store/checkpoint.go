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

// checkpointFile returns the content of a checkpoint: magic, key, SHA-256 of the state, state.
func checkpointFile(key string, state []byte) []byte {
	sum := sha256.Sum256(state)
	return slices.Concat([]byte(checkpointMagic), []byte(key), sum[:], state)
}

const checkpointMagic = "dgkip/checkpoint/2\np"

func (s *Store) checkpoint(key string) string {
	return filepath.Join(s.work("checkpoints"), key+".ckpt")
}

// SaveCheckpoint stores the state of a job. The previous state stays intact until the new one is
// complete.
func (s *Store) SaveCheckpoint(key string, state []byte) error {
	return s.explain(s.replace(s.checkpoint(key), key+".ckpt", checkpointFile(key, state)))
}

// Checkpoint returns the state of a job, or nil if it has not been saved. If the state is damaged, Checkpoint
// returns an error, and the job must start over.
func (s *Store) Checkpoint(key string) ([]byte, error) {
	file := s.checkpoint(key)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state := b[min(len(b), len(checkpointMagic)+len(key)+sha256.Size):]
	if !bytes.Equal(b, checkpointFile(key, state)) {
		return nil, fmt.Errorf("checkpoint %s is damaged", file)
	}
	return state, nil
}

// DropCheckpoint deletes the state of a job.
func (s *Store) DropCheckpoint(key string) { os.Remove(s.checkpoint(key)) }

// Begun returns the keys with a checkpoint.
func (s *Store) Begun() map[string]bool {
	keys := map[string]bool{}
	for _, e := range entries(s.work("checkpoints")) {
		keys[strings.TrimSuffix(e.Name(), ".ckpt")] = true
	}
	return keys
}

// DropLeftover deletes the state of a job without missing records, unless a process holds its lock.
func (s *Store) DropLeftover(key string) {
	if _, err := os.Stat(s.checkpoint(key)); err != nil {
		return
	}
	if lock, err := s.Lock(key); err == nil {
		s.DropCheckpoint(key)
		lock.Unlock()
	}
}
