package sheet

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// latexFallbacks stand in for packages that a document may not load. They use
// nothing but LaTeX itself, and expand to what may follow the end of a row.
const latexFallbacks = `\providecommand{\toprule}{\hline}\providecommand{\midrule}{\hline}\providecommand{\bottomrule}{\hline}%
\providecommand{\cmidrule}[1]{\cline{#1}}\providecommand{\multirow}[3]{#3}%
\ifdefined\resizebox\long\def\dgkipfit#1{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}\else\long\def\dgkipfit#1{\scriptsize#1}\fi
`

// Sizes of a float: characters of footnotesize to a line of an A4 page, beyond which a
// table would have to shrink, and rows to a page with a caption and notes.
const (
	latexLine = 118
	latexRows = 30
)

// Latex writes the table as a float, or as several where one would fill more than a
// page. It looks as intended with booktabs, graphicx and multirow, and compiles without
// them. Source names what the table is of.
func (s *Sheet) Latex(source string) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("%% Written from the records of %s; changes will be lost.\n", Plain(source))
	p("%% \\usepackage{booktabs,graphicx,multirow} for its best looks; without them it compiles, too.\n")
	b.WriteString(latexFallbacks)
	for i, blocks := range s.latexFloats() {
		if i == 0 {
			p("\\begin{table*}[htbp]\n\\centering\n\\caption{%s}\n\\label{tab:%s}\n", LatexText(s.Caption), LatexLabel(s.Name))
		} else {
			p("\\begin{table*}[htbp]\n\\centering\n\\addtocounter{table}{-1}\n\\caption{%s, continued. A row's best is the best of all parts. What marks mean stands below the first part.}\n", LatexText(s.Title))
		}
		p("\\smallskip\n\\footnotesize\\setlength{\\tabcolsep}{4pt}\n")
		// Rules without booktabs have no room around them.
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
				p("%s%s\\par\n", latexMarks(n.Mark), LatexText(n.Text))
			}
			for _, n := range s.Notes {
				p("%s\\par\n", LatexText(n))
			}
		}
		p("\\end{table*}\n")
	}
	return b.Bytes()
}

// latexFloats are the blocks that stand in each float.
func (s *Sheet) latexFloats() [][]*Sheet {
	var out [][]*Sheet
	rows := 0 // of the last float
	for _, block := range s.Blocks() {
		cuts := []int{len(block.Columns)}
		if !s.Prose {
			cuts = block.cuts(latexLine, block.latexTitles())
		}
		from := 0
		for _, to := range cuts {
			part := block
			if len(cuts) > 1 {
				part = block.slice(from, to).filled()
			}
			from = to
			if rows += len(part.Rows); out == nil || rows > latexRows {
				out, rows = append(out, nil), len(part.Rows)
			}
			out[len(out)-1] = append(out[len(out)-1], part)
		}
	}
	return out
}

func (s *Sheet) latexTabular(b *bytes.Buffer) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	p("\\dgkipfit{\\begin{tabular}{%s}\n\\toprule\n", s.latexColumns())
	s.latexHeadings(b)
	for i, l := range s.lines() {
		switch s.rule(i, l) {
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
					width = "=" // as wide as the column
				}
				cells = append(cells, fmt.Sprintf("\\multirow{%d}{%s}{%s}", l.Spans[j], width, s.latexBox(LatexText(h))))
			}
		}
		for _, e := range l.Cells {
			cells = append(cells, s.latexBox(e.latex()))
		}
		row := strings.Join(cells, " & ")
		if strings.HasPrefix(row, "[") || strings.HasPrefix(row, "*") {
			row = "{}" + row // no argument of the \\ above
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
		for _, g := range s.Groups {
			cells = append(cells, fmt.Sprintf("\\multicolumn{%d}{c}{%s}", g.N, LatexText(g.Title)))
			if g.Title != "" {
				fmt.Fprintf(&rules, "\\cmidrule(lr){%d-%d}", at, at+g.N-1)
			}
			at += g.N
		}
		fmt.Fprintf(b, "%s \\\\\n", strings.Join(cells, " & "))
		// Without booktabs the fallback takes no (lr), so none is given there.
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

// latexTitles are the columns' titles. Where the table would be too wide, those that are
// longer than what stands below them are in two lines.
func (s *Sheet) latexTitles() []string {
	if s.Prose || len(s.cuts(latexLine, s.Columns)) == 1 {
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

// latexMarks sets marks in a formula, whose fonts have all of them as outlines.
func latexMarks(marks string) string {
	if marks == "" {
		return ""
	}
	return "$^{\\mathrm{" + strings.ReplaceAll(LatexText(marks), "$", "") + "}}$"
}

// latexColumns describes the columns, texts in boxes that break lines.
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

// latexBox sets text in a box of latexColumns, its lines as long as words have it.
// \raggedright would need a \par here, which adds an empty line, or change what ends a row.
func (s *Sheet) latexBox(text string) string {
	if s.Wide == nil || text == "" {
		return text
	}
	return "\\rightskip0pt plus1fil\\relax " + text
}
