// Package progress shows what is running: on a terminal one line for every run
// with step, loss, rate and time left, and one for all of them; elsewhere plain
// lines every few seconds, fit for a log.
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
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
	w       io.Writer
	tty     bool
	quiet   bool
	width   func() int
	now     func() time.Time
	lines   []*Line
	drawn   int // lines on the screen
	last    time.Time
	started time.Time

	total, done, failed, before int
}

// New returns a board. With quiet it shows nothing but messages.
func New(w io.Writer, quiet bool) *Board {
	b := &Board{w: w, quiet: quiet, now: time.Now, width: func() int { return 80 }}
	if f, ok := w.(*os.File); ok && terminal(f) {
		b.tty = true
		b.width = func() int { return columns(f) }
	}
	b.started = b.now()
	b.last = b.started
	return b
}

// terminal tells whether f is one that understands cursor movements.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" && columns(f) > 0
}

// Expect says how many runs there are to do, and how many were done before.
func (b *Board) Expect(total, before int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total, b.before = total, before
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
	started time.Time // of the phase
	first   int       // step the phase began with
	begun   time.Time
}

// Start adds a run.
func (b *Board) Start(name string) *Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &Line{b: b, name: name, started: b.now(), begun: b.now(), first: -1}
	b.lines = append(b.lines, l)
	b.maybe()
	return l
}

// Phase says what the run does now.
func (l *Line) Phase(name string) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	l.phase, l.step, l.of, l.loss, l.first, l.started = name, 0, 0, 0, -1, l.b.now()
	l.b.maybe()
}

// Step says how far the run is.
func (l *Line) Step(step, of int, loss float64) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if l.first < 0 {
		l.first, l.started = step, l.b.now()
	}
	l.step, l.of, l.loss = step, of, loss
	l.b.maybe()
}

// Done takes the run off the board, with a message that stays unless it is empty.
func (l *Line) Done(failed bool, message string) {
	b := l.b
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, x := range b.lines {
		if x == l {
			b.lines = append(b.lines[:i], b.lines[i+1:]...)
			break
		}
	}
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
		fmt.Fprintf(b.w, "\x1b[%dA\r\x1b[J", b.drawn)
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
		show("  " + l.String())
	}
	all := fmt.Sprintf("%d of %d runs done", b.before+b.done, b.total)
	if b.failed > 0 {
		all += fmt.Sprintf(", %d failed", b.failed)
	}
	all += ", " + Short(b.now().Sub(b.started)) + " so far"
	if b.done > 0 {
		left := float64(b.total-b.before-b.done) * b.now().Sub(b.started).Seconds() / float64(b.done)
		all += ", about " + Short(time.Duration(left*1e9)) + " left"
	}
	show(all)
}

// String is the line as it is shown.
func (l *Line) String() string {
	var s strings.Builder
	s.WriteString(l.name)
	if l.phase != "" {
		s.WriteString(": " + l.phase)
	}
	if l.of > 0 {
		fmt.Fprintf(&s, " %d/%d", l.step, l.of)
	} else if l.step > 0 {
		fmt.Fprintf(&s, " %d", l.step)
	}
	if l.loss != 0 {
		fmt.Fprintf(&s, ", loss %.4g", l.loss)
	}
	seconds := l.b.now().Sub(l.started).Seconds()
	if n := l.step - l.first; n > 0 && l.first >= 0 && seconds > 0 {
		rate := float64(n) / seconds
		if rate >= 1 {
			fmt.Fprintf(&s, ", %.3g/s", rate)
		} else {
			fmt.Fprintf(&s, ", %.3g s each", 1/rate)
		}
		if left := float64(l.of-l.step) / rate; l.of > 0 && left > 0 && !math.IsInf(left, 0) {
			s.WriteString(", " + Short(time.Duration(left*1e9)) + " left")
		}
	}
	return s.String()
}

// Short writes a length of time with two units at most.
func Short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}

// Columns returns the width of the terminal that w writes to, 0 if it is none.
func Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok && terminal(f) {
		return columns(f)
	}
	return 0
}
