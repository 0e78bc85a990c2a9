package sheet

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Terminal writes the table as text. It splits a table wider than width, and shows ranks by bold
// and underlined text. Width 0 means a file, without limit and with signs for ranks.
func (s *Sheet) Terminal(w io.Writer, width int) error {
	var b bytes.Buffer
	style := width > 0
	fmt.Fprintf(&b, "%s\n", Plain(s.Title))
	for _, block := range s.Blocks() {
		for _, part := range block.fit(width) {
			if err := part.draw(&b, style); err != nil {
				return err
			}
		}
	}
	best, second := "bold", "underlined"
	if !style {
		best, second = "marked ¹", "marked ²"
	}
	paragraph(&b, s.caption(best, second), width)
	for _, n := range s.Footnotes {
		paragraph(&b, raised.Replace(n.Sign)+" "+n.Text, width)
	}
	for _, n := range s.Notes {
		paragraph(&b, n, width)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// paragraph writes a text in lines of at most width characters.
func paragraph(b *bytes.Buffer, s string, width int) {
	if width <= 0 {
		width = 100
	}
	used, between := 0, "" // characters of the line, with a blank after each word
	for _, word := range strings.Fields(Plain(s)) {
		n := utf8.RuneCountInString(word)
		if used > 0 && used+n > width {
			used, between = 0, "\n"
		}
		b.WriteString(between + word)
		used, between = used+1+n, " "
	}
	if used > 0 {
		b.WriteString("\n")
	}
}

func (s *Sheet) draw(w io.Writer, style bool) error {
	align := tw.AlignRight
	if s.Wide != nil {
		align = tw.AlignLeft
	}
	aligns := make(tw.Alignment, len(s.Heads)+len(s.Columns))
	var header []string
	for i, h := range s.Heads {
		aligns[i], header = tw.AlignLeft, append(header, Plain(h))
	}
	for i, c := range s.fullTitles() {
		aligns[len(s.Heads)+i], header = align, append(header, Plain(c))
	}
	cells := tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone}, Alignment: tw.CellAlignment{PerColumn: aligns}}
	t := tablewriter.NewTable(w,
		tablewriter.WithConfig(tablewriter.Config{Header: cells, Row: cells, Behavior: tw.Behavior{TrimSpace: tw.Off, AutoHide: tw.Off}}),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.On, Bottom: tw.On},
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenRows: tw.Off, BetweenColumns: tw.Off},
				Lines:      tw.Lines{ShowHeaderLine: tw.On},
			},
		})),
	)
	t.Header(header)
	lines := s.Lines()
	for _, l := range lines {
		if l.Rule == 2 && lines[0].Spans[0] > 1 {
			if err := t.Append(make([]string, len(header))); err != nil {
				return err
			}
		}
		if err := t.Append(l.texts(style)); err != nil {
			return err
		}
	}
	return t.Render()
}

func (l Line) texts(style bool) []string {
	var out []string
	for j, h := range l.Heads {
		if l.Spans[j] == 0 {
			h = ""
		}
		out = append(out, Plain(h))
	}
	for _, e := range l.Cells {
		out = append(out, e.terminal(style))
	}
	return out
}

// raised maps marks to superscripts.
var raised = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹",
	"a", "ᵃ", "b", "ᵇ", "c", "ᶜ", "d", "ᵈ", "e", "ᵉ", "f", "ᶠ", "i", "ⁱ", "k", "ᵏ", "n", "ⁿ", "s", "ˢ", "u", "ᵘ", "w", "ʷ")

func (e Entry) terminal(style bool) string {
	t := Plain(strings.ReplaceAll(e.Plain(), " ± ", "±")) + raised.Replace(Plain(e.Marks))
	switch {
	case !style:
		return t + [...]string{"", "¹", "²"}[e.Place]
	case e.Place == 1:
		return "\x1b[1m" + t + "\x1b[0m"
	case e.Place == 2:
		return "\x1b[4m" + t + "\x1b[0m"
	}
	return t
}

// fit splits the table into tables that fit a width, each with the row headings. Width 0 is no limit.
func (s *Sheet) fit(width int) []*Sheet {
	if width <= 0 {
		return []*Sheet{s}
	}
	titles := s.fullTitles()
	var out []*Sheet
	from := 0
	for _, to := range s.cuts(width, titles) {
		part := s.slice(from, to)
		part.Columns, part.Groups = titles[from:to], nil
		out, from = append(out, part), to
	}
	return out
}

// cuts returns the columns before which to split the table for a width, and the number of columns.
// It cuts between groups of columns where possible.
func (s *Sheet) cuts(width int, titles []string) []int {
	column := func(title string, text func(Row) string) int {
		w := 0
		for line := range strings.Lines(title) {
			w = max(w, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
		}
		for _, r := range s.Rows {
			w = max(w, utf8.RuneCountInString(text(r)))
		}
		return w + 2
	}
	heads := 0
	for j, h := range s.Heads {
		heads += column(h, func(r Row) string { return r.Heads[j] })
	}
	var out []int
	total, from, group := heads, 0, 0
	for to := range s.Columns {
		if s.Groups != nil && s.begins(to) && s.Groups[to].Title != "" {
			group = to
		}
		w := column(titles[to], func(r Row) string { return r.Cells[to].terminal(false) })
		for to > from && total+w > width { // the part after the cut may still be too wide
			cut := to
			if group > from {
				cut = group
			}
			out, from, total = append(out, cut), cut, heads
			for k := cut; k < to; k++ {
				total += column(titles[k], func(r Row) string { return r.Cells[k].terminal(false) })
			}
		}
		total += w
	}
	return append(out, len(s.Columns))
}
