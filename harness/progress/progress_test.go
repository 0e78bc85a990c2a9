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
	b := New(&out, false)
	b.tty, b.now, b.started, b.last = tty, func() time.Time { return now }, now, now
	b.width = func() int { return 60 }
	return b, &out, &now
}

func TestLog(t *testing.T) {
	b, out, now := board(false)
	b.Expect(3, 1)
	l := b.Start("glyphs random")
	l.Phase("distil")
	for i := range 100 {
		*now = now.Add(100 * time.Millisecond)
		l.Step(i+1, 200, 0.5)
	}
	l.Done(false, "98.50 % in 10 s")
	const want = "[1/3] glyphs random: distil 50/200, loss 0.5, 10/s, 15 s left\n" +
		"[1/3] glyphs random: distil 100/200, loss 0.5, 10/s, 10 s left\n" +
		"[2/3] glyphs random: 98.50 % in 10 s\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

func TestTerminal(t *testing.T) {
	b, out, now := board(true)
	b.Expect(2, 0)
	l := b.Start(strings.Repeat("long ", 40))
	l.Phase("distil")
	*now = now.Add(time.Second)
	l.Step(1, 10, 0)
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

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1500 * time.Millisecond: "1.5 s", 75 * time.Second: "75 s", 20 * time.Minute: "20 min",
		150 * time.Minute: "2 h 30 min", 100 * time.Hour: "4.2 days",
	} {
		if got := Short(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
