package sheet

import (
	"strings"
	"unicode"
)

// LatexText escapes text for LaTeX, outside of formulas. Characters that LaTeX cannot read become
// commands, or question marks if there is no command.
func LatexText(s string) string {
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
			r = '?' // plain LaTeX would stop at this character
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
	'†': `$\dagger$`, '‡': `$\ddagger$`, '§': `$\S$`, '¶': `$\P$`, 'µ': `$\mu$`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'ε': `$\varepsilon$`, 'η': `$\eta$`, 'θ': `$\theta$`,
	'ζ': `$\zeta$`, 'ι': `$\iota$`, 'κ': `$\kappa$`, 'λ': `$\lambda$`, 'μ': `$\mu$`, 'ν': `$\nu$`, 'ξ': `$\xi$`, 'π': `$\pi$`, 'ρ': `$\rho$`, 'σ': `$\sigma$`, 'τ': `$\tau$`, 'υ': `$\upsilon$`, 'φ': `$\varphi$`, 'χ': `$\chi$`, 'ψ': `$\psi$`, 'ω': `$\omega$`,
	'Γ': `$\Gamma$`, 'Δ': `$\Delta$`, 'Θ': `$\Theta$`, 'Λ': `$\Lambda$`, 'Ξ': `$\Xi$`, 'Π': `$\Pi$`, 'Σ': `$\Sigma$`, 'Φ': `$\Phi$`, 'Ψ': `$\Psi$`, 'Ω': `$\Omega$`,
}

// LatexNumber is LatexText with a minus sign instead of a hyphen before a number.
func LatexNumber(s string) string {
	if len(s) > 1 && s[0] == '-' && s[1] >= '0' && s[1] <= '9' {
		return "$-$" + LatexText(s[1:])
	}
	return LatexText(s)
}

// LatexLabel turns a name into a valid label.
func LatexLabel(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, name)
}
