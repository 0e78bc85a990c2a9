package report

import (
	"html"
	"strings"
	"unicode"
)

// latexText escapes text for LaTeX, outside of mathematics. Signs that a plain
// LaTeX run lacks are spelled with its own commands.
func latexText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if t, ok := latexRunes[r]; ok {
			b.WriteString(t)
			continue
		}
		switch {
		case unicode.IsControl(r):
			r = ' '
		case r > unicode.MaxLatin1 && !unicode.Is(unicode.Latin, r):
			r = '?' // a plain LaTeX run would stop there
		}
		b.WriteRune(r)
	}
	return b.String()
}

var latexRunes = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '^': `\textasciicircum{}`,
	'_': `\_`, '%': `\%`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`,
	'"': `''`,
	'±': `$\pm$`, '×': `$\times$`, '·': `$\cdot$`, '→': `$\to$`, '←': `$\gets$`, '−': `$-$`, '≤': `$\leq$`, '≥': `$\geq$`,
	'≈': `$\approx$`, '≠': `$\neq$`, '∞': `$\infty$`, '°': `$^\circ$`, '√': `$\surd$`, '‖': `$\|$`, '²': `$^2$`, '³': `$^3$`,
	'–': `--`, '—': `---`, '‘': "`", '’': `'`, '“': "``", '”': `''`, '…': `\ldots{}`, '\u00a0': `~`, '\u202f': `\,`,
	'†': `\dag{}`, '‡': `\ddag{}`, '§': `\S{}`, 'µ': `$\mu$`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'ε': `$\varepsilon$`, 'η': `$\eta$`, 'θ': `$\theta$`,
	'ζ': `$\zeta$`, 'ι': `$\iota$`, 'κ': `$\kappa$`, 'λ': `$\lambda$`, 'μ': `$\mu$`, 'ν': `$\nu$`, 'ξ': `$\xi$`, 'π': `$\pi$`, 'ρ': `$\rho$`, 'σ': `$\sigma$`, 'τ': `$\tau$`, 'υ': `$\upsilon$`, 'φ': `$\varphi$`, 'χ': `$\chi$`, 'ψ': `$\psi$`, 'ω': `$\omega$`,
	'Γ': `$\Gamma$`, 'Δ': `$\Delta$`, 'Θ': `$\Theta$`, 'Λ': `$\Lambda$`, 'Ξ': `$\Xi$`, 'Π': `$\Pi$`, 'Σ': `$\Sigma$`, 'Φ': `$\Phi$`, 'Ψ': `$\Psi$`, 'Ω': `$\Omega$`,
}

// latexComment makes text fit for a comment.
func latexComment(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// markdownText escapes text for a Markdown table.
func markdownText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]|~#$", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case unicode.IsControl(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func htmlText(s string) string { return html.EscapeString(s) }

// plainText makes text fit for a terminal: specs and records come from others,
// and must not be able to move the cursor.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
