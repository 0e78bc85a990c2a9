package sheet

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// latexFallbacks replace commands of packages that a document may not load. They only use LaTeX
// itself, and expand to commands that may follow the end of a row.
const latexFallbacks = `\providecommand{\toprule}{\hline}\providecommand{\midrule}{\hline}\providecommand{\bottomrule}{\hline}%
\providecommand{\cmidrule}[1]{\cline{#1}}\providecommand{\multirow}[3]{#3}%
\ifdefined\resizebox\long\def\dgkipfit#1{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}\else\long\def\dgkipfit#1{\scriptsize#1}\fi
`

// Limits of a float: latexLine characters of \footnotesize fit into a line of an A4 page. With caption
// and notes, a page has room for latexRows rows of several blocks, or latexBlock rows of one.
const (
	latexLine  = 118
	latexRows  = 30
	latexBlock = 50
)

// Latex returns the table as one float, or as several if one would fill more than a page. It looks
// best with booktabs, graphicx and multirow, and compiles without them. Source names the experiment
// in a comment.
func (s *Sheet) Latex(source string) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("%% Written from the records of %s; changes will be lost.\n", Plain(source))
	p("%% Looks best with \\usepackage{booktabs,graphicx,multirow}, and compiles without.\n")
	b.WriteString(latexFallbacks)
	for i, blocks := range s.latexFloats() {
		if i == 0 {
			p("\\begin{table*}[htbp]\n\\centering\n\\caption{%s}\n\\label{tab:%s}\n", LatexText(s.caption("bold", "underlined")), LatexLabel(s.Name))
		} else {
			p("\\begin{table*}[htbp]\n\\centering\n\\addtocounter{table}{-1}\n\\caption{%s, continued.%s}\n", LatexText(s.Title), s.continued())
		}
		p("\\smallskip\n\\footnotesize\\setlength{\\tabcolsep}{4pt}\n")
		// Without booktabs, rules have no space around them.
		p("\\ifdefined\\cmidrulekern\\else\\renewcommand{\\arraystretch}{1.35}\\fi\n")
		for j, block := range blocks {
			if j > 0 {
				p("\\par\\medskip\n")
			}
			block.latexTabular(&b)
		}
		if i == 0 && len(s.Footnotes)+len(s.Notes) > 0 {
			p("\\par\\smallskip\\raggedright\n")
			for _, n := range s.Footnotes {
				p("%s%s\\par\n", latexMarks(n.Sign), LatexText(n.Text))
			}
			for _, n := range s.Notes {
				p("%s\\par\n", LatexText(n))
			}
		}
		p("\\end{table*}\n")
	}
	return b.Bytes()
}

// latexFloats returns the blocks of each float.
func (s *Sheet) latexFloats() [][]*Sheet {
	var out [][]*Sheet
	rows := 0 // rows of the last float
	for _, block := range s.Blocks() {
		cuts := []int{len(block.Columns)}
		if s.Wide == nil {
			cuts = block.cuts(latexLine, block.latexTitles())
		}
		from := 0
		for _, to := range cuts {
			part := block
			if len(cuts) > 1 {
				part = block.slice(from, to).filled()
			}
			from = to
			for _, page := range part.pages() {
				if rows += len(page.Rows); out == nil || rows > latexRows {
					out, rows = append(out, nil), len(page.Rows)
				}
				out[len(out)-1] = append(out[len(out)-1], page)
			}
		}
	}
	return out
}

// pages cuts a block that is too long for a page between its outermost headings.
func (s *Sheet) pages() []*Sheet {
	var out []*Sheet
	from, end := 0, 0 // the rows of the page so far
	cut := func() {
		part := *s
		part.Rows = s.Rows[from:end]
		out, from = append(out, &part), end
	}
	lines := s.Lines()
	for i, l := range lines {
		if l.Level > 0 {
			continue
		}
		to := i + 1 // the row after the last of this heading
		for to < len(lines) && lines[to].Level > 0 {
			to++
		}
		if to-from > latexBlock && end > from {
			cut()
		}
		end = to
	}
	cut()
	return out
}

// continued says what a reader of a further part of the table needs from the first.
func (s *Sheet) continued() string {
	text := ""
	if s.Has(func(e Entry) bool { return e.Place > 0 }) {
		text += " The best of a row is the best of all parts."
	}
	if len(s.Footnotes)+len(s.Notes) > 0 {
		text += " Notes are below the first part."
	}
	return text
}

func (s *Sheet) latexTabular(b *bytes.Buffer) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	p("\\dgkipfit{\\begin{tabular}{%s}\n\\toprule\n", s.latexColumns())
	s.latexHeadings(b)
	for _, l := range s.Lines() {
		switch l.Rule {
		case 2:
			p("\\midrule\n")
		case 1:
			p("\\cmidrule{%d-%d}\n", l.Level+1, len(s.Heads)+len(s.Columns))
		}
		var cells []string
		for j, h := range l.Heads {
			switch l.Spans[j] {
			case 0:
				cells = append(cells, "")
			case 1:
				cells = append(cells, s.latexBox(LatexText(h)))
			default:
				width := "*"
				if s.Wide != nil {
					width = "=" // the width of the column
				}
				cells = append(cells, fmt.Sprintf("\\multirow{%d}{%s}{%s}", l.Spans[j], width, s.latexBox(LatexText(h))))
			}
		}
		for _, e := range l.Cells {
			cells = append(cells, s.latexBox(e.latex()))
		}
		row := strings.Join(cells, " & ")
		if strings.HasPrefix(row, "[") || strings.HasPrefix(row, "*") {
			row = "{}" + row // so that \\ above does not read it as an argument
		}
		p("%s \\\\\n", row)
	}
	p("\\bottomrule\n\\end{tabular}}\n")
}

func (s *Sheet) latexHeadings(b *bytes.Buffer) {
	if s.Groups != nil {
		cells := make([]string, len(s.Heads))
		var rules strings.Builder
		at := len(s.Heads) + 1
		for _, g := range s.Spans() {
			cells = append(cells, fmt.Sprintf("\\multicolumn{%d}{c}{%s}", g.N, LatexText(g.Title)))
			if g.Title != "" {
				fmt.Fprintf(&rules, "\\cmidrule(lr){%d-%d}", at, at+g.N-1)
			}
			at += g.N
		}
		fmt.Fprintf(b, "%s \\\\\n", strings.Join(cells, " & "))
		// The fallback without booktabs does not accept (lr), so it is left out.
		text := rules.String()
		fmt.Fprintf(b, "\\ifdefined\\cmidrulekern %s\\else %s\\fi\n", text, strings.ReplaceAll(text, "(lr)", ""))
	}
	var cells []string
	for _, h := range s.Heads {
		cells = append(cells, s.latexBox(LatexText(h)))
	}
	for _, h := range s.latexTitles() {
		lines := strings.Split(h, "\n")
		for i := range lines {
			lines[i] = LatexText(lines[i])
		}
		text := s.latexBox(lines[0])
		if len(lines) > 1 {
			text = "\\shortstack{" + strings.Join(lines, "\\\\") + "}"
		}
		cells = append(cells, text)
	}
	fmt.Fprintf(b, "%s \\\\\n\\midrule\n", strings.Join(cells, " & "))
}

// latexTitles returns the titles of the columns. If the table would be too wide, it splits titles
// that are wider than their column into two lines.
func (s *Sheet) latexTitles() []string {
	if s.Wide != nil || len(s.cuts(latexLine, s.Columns)) == 1 {
		return s.Columns
	}
	out := slices.Clone(s.Columns)
	for i, title := range out {
		longest := 0
		for _, r := range s.Rows {
			longest = max(longest, utf8.RuneCountInString(r.Cells[i].terminal(false)))
		}
		if utf8.RuneCountInString(title) <= longest {
			continue
		}
		cut, middle := -1, len(title)/2
		for at, c := range title {
			if c == ' ' && (cut < 0 || max(at-middle, middle-at) < max(cut-middle, middle-cut)) {
				cut = at
			}
		}
		if cut > 0 {
			out[i] = title[:cut] + "\n" + title[cut+1:]
		}
	}
	return out
}

func (e Entry) latex() string {
	if e.State != Value {
		return LatexText(e.Plain()) + latexMarks(e.Marks)
	}
	t := LatexNumber(e.Text)
	if e.Spread != "" {
		t += "$\\pm$" + LatexText(e.Spread)
	}
	switch e.Place {
	case 1:
		t = "\\textbf{" + t + "}"
	case 2:
		t = "\\underline{" + t + "}"
	}
	if e.N > 0 {
		t += fmt.Sprintf(" (%d)", e.N)
	}
	return t + latexMarks(e.Marks)
}

// latexMarks sets marks in a formula, because only the fonts of formulas have outlines for all of
// them.
func latexMarks(marks string) string {
	if marks == "" {
		return ""
	}
	return "$^{\\mathrm{" + strings.ReplaceAll(LatexText(marks), "$", "") + "}}$"
}

// latexColumns returns the column specification. Text columns are boxes that break lines.
func (s *Sheet) latexColumns() string {
	if s.Wide == nil {
		return strings.Repeat("l", len(s.Heads)) + strings.Repeat("c", len(s.Columns))
	}
	var b strings.Builder
	for _, w := range s.Wide {
		fmt.Fprintf(&b, "p{%.3f\\linewidth}", w)
	}
	return b.String()
}

// latexBox sets text in a box of latexColumns with ragged lines. \raggedright would need a \par,
// which adds an empty line, or would change the command that ends a row.
func (s *Sheet) latexBox(text string) string {
	if s.Wide == nil || text == "" {
		return text
	}
	return "\\rightskip0pt plus1fil\\relax " + text
}
