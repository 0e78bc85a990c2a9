package engine

import (
	"context"
	"errors"
	"io"
	"sync"

	"dgkip/harness/method"
	"dgkip/harness/store"
)

// claims is a disk as one run sees it. What is not there the run computes, and holds the
// lock of its key until it is saved. If another process is computing it, the run gives
// up, and this process goes on with runs of other groups.
type claims struct {
	ctx     context.Context // the run's
	disk    *store.Cache
	blocked func(key string, by *store.Busy)

	mu   sync.Mutex
	held map[string]*store.Lock
	over bool
}

// Load implements method.Disk.
func (c *claims) Load(key string, read func(io.Reader) error) bool {
	if c.disk.Load(c.ctx, key, read) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.held[key] != nil {
		return false
	}
	lock, err := c.disk.Claim(key)
	if busy := new(store.Busy); errors.As(err, &busy) {
		c.blocked(key, busy)
		return false
	}
	if err != nil || lock == nil { // a lock saves work, and no result depends on it
		return false
	}
	if c.disk.Load(c.ctx, key, read) { // it was saved a moment ago
		lock.Unlock()
		return true
	}
	if c.held == nil {
		c.held = map[string]*store.Lock{}
	}
	c.held[key] = lock
	return false
}

// Save implements method.Disk.
func (c *claims) Save(key string, size int64, write func(io.Writer) error) {
	c.disk.Save(key, size, write)
	c.mu.Lock()
	defer c.mu.Unlock()
	if lock := c.held[key]; lock != nil {
		lock.Unlock()
		delete(c.held, key)
	}
}

// release ends the run's claims.
func (c *claims) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, lock := range c.held {
		lock.Unlock()
	}
	c.held = nil
}

// part is what one kind of sharing sees of a disk: methods find nothing that was
// made of test images there, whatever they ask for.
type part struct {
	disk method.Disk
	name string
}

// Load implements method.Disk.
func (p part) Load(key string, read func(io.Reader) error) bool { return p.disk.Load(p.name+key, read) }

// Save implements method.Disk.
func (p part) Save(key string, size int64, write func(io.Writer) error) {
	p.disk.Save(p.name+key, size, write)
}

// block notes what the runs of a group wait for, from now on.
func (e *executor) block(g *group, key string, by *store.Busy) {
	e.mu.Lock()
	turn := e.turn
	e.busy = by
	e.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted, g.other, g.asked = key, by, turn
}

// busy says who is computing what the group's runs need, nil if nobody is. One looks
// once in a round.
func (g *group) busy(disk *store.Cache, turn int) *store.Busy {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wanted == "" || g.asked == turn {
		return g.other
	}
	g.asked = turn
	lock, err := disk.Claim(g.wanted)
	if busy := new(store.Busy); errors.As(err, &busy) {
		g.other = busy
		return busy
	}
	if lock != nil {
		lock.Unlock()
	}
	g.wanted, g.other = "", nil
	return nil
}
