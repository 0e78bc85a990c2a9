// Package progress shows what is running: on a terminal one line for every run
// with step, loss, rate and time left, and one for all of them; elsewhere plain
// lines every few seconds, fit for a log.
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Intervals between redrawing a terminal and between lines of a log.
const (
	redraw  = 100 * time.Millisecond
	logging = 5 * time.Second
)

// Board shows runs on a writer. Its methods, and those of its lines, may be called
// by several goroutines.
type Board struct {
	mu      sync.Mutex
	w       io.Writer // of messages
	screen  io.Writer // where the cursor moves
	tty     bool
	quiet   bool
	width   func() int
	now     func() time.Time
	lines   []*Line
	drawn   int // lines on the screen
	last    time.Time
	started time.Time
	closed  chan struct{} // ends the clock; nil without one

	total, done, failed, before int
}

// New returns a board. With quiet it shows nothing but messages. It shows the time
// that passes even when nothing is reported, until it is closed.
func New(w io.Writer, quiet bool) *Board {
	b := newBoard(w, quiet)
	if !quiet {
		b.closed = make(chan struct{})
		go b.clock(b.closed)
	}
	return b
}

// clock shows the state once a second: a long computation may report nothing for
// minutes, and a display that stands still looks like a program that hangs.
func (b *Board) clock(closed <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-closed:
			return
		case <-tick.C:
			b.mu.Lock()
			b.maybe()
			b.mu.Unlock()
		}
	}
}

func newBoard(w io.Writer, quiet bool) *Board {
	b := &Board{w: Plain(w), screen: Screen(w), quiet: quiet, now: time.Now, width: func() int { return 80 }}
	if Columns(w) > 0 {
		b.tty = true
		b.width = func() int { return Columns(w) }
	}
	b.started = b.now()
	b.last = b.started
	return b
}

// Expect says how many runs there are to do, and how many were done before.
func (b *Board) Expect(total, before int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total, b.before = total, before
}

// Skip counts a run that is done elsewhere, without a line for it.
func (b *Board) Skip() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
}

// Printf shows a message that stays.
func (b *Board) Printf(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	fmt.Fprintf(b.w, format+"\n", args...)
	b.draw()
}

// Line is a run on the board.
type Line struct {
	b       *Board
	name    string
	phase   string
	step    int
	of      int
	loss    float64
	hasLoss bool
	started time.Time // of the phase
	first   int       // step the phase began with

	task string // what the phase has to prepare before its next step; "" for nothing
	part float64
	from time.Time // of the task
}

// Start adds a run.
func (b *Board) Start(name string) *Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &Line{b: b, name: quote(name), started: b.now(), first: -1}
	b.lines = append(b.lines, l)
	b.maybe()
	return l
}

// Phase says what the run does now.
func (l *Line) Phase(name string) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	l.phase, l.step, l.of, l.hasLoss, l.first, l.started, l.task = name, 0, 0, false, -1, l.b.now(), ""
	l.b.maybe()
}

// Task says what is being prepared before the next step, and which part of it is
// done.
func (l *Line) Task(what string, part float64) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if what != l.task {
		l.task, l.from = what, l.b.now()
	}
	l.part = part
	l.b.maybe()
}

// Step says how far the run is, and its loss if it has one.
func (l *Line) Step(step, of int, loss float64, hasLoss bool) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if l.first < 0 {
		l.first, l.started = step, l.b.now()
	}
	l.step, l.of, l.loss, l.hasLoss, l.task = step, of, loss, hasLoss, ""
	l.b.maybe()
}

// Done takes the run off the board, with a message that stays unless it is empty.
func (l *Line) Done(failed bool, message string) {
	b := l.b
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = slices.DeleteFunc(b.lines, func(x *Line) bool { return x == l })
	b.erase()
	if message != "" {
		b.done++
		if failed {
			b.failed++
		}
		if !b.quiet || failed {
			fmt.Fprintf(b.w, "%s %s: %s\n", b.counter(), l.name, message)
		}
	}
	b.draw()
}

func (b *Board) counter() string { return fmt.Sprintf("[%d/%d]", b.before+b.done, b.total) }

// Close leaves the screen clean.
func (b *Board) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	b.lines = nil
	if b.closed != nil {
		close(b.closed)
		b.closed = nil
	}
}

// maybe shows the state if it is time to.
func (b *Board) maybe() {
	interval := logging
	if b.tty {
		interval = redraw
	}
	if b.quiet || b.now().Sub(b.last) < interval {
		return
	}
	b.last = b.now()
	if b.tty {
		b.erase()
		b.draw()
		return
	}
	for _, l := range b.lines {
		fmt.Fprintf(b.w, "%s %s\n", b.counter(), l)
	}
}

func (b *Board) erase() {
	if b.drawn > 0 {
		fmt.Fprintf(b.screen, "\x1b[%dA\r\x1b[J", b.drawn)
		b.drawn = 0
	}
}

func (b *Board) draw() {
	if !b.tty || b.quiet || len(b.lines) == 0 {
		return
	}
	width := max(20, b.width()-1)
	show := func(s string) {
		if utf8.RuneCountInString(s) > width {
			s = string([]rune(s)[:width])
		}
		fmt.Fprintln(b.w, s)
		b.drawn++
	}
	for _, l := range b.lines {
		show("  " + l.fit(width-2))
	}
	all := fmt.Sprintf("%d of %d runs done", b.before+b.done, b.total)
	if b.failed > 0 {
		all += fmt.Sprintf(", %d failed", b.failed)
	}
	all += ", " + Seconds(b.now().Sub(b.started).Seconds()) + " so far"
	if b.done > 0 {
		left := float64(b.total-b.before-b.done) * b.now().Sub(b.started).Seconds() / float64(b.done)
		all += ", about " + Seconds(left) + " left"
	}
	show(all)
}

// String is the line as it is shown where there is room for it.
func (l *Line) String() string { return l.name + l.state() }

// fit is String in a width. It shortens the run's name, which the reader can guess,
// rather than the numbers at the end, which change.
func (l *Line) fit(width int) string {
	const shortest = 12
	name, state := []rune(l.name), l.state()
	room := max(shortest, width-utf8.RuneCountInString(state))
	if len(name) > room {
		name = append(name[:room-1], '…')
	}
	return string(name) + state
}

// state is what the run does, and how far it is.
func (l *Line) state() string {
	var s strings.Builder
	if l.phase != "" {
		s.WriteString(": " + l.phase)
	}
	if l.task != "" {
		l.writeTask(&s)
		return s.String()
	}
	if l.of > 0 {
		fmt.Fprintf(&s, " %d/%d", l.step, l.of)
	} else if l.step > 0 {
		fmt.Fprintf(&s, " %d", l.step)
	}
	if l.hasLoss {
		fmt.Fprintf(&s, ", loss %.4g", l.loss)
	}
	seconds := l.b.now().Sub(l.started).Seconds()
	// The first steps of all warm up: they say little of those to come.
	if n := l.step - l.first; n > 2 && l.first >= 0 && seconds > 0 {
		rate := float64(n) / seconds
		if rate >= 1 {
			fmt.Fprintf(&s, ", %.3g/s", rate)
		} else {
			fmt.Fprintf(&s, ", %.3g s each", 1/rate)
		}
		if left := float64(l.of-l.step) / rate; l.of > 0 && left > 0 && !math.IsInf(left, 0) {
			s.WriteString(", " + Seconds(left) + " left")
		}
	}
	return s.String()
}

// writeTask writes what is being prepared, its share done and its time so far.
func (l *Line) writeTask(s *strings.Builder) {
	fmt.Fprintf(s, ", %s", l.task)
	seconds := l.b.now().Sub(l.from).Seconds()
	if !(l.part > 0 && l.part < 1) {
		if seconds > 1 {
			s.WriteString(", " + Seconds(seconds) + " so far")
		}
		return
	}
	fmt.Fprintf(s, " %.0f %%", 100*l.part)
	if seconds > 1 {
		s.WriteString(", " + Seconds(seconds*(1-l.part)/l.part) + " left")
	}
}

// Seconds writes a length of time with two units at most.
func Seconds(s float64) string {
	const minute, hour, day = 60, 3600, 86400
	switch {
	case s > 0 && s < 0.05:
		return "under 0.1 s"
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	case s < 2*minute:
		return fmt.Sprintf("%.0f s", s)
	case s < 2*hour:
		return fmt.Sprintf("%.0f min", s/minute)
	case s < 2*day:
		return fmt.Sprintf("%d h %d min", int(s/hour), int(s/minute)%60)
	case s < 1000*day:
		return fmt.Sprintf("%.1f days", s/day)
	}
	return fmt.Sprintf("%.3g years", s/(365.25*day))
}

// Columns returns the width of the terminal that w writes to, 0 if it is none, or one that
// understands no cursor movements.
func Columns(w io.Writer) int {
	f, ok := Screen(w).(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return 0
	}
	return columns(f)
}
