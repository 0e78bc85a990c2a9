package sheet

import (
	"bytes"
	"fmt"
	"strings"
)

// latexFallbacks stand in for packages that a document may not load. They use
// nothing but LaTeX itself, and expand to what may follow the end of a row.
const latexFallbacks = `\providecommand{\toprule}{\hline}\providecommand{\midrule}{\hline}\providecommand{\bottomrule}{\hline}%
\providecommand{\cmidrule}[1]{\cline{#1}}\providecommand{\multirow}[3]{#3}%
\ifdefined\resizebox\long\def\dgkipfit#1{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}\else\long\def\dgkipfit#1{\scriptsize#1}\fi
`

// Latex writes the table as a float. It looks as intended with booktabs, graphicx
// and multirow, and compiles without them. Source names what the table is of.
func (s *Sheet) Latex(source string) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("%% Written from the records of %s; changes will be lost.\n", LatexComment(source))
	p("%% \\usepackage{booktabs,graphicx,multirow} for its best looks; without them it compiles, too.\n")
	b.WriteString(latexFallbacks)
	p("\\begin{table*}[tp]\n\\centering\n\\caption{%s}\n\\label{tab:%s}\n\\smallskip\n\\footnotesize\\setlength{\\tabcolsep}{4pt}\n", LatexText(s.Caption), LatexLabel(s.Name))
	// Rules without booktabs have no room around them.
	p("\\ifdefined\\cmidrulekern\\else\\renewcommand{\\arraystretch}{1.35}\\fi\n")
	for i, block := range s.Blocks() {
		if i > 0 {
			p("\\par\\medskip\n")
		}
		block.latexTabular(&b)
	}
	if len(s.Notes) > 0 {
		p("\\par\\smallskip\\raggedright\n")
		for _, n := range s.Notes {
			p("%s\\par\n", LatexText(n))
		}
	}
	p("\\end{table*}\n")
	return b.Bytes()
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
				cells = append(cells, fmt.Sprintf("\\multirow{%d}{*}{%s}", l.Spans[j], LatexText(h)))
			}
		}
		for _, e := range l.Cells {
			cells = append(cells, s.latexBox(e.latex()))
		}
		p("%s \\\\\n", strings.Join(cells, " & "))
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
	for _, h := range append(append([]string{}, s.Heads...), s.Columns...) {
		cells = append(cells, s.latexBox(LatexText(h)))
	}
	fmt.Fprintf(b, "%s \\\\\n\\midrule\n", strings.Join(cells, " & "))
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

// latexBox sets text in a box of latexColumns.
func (s *Sheet) latexBox(text string) string {
	if s.Wide == nil || text == "" {
		return text
	}
	return "{\\raggedright " + text + "\\par}"
}
