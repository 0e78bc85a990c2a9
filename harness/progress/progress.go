// Package progress shows the runs in progress. On a terminal each run has a line with step, loss,
// rate and time left, and a last line summarises all runs. Elsewhere it prints a line for each run
// every few seconds.
package progress

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Intervals between updates on a terminal, and between lines elsewhere.
const (
	redraw  = 100 * time.Millisecond
	logging = 5 * time.Second
)

// shownLines is the number of runs with a line on a terminal. erase cannot reach lines above the screen.
const shownLines = 12

// Board shows runs on a writer. Its methods, and those of its lines, may be called concurrently.
type Board struct {
	mu      sync.Mutex
	w       io.Writer // for text
	screen  io.Writer // for control sequences
	tty     bool
	quiet   bool
	columns func() int
	now     func() time.Time
	lines   []*Line
	drawn   int // number of lines on the screen
	last    time.Time
	started time.Time
	closed  chan struct{} // stops the clock; nil if it does not run

	total, done, failed, before int
}

// New returns a board. If quiet, it shows only messages and failures. Until Close, it updates the
// shown times every second.
func New(w io.Writer, quiet bool) *Board {
	b := newBoard(w, quiet)
	if !quiet {
		b.closed = make(chan struct{})
		go b.clock(b.closed)
	}
	return b
}

// clock updates the screen every second. Otherwise the program would seem to hang in long
// computations, which may report nothing for minutes.
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
	b := &Board{w: Plain(w), screen: Screen(w), quiet: quiet, now: time.Now, tty: Columns(w) > 0, columns: func() int { return Columns(w) }}
	b.started = b.now()
	b.last = b.started
	return b
}

// Expect sets the number of runs, and how many of them were done before.
func (b *Board) Expect(total, before int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total, b.before = total, before
}

// Skip counts a run as done without showing it, because another process has computed it.
func (b *Board) Skip() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
}

// Printf shows a message, which stays on the screen.
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
	started time.Time // start of the phase
	first   int       // first step of the phase

	task string // preparation of the next step, or ""
	part float64
	from time.Time // start of the task
}

// Start adds a run.
func (b *Board) Start(name string) *Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := &Line{b: b, name: printable(name), started: b.now(), first: -1}
	b.lines = append(b.lines, l)
	b.maybe()
	return l
}

// Phase sets the name of the current phase.
func (l *Line) Phase(name string) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	l.phase, l.step, l.of, l.hasLoss, l.first, l.started, l.task = name, 0, 0, false, -1, l.b.now(), ""
	l.b.maybe()
}

// Task sets what is prepared before the next step, and the fraction that is done.
func (l *Line) Task(what string, part float64) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if what != l.task {
		l.task, l.from = what, l.b.now()
	}
	l.part = part
	l.b.maybe()
}

// Step sets the progress of the run, and its loss if hasLoss.
func (l *Line) Step(step, of int, loss float64, hasLoss bool) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if l.first < 0 {
		l.first, l.started = step, l.b.now()
	}
	l.step, l.of, l.loss, l.hasLoss, l.task = step, of, loss, hasLoss, ""
	l.b.maybe()
}

// Done removes the run from the board. If message is not empty, Done shows it and counts the run.
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

// Close removes the lines from the screen.
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

// maybe shows the state, unless it was shown a moment ago.
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
	width := max(20, b.columns()-1)
	show := func(s string) {
		if utf8.RuneCountInString(s) > width {
			s = string([]rune(s)[:width])
		}
		fmt.Fprintln(b.w, s)
		b.drawn++
	}
	for i, l := range b.lines {
		if i == shownLines {
			show(fmt.Sprintf("  and %d more", len(b.lines)-i))
			break
		}
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

// String returns the line without a limit on its width.
func (l *Line) String() string { return l.name + l.state() }

// fit returns the line with the name of the run shortened to fit into width. The numbers at the end
// stay.
func (l *Line) fit(width int) string {
	const shortest = 12
	name, state := []rune(l.name), l.state()
	room := max(shortest, width-utf8.RuneCountInString(state))
	if len(name) > room {
		name = append(name[:room-1], '…')
	}
	return string(name) + state
}

// state returns the phase of the run and its progress.
func (l *Line) state() string {
	var s strings.Builder
	if l.phase != "" {
		s.WriteString(": " + l.phase)
	}
	if l.task != "" {
		s.WriteString(", " + l.task)
		if l.part > 0 && l.part < 1 {
			fmt.Fprintf(&s, " %.0f %%", 100*l.part)
		}
		if seconds := l.b.now().Sub(l.from).Seconds(); seconds > 1 {
			s.WriteString(", " + Seconds(seconds) + " so far")
		}
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
	// The first steps are slow, so they do not predict the speed of later ones.
	if n := l.step - l.first; n > 2 && l.first >= 0 && seconds > 0 {
		rate := float64(n) / seconds
		if rate >= 1 {
			fmt.Fprintf(&s, ", %.3g/s", rate)
		} else {
			fmt.Fprintf(&s, ", %.3g s each", 1/rate)
		}
		if left := float64(l.of-l.step) / rate; l.of > 0 && left > 0 {
			s.WriteString(", " + Seconds(left) + " left")
		}
	}
	return s.String()
}

// Seconds formats a duration in seconds with at most two units.
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
	}
	return fmt.Sprintf("%.1f days", s/day)
}

// Columns returns the width of the terminal that w writes to. It returns 0 if w is not a terminal or
// cannot move its cursor.
func Columns(w io.Writer) int {
	f, ok := Screen(w).(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0
	}
	return columns(f)
}
