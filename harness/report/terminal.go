package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Screen describes the terminal that a table is for. The zero value is for a file.
type Screen struct {
	Width int    // columns; wider tables are cut into several. 0 for no limit
	Style bool   // bold and underline by escape sequences
	Host  string // this machine's name; the records made here are counted
}

// Terminal writes the experiment's table for people to read at once.
func (r *Results) Terminal(w io.Writer, screen Screen) error {
	s := r.table()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", plainText(s.title))
	for _, part := range s.split(screen.Width) {
		if err := part.text(&b, screen.Style); err != nil {
			return err
		}
	}
	caption := s.caption
	if !screen.Style && s.ranking != "" {
		// Without styles the ranking shows by signs.
		ranking := strings.NewReplacer("is bold", "is marked ¹", "second underlined", "second ²", "is underlined", "is marked ²").Replace(s.ranking)
		caption = strings.Replace(caption, s.ranking, ranking, 1)
	}
	for _, l := range wrap(caption, screen.Width) {
		fmt.Fprintln(&b, l)
	}
	for _, n := range slices.Concat(s.notes, r.hereNote(screen.Host), r.beside()) {
		for _, l := range wrap(n, screen.Width) {
			fmt.Fprintln(&b, l)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// beside tells what else there is to read, beginning with what was published.
func (r *Results) beside() []string {
	var out, names []string
	if all := r.Compare(); len(all) > 0 && len(r.done()) > 0 {
		out = append(out, fmt.Sprintf("Beside what was published (%s): %s.", list(sourcesOf(all)), tallyBesides(all, isAccuracy)))
	}
	for _, f := range r.furtherSheets() {
		if f.sheet != nil && len(r.done()) > 0 {
			names = append(names, f.sheet.name+".md")
		}
	}
	if names != nil {
		out = append(out, "Further tables, on the page and in the folder of tables: "+list(names)+".")
	}
	return out
}

// done lists the runs that have been made.
func (r *Results) done() []Run {
	return slices.DeleteFunc(r.distinct(), func(x Run) bool { return x.Record == nil })
}

// hereNote tells how many of the records were made on this machine.
func (r *Results) hereNote(host string) []string {
	if host == "" {
		return nil
	}
	here, all := 0, 0
	for _, run := range r.distinct() {
		if run.Record == nil {
			continue
		}
		all++
		mine := true
		for _, s := range run.Record.Provenance.Sessions {
			mine = mine && s.Host.Name == host
		}
		if mine {
			here++
		}
	}
	switch {
	case all == 0 || here == all:
		return nil
	case here == 0:
		return []string{fmt.Sprintf("All %s come from other machines.", count(all, "record", "records"))}
	}
	return []string{fmt.Sprintf("%d of %d records were made on this machine.", here, all)}
}

// text draws the table.
func (s *sheet) text(w io.Writer, style bool) error {
	align := tw.AlignRight
	if s.left {
		align = tw.AlignLeft
	}
	aligns := make(tw.Alignment, len(s.heads)+len(s.columns))
	var header []string
	for i, h := range s.heads {
		aligns[i], header = tw.AlignLeft, append(header, plainText(h))
	}
	for i, c := range s.fullTitles() {
		aligns[len(s.heads)+i], header = align, append(header, plainText(c))
	}
	t := tablewriter.NewTable(w,
		tablewriter.WithConfig(tablewriter.Config{
			Header:   tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone}, Alignment: tw.CellAlignment{PerColumn: aligns}},
			Row:      tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone}, Alignment: tw.CellAlignment{PerColumn: aligns}},
			Behavior: tw.Behavior{TrimSpace: tw.Off, AutoHide: tw.Off},
		}),
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
	for i, r := range s.rows {
		if i > 0 && r.level == 0 && len(s.heads) > 1 && s.rows[0].heads[0].span > 1 {
			if err := t.Append(make([]string, len(header))); err != nil {
				return err
			}
		}
		var cells []string
		for _, h := range r.heads {
			if h.span == 0 {
				h.text = ""
			}
			cells = append(cells, plainText(h.text))
		}
		for _, e := range r.cells {
			cells = append(cells, e.terminal(style))
		}
		if err := t.Append(cells); err != nil {
			return err
		}
	}
	return t.Render()
}

func (e entry) terminal(style bool) string {
	t := plainText(strings.ReplaceAll(e.plain(), " ± ", "±")) + plainText(e.marks)
	if style {
		switch e.place {
		case 1:
			return "\x1b[1m" + t + "\x1b[0m"
		case 2:
			return "\x1b[4m" + t + "\x1b[0m"
		}
		return t
	}
	return t + [...]string{"", "¹", "²"}[e.place]
}

// split cuts the table into its blocks, and these into ones that fit a width.
func (s *sheet) split(width int) []*sheet {
	var out []*sheet
	for _, block := range s.blocks() {
		out = append(out, block.fit(width)...)
	}
	return out
}

// fit cuts the table into ones that fit a width, each with the rows' headings.
func (s *sheet) fit(width int) []*sheet {
	if width <= 0 {
		return []*sheet{s}
	}
	wide := func(texts ...string) int {
		w := 0
		for _, t := range texts {
			w = max(w, utf8.RuneCountInString(t))
		}
		return w + 2
	}
	fixed := 0
	for j, h := range s.heads {
		texts := []string{h}
		for _, r := range s.rows {
			texts = append(texts, r.heads[j].text)
		}
		fixed += wide(texts...)
	}
	var out []*sheet
	titles := s.fullTitles()
	for from := 0; from < len(s.columns); {
		total, to := fixed, from
		for to < len(s.columns) {
			texts := []string{titles[to]}
			for _, r := range s.rows {
				texts = append(texts, r.cells[to].terminal(false))
			}
			if w := wide(texts...); to > from && total+w > width {
				break
			} else {
				total += w
			}
			to++
		}
		part := s.slice(from, to)
		part.columns, part.groups = titles[from:to], nil
		out = append(out, part)
		from = to
	}
	if out == nil {
		return []*sheet{s}
	}
	return out
}

// wrap breaks a text into lines.
func wrap(s string, width int) []string {
	if width <= 0 {
		width = 100
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(plainText(s)) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
