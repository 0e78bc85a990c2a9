package report

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

// latex writes the table as a float. It looks as intended with booktabs, graphicx
// and multirow, and compiles without them.
func (s *sheet) latex(spec string) []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("%% Written from the records of %s; changes will be lost.\n", latexComment(spec))
	p("%% \\usepackage{booktabs,graphicx,multirow} for its best looks; without them it compiles, too.\n")
	b.WriteString(latexFallbacks)
	p("\\begin{table*}[tp]\n\\centering\n\\caption{%s}\n\\label{tab:%s}\n\\smallskip\n\\footnotesize\\setlength{\\tabcolsep}{4pt}\n", latexText(s.caption), latexLabel(s.name))
	// Rules without booktabs have no room around them.
	p("\\ifdefined\\cmidrulekern\\else\\renewcommand{\\arraystretch}{1.35}\\fi\n")
	for i, block := range s.blocks() {
		if i > 0 {
			p("\\par\\medskip\n")
		}
		block.latexTabular(&b)
	}
	if len(s.notes) > 0 {
		p("\\par\\smallskip\\raggedright\n")
		for _, n := range s.notes {
			p("%s\\par\n", latexText(n))
		}
	}
	p("\\end{table*}\n")
	return b.Bytes()
}

func (s *sheet) latexTabular(b *bytes.Buffer) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	p("\\dgkipfit{\\begin{tabular}{%s}\n\\toprule\n", s.latexColumns())
	s.latexHeadings(b)
	total := len(s.heads) + len(s.columns)
	for i, r := range s.rows {
		if i > 0 && r.level == 0 && len(s.heads) > 1 {
			p("\\midrule\n")
		} else if i > 0 && r.level < len(s.heads)-1 {
			p("\\cmidrule{%d-%d}\n", r.level+1, total)
		}
		var cells []string
		for _, h := range r.heads {
			switch {
			case h.span == 0:
				cells = append(cells, "")
			case h.span == 1:
				cells = append(cells, s.latexBox(latexText(h.text)))
			default:
				cells = append(cells, fmt.Sprintf("\\multirow{%d}{*}{%s}", h.span, latexText(h.text)))
			}
		}
		for _, e := range r.cells {
			cells = append(cells, s.latexBox(e.latex()))
		}
		p("%s \\\\\n", strings.Join(cells, " & "))
	}
	p("\\bottomrule\n\\end{tabular}}\n")
}

func (s *sheet) latexHeadings(b *bytes.Buffer) {
	if s.groups != nil {
		cells := make([]string, len(s.heads))
		var rules strings.Builder
		at := len(s.heads) + 1
		for _, g := range s.groups {
			cells = append(cells, fmt.Sprintf("\\multicolumn{%d}{c}{%s}", g.n, latexText(g.title)))
			if g.title != "" {
				fmt.Fprintf(&rules, "\\cmidrule(lr){%d-%d}", at, at+g.n-1)
			}
			at += g.n
		}
		fmt.Fprintf(b, "%s \\\\\n", strings.Join(cells, " & "))
		// Without booktabs the fallback takes no (lr), so none is given there.
		text := rules.String()
		fmt.Fprintf(b, "\\ifdefined\\cmidrulekern %s\\else %s\\fi\n", text, strings.ReplaceAll(text, "(lr)", ""))
	}
	var cells []string
	for _, h := range append(append([]string{}, s.heads...), s.columns...) {
		cells = append(cells, s.latexBox(latexText(h)))
	}
	fmt.Fprintf(b, "%s \\\\\n\\midrule\n", strings.Join(cells, " & "))
}

func (e entry) latex() string {
	if e.state != value {
		return latexText(e.plain()) + latexMarks(e.marks)
	}
	t := latexNumber(e.text)
	if e.spread != "" {
		t += "$\\pm$" + latexText(e.spread)
	}
	switch e.place {
	case 1:
		t = "\\textbf{" + t + "}"
	case 2:
		t = "\\underline{" + t + "}"
	}
	if e.n > 0 {
		t += fmt.Sprintf(" (%d)", e.n)
	}
	return t + latexMarks(e.marks)
}

// latexNumber is latexText with a minus in front of a number, not a hyphen.
func latexNumber(s string) string {
	if len(s) > 1 && s[0] == '-' && s[1] >= '0' && s[1] <= '9' {
		return "$-$" + latexText(s[1:])
	}
	return latexText(s)
}

func latexMarks(marks string) string {
	if marks == "" {
		return ""
	}
	return "\\textsuperscript{" + latexText(marks) + "}"
}

func latexLabel(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, name)
}

// latexColumns describes the columns, texts in boxes that break lines.
func (s *sheet) latexColumns() string {
	if s.wide == nil {
		return strings.Repeat("l", len(s.heads)) + strings.Repeat("c", len(s.columns))
	}
	var b strings.Builder
	for _, w := range s.wide {
		fmt.Fprintf(&b, "p{%s\\linewidth}", fixed(w, 3))
	}
	return b.String()
}

// latexBox sets text in a box of latexColumns.
func (s *sheet) latexBox(text string) string {
	if s.wide == nil || text == "" {
		return text
	}
	return "{\\raggedright " + text + "\\par}"
}
