package sheet

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// nasty contains characters that each format must escape.
const nasty = "50 % of <b>a_b</b> & \\x{$y$} #1 ^~ | `\"'\n\x1b[31m*é – θ ≥ 3"

func TestEscapes(t *testing.T) {
	html := (&Sheet{Caption: "<a href=\"x\">&'"}).HTML()
	for name, c := range map[string]struct{ got, want string }{
		"latex":    {LatexText(nasty), `50 \% of \textless{}b\textgreater{}a\_b\textless{}/b\textgreater{} \& \textbackslash{}x\{\$y\$\} \#1 \textasciicircum{}\textasciitilde{} \textbar{} ` + "`''' " + ` [31m*é -- $\theta$ $\geq$ 3`},
		"markdown": {markdownText(nasty), `50 % of &lt;b&gt;a\_b&lt;/b&gt; &amp; \\x{\$y\$} \#1 ^\~ \| ` + "\\`\"'" + `  \[31m\*é – θ ≥ 3`},
		"terminal": {Plain("a\x1b[31m\nb\tc\x07"), "a [31m b c "},
		"foreign":  {LatexText("naïve Łódź, π 猫 Ω"), `naïve Łódź, $\pi$ ? $\Omega$`},
		"label":    {LatexLabel("a_b c%"), "a-b-c-"},
		"minus":    {LatexNumber("-1.5"), "$-$1.5"},
		"marks":    {latexMarks("a§"), `$^{\mathrm{a\S}}$`},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, c.got, c.want)
		}
	}
	if want := "<p class=\"caption\">&lt;a href=&#34;x&#34;&gt;&amp;&#39;</p>"; !strings.Contains(string(html), want) {
		t.Errorf("html %s lacks %s", html, want)
	}
}

func wide() *Sheet {
	s := &Sheet{Title: "Wide", Heads: []string{"Data", "Size"}, Merge: 2}
	for i := range 8 {
		s.Columns, s.Groups = append(s.Columns, "a column"), append(s.Groups, []Group{{"Ours", false}, {"Others", true}}[i/4])
	}
	for _, size := range []string{"1", "10"} {
		r := Row{Heads: []string{"one", size}}
		for i := range 8 {
			r.Cells = append(r.Cells, Entry{State: Value, Text: "12.34", Spread: "0.5", Place: i % 3})
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

// Entries with the same text share a footnote, whose number is a superscript everywhere. A note
// that begins with a number is not a footnote.
func TestFootnotes(t *testing.T) {
	s := &Sheet{Heads: []string{"D"}, Columns: []string{"a", "b", "c"}, Notes: []string{"2,000 updates."}}
	cells := []Entry{Text("4"), Text("5"), Text("6")}
	for i, text := range []string{"Cut short.", "Not run.", "Cut short."} {
		s.Refer(&cells[i], Mark{Text: text})
	}
	s.Rows = []Row{{Heads: []string{"d"}, Cells: cells}}
	var terminal bytes.Buffer
	if err := s.Terminal(&terminal, 80); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		got   string
		wants []string
	}{
		{string(s.Latex("")), []string{`4$^{\mathrm{1}}$ & 5$^{\mathrm{2}}$ & 6$^{\mathrm{1}}$`, `$^{\mathrm{1}}$Cut short.`, `$^{\mathrm{2}}$Not run.`, "\n2,000 updates."}},
		{string(s.Markdown()), []string{"4<sup>1</sup> | 5<sup>2</sup> | 6<sup>1</sup>", "\n- <sup>1</sup> Cut short.\n- <sup>2</sup> Not run.\n- 2,000 updates.\n"}},
		{string(s.HTML()), []string{"<td>4<sup>1</sup>", "<li><sup>1</sup> Cut short.</li><li><sup>2</sup> Not run.</li><li>2,000 updates.</li>"}},
		{terminal.String(), []string{"4¹", "5²", "6¹", "\n¹ Cut short.\n² Not run.\n2,000 updates.\n"}},
	} {
		for _, want := range c.wants {
			if !strings.Contains(c.got, want) {
				t.Errorf("%q is not in\n%s", want, c.got)
			}
		}
	}
}

// A LaTeX row that begins with a bracket or an asterisk must not be read as an argument of the row
// end above.
func TestRowsThatLookLikeArguments(t *testing.T) {
	s := &Sheet{Heads: []string{"D"}, Columns: []string{"c"}}
	for _, head := range []string{"[b] Robes", "*b", "plain"} {
		s.Rows = append(s.Rows, Row{Heads: []string{head}, Cells: []Entry{Text("1")}})
	}
	if got := string(s.Latex("")); !strings.Contains(got, "{}[b] Robes & 1") || !strings.Contains(got, "{}*b & 1") || strings.Contains(got, "{}plain") {
		t.Errorf("got\n%s", got)
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9]+m")

// A table is split to the width of the terminal, and every part has the row headings. Columns that
// move to the next part may be too wide for that part as well.
func TestNarrow(t *testing.T) {
	groups := &Sheet{Heads: []string{"Data"}, Groups: []Group{{Title: "A"}, {Title: "B"}, {Title: "B"}, {Title: "B"}}, Rows: []Row{{Heads: []string{"d"}}}}
	for _, title := range []string{"1", strings.Repeat("2", 20), strings.Repeat("3", 20), strings.Repeat("4", 20)} {
		groups.Columns, groups.Rows[0].Cells = append(groups.Columns, title), append(groups.Rows[0].Cells, Text(""))
	}
	for _, s := range []*Sheet{wide(), groups} {
		var b bytes.Buffer
		if err := s.Terminal(&b, 60); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(b.String()) {
			if n := len([]rune(escape.ReplaceAllString(strings.TrimRight(l, "\n"), ""))); n > 60 {
				t.Errorf("a line of %d: %q", n, l)
			}
		}
		if n := strings.Count(b.String(), "Data"); n < 2 {
			t.Errorf("%d parts:\n%s", n, &b)
		}
	}
}

// A table that is too wide becomes several, split between groups of columns. A table that is too
// long becomes several floats with one number.
func TestLatexFits(t *testing.T) {
	s := &Sheet{Title: "T", Heads: []string{"Data"}, Merge: 1}
	for _, g := range []string{"one", "two", "three"} {
		for range 4 {
			s.Columns, s.Groups = append(s.Columns, "a long heading"), append(s.Groups, Group{Title: g})
		}
	}
	for range 16 {
		r := Row{Heads: []string{"row"}}
		for range 12 {
			r.Cells = append(r.Cells, Entry{State: Value, Text: "99.95", Spread: "0.05"})
		}
		s.Rows = append(s.Rows, r)
	}
	tex := string(s.Latex("x"))
	for text, n := range map[string]int{"\\begin{table*}": 2, "\\begin{tabular}": 2, "\\addtocounter{table}{-1}": 1, "\\label{tab:": 1, "\\multicolumn{4}{c}{two}": 1} {
		if got := strings.Count(tex, text); got != n {
			t.Errorf("%s %d times, want %d:\n%s", text, got, n, tex)
		}
	}
}

// A table of many rows is cut between its outermost headings.
func TestLatexPages(t *testing.T) {
	s := &Sheet{Title: "T", Heads: []string{"Data", "IPC"}, Merge: 1, Columns: []string{"A"}}
	for i := range 90 {
		s.Rows = append(s.Rows, Row{Heads: []string{strconv.Itoa(i / 30), strconv.Itoa(i)}, Cells: []Entry{Text("1")}})
	}
	var rows []int
	for _, blocks := range s.latexFloats() {
		for _, b := range blocks {
			rows = append(rows, len(b.Rows))
		}
	}
	if !slices.Equal(rows, []int{30, 30, 30}) {
		t.Errorf("floats of %v rows", rows)
	}
	if tex := string(s.Latex("x")); strings.Contains(tex, "best of all parts") || strings.Count(tex, "T, continued.}") != 2 {
		t.Error(tex)
	}
}
