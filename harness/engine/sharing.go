package engine

import (
	"context"
	"io"

	"dgkip/harness/store"
)

// part is what a run sees of a disk for one kind of sharing: methods find nothing that was
// made of test images there, whatever they ask for. It implements method.Disk.
type part struct {
	ctx  context.Context // the run's
	disk *store.Cache
	name string
}

func (p part) Load(key string, read func(io.Reader) error) bool {
	return p.disk.Load(p.ctx, p.name+key, read)
}

func (p part) Save(key string, size int64, write func(io.Writer) error) {
	p.disk.Save(p.name+key, size, write)
}
