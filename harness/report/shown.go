package report

import (
	"fmt"

	"dgkip/harness/experiment"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
)

// shown is a figure that there is something to show of.
type shown struct{ Name, Caption string }

// shown makes a figure, nil if there is nothing to show, and its name and caption.
func (r *Results) shown(f experiment.Figure) (shown, chart.Picture) {
	p, caption := r.figure(f)
	if p == nil {
		caption = plainCaption(f)
	}
	return shown{r.stem() + "-" + f.Name, r.selected(caption)}, p
}

// pdf includes a figure as large as it was drawn, or as wide as the text if that is
// less. The folder of its PDF is \dgkipfigures, which a document may define otherwise.
func (v shown) pdf() string {
	return fmt.Sprintf(`\sbox0{\includegraphics{\dgkipfigures %[1]s.pdf}}%%
\ifdim\wd0>\linewidth\wd0=\linewidth\fi\ifdim\wd0>\textwidth\wd0=\textwidth\fi
\includegraphics[width=\wd0,height=0.8\textheight,keepaspectratio]{\dgkipfigures %[1]s.pdf}`, v.Name)
}

// figureLatex is a figure's float, with its picture or what stands for it.
func figureLatex(v shown, source, picture string) []byte {
	return fmt.Appendf(nil, `%% Written from the records of %s; changes will be lost.
\providecommand{\dgkipfigures}{figures/}%%
\begin{figure*}[htbp]
\centering
%s
\caption{%s}
\label{fig:%s}
\end{figure*}
`, sheet.Plain(source), picture, sheet.LatexText(v.Caption), sheet.LatexLabel(v.Name))
}
