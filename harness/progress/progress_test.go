package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func board(tty bool) (*Board, *bytes.Buffer, *time.Time) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	b := newBoard(&out, false)
	b.tty, b.now, b.started, b.last = tty, func() time.Time { return now }, now, now
	b.columns = func() int { return 60 }
	return b, &out, &now
}

func TestLog(t *testing.T) {
	b, out, now := board(false)
	b.Expect(3, 1)
	l := b.Start("glyphs random")
	l.Phase("distil")
	for i := range 100 {
		*now = now.Add(100 * time.Millisecond)
		l.Step(i+1, 200, 0.5, true)
	}
	l.Done(false, "98.50 % in 10 s")
	const want = "[1/3] glyphs random: distil 50/200, loss 0.5, 10/s, 15 s left\n" +
		"[1/3] glyphs random: distil 100/200, loss 0.5, 10/s, 10 s left\n" +
		"[2/3] glyphs random: 98.50 % in 10 s\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// A loss of zero is shown.
func TestLoss(t *testing.T) {
	b, _, _ := board(false)
	l := b.Start("run")
	for hasLoss, want := range map[bool]string{true: "run 3/10, loss 0", false: "run 3/10"} {
		if l.Step(3, 10, 0, hasLoss); l.String() != want {
			t.Errorf("%q, want %q", l, want)
		}
	}
}

func TestTerminal(t *testing.T) {
	b, out, now := board(true)
	b.Expect(2, 0)
	l := b.Start(strings.Repeat("long ", 40))
	l.Phase("distil")
	*now = now.Add(time.Second)
	l.Step(1, 10, 0, false)
	l.Done(true, "failed")
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(line, "failed") && len(line) > 70 {
			t.Errorf("a line is too long for the terminal: %q", line)
		}
	}
	if !strings.Contains(out.String(), "\x1b[2A\r\x1b[J") {
		t.Errorf("the lines are not erased: %q", out)
	}
}

// Lines beyond a number are only counted.
func TestManyLines(t *testing.T) {
	b, out, now := board(true)
	for range 30 {
		*now = now.Add(time.Second)
		out.Reset()
		b.Start("run")
	}
	if n := strings.Count(out.String(), "\n"); n != shownLines+2 || b.drawn != n || !strings.Contains(out.String(), "and 18 more\n") {
		t.Errorf("%d lines:\n%s", n, out)
	}
}

// Very long and very short times.
func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0.0 s", 1e-6: "under 0.1 s", 0.05: "0.1 s", 1.5: "1.5 s", 75: "75 s", 1200: "20 min", 9000: "2 h 30 min", 1e6: "11.6 days",
	} {
		if got := Seconds(s); got != want {
			t.Errorf("%g s: %q, want %q", s, got, want)
		}
	}
}

// A task is shown until the next step.
func TestTask(t *testing.T) {
	b, _, now := board(false)
	l := b.Start("glyphs")
	l.Phase("distil")
	for _, c := range []struct {
		part float64
		wait time.Duration
		want string
	}{
		{0, 0, "glyphs: distil, features"},
		{0.25, 4 * time.Second, "glyphs: distil, features 25 %, 4.0 s so far"},
		{0.5, 4 * time.Second, "glyphs: distil, features 50 %, 8.0 s so far"},
		{1, time.Second, "glyphs: distil, features, 9.0 s so far"},
	} {
		*now = now.Add(c.wait)
		l.Task("features", c.part)
		if got := l.String(); got != c.want {
			t.Errorf("%g: %q, want %q", c.part, got, c.want)
		}
	}
	l.Task("solution", 0.5)
	if got := l.String(); got != "glyphs: distil, solution 50 %" {
		t.Errorf("during the next task: %q", got)
	}
	l.Step(3, 10, 0, false)
	if got := l.String(); got != "glyphs: distil 3/10" {
		t.Errorf("after a step: %q", got)
	}
}

// On a narrow terminal the name is cut, and the numbers stay.
func TestFit(t *testing.T) {
	b, _, now := board(true)
	l := b.Start("fashion-mnist dgkip-ls-outputs small ipc 10 seed 0")
	l.Phase("distil")
	l.Task("features of the training images", 0.5)
	*now = now.Add(8 * time.Second)
	if got, want := l.fit(77), "fashion-mnist dg…: distil, features of the training images 50 %, 8.0 s so far"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := l.fit(200); got != l.String() {
		t.Errorf("with room: %q", got)
	}
}

// A task that reports nothing still shows its time.
func TestClock(t *testing.T) {
	b, out, now := board(false)
	b.Start("glyphs").Task("solving", 0)
	*now = now.Add(7 * time.Second)
	b.mu.Lock()
	b.maybe()
	b.mu.Unlock()
	if want := "glyphs, solving, 7.0 s so far"; !strings.Contains(out.String(), want) {
		t.Errorf("got %q, want %q", out, want)
	}
	closed, done := make(chan struct{}), make(chan struct{})
	b.closed = closed
	go func() { b.clock(closed); close(done) }()
	b.Close()
	<-done
}
