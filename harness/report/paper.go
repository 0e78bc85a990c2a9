package report

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dgkip/harness/exhibit"
	"dgkip/harness/nearest"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// Uses is what a LaTeX document takes from a report. It asks for it by
//
//	\val{NAME}        a number, see Number
//	\gentable{NAME}   a table: an experiment's name, with -reproduced, -comparison,
//	                  -pairs or -claims behind it for the further ones
//	\genfigure{NAME}  a figure: an experiment's name, a hyphen, the figure's name
type Uses struct {
	Numbers, Tables, Figures []string

	// Dangling are references to labels that neither the document nor what it takes
	// from a report has.
	Dangling []string
}

var (
	refPattern     = regexp.MustCompile(`\\(?:ref|eqref|pageref)\s*\{([^{}#]*)\}`)
	labelPattern   = regexp.MustCompile(`\\label\s*\{([^{}#]*)\}`)
	usesPattern    = regexp.MustCompile(`\\(val|gentable|genfigure)\s*\{([^{}#]*)\}`)
	commentPattern = regexp.MustCompile(`(?m)(^|[^\\])((?:\\\\)*)%.*$`)
)

// UsesOf reads what a LaTeX source asks for, each once and in its order.
func UsesOf(tex string) Uses {
	var u Uses
	tex = commentPattern.ReplaceAllString(tex, "$1$2")
	for _, m := range usesPattern.FindAllStringSubmatch(tex, -1) {
		list := map[string]*[]string{"val": &u.Numbers, "gentable": &u.Tables, "genfigure": &u.Figures}[m[1]]
		if name := strings.TrimSpace(m[2]); !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	labels := map[string]bool{}
	for _, m := range labelPattern.FindAllStringSubmatch(tex, -1) {
		labels[strings.TrimSpace(m[1])] = true
	}
	for _, t := range u.Tables {
		labels["tab:"+latexLabel(t)] = true
	}
	for _, f := range u.Figures {
		labels["fig:"+latexLabel(f)] = true
	}
	for _, m := range refPattern.FindAllStringSubmatch(tex, -1) {
		if name := strings.TrimSpace(m[1]); !labels[name] && !slices.Contains(u.Dangling, name) {
			u.Dangling = append(u.Dangling, name)
		}
	}
	return u
}

// Experiments lists those of the known experiments that are used.
func (u Uses) Experiments(known []string) []string {
	used := map[string]bool{}
	for _, n := range u.Numbers {
		exp, _, _ := strings.Cut(n, "/")
		used[exp] = true
	}
	for _, f := range append(slices.Clone(u.Tables), u.Figures...) {
		exp, _ := ofExperiment(f, known)
		used[exp] = true
	}
	return slices.DeleteFunc(slices.Clone(known), func(n string) bool { return !used[n] })
}

// ofExperiment splits the name of a table or figure into an experiment's name and
// the rest. Names may be parts of each other: the longest one counts.
func ofExperiment(name string, known []string) (exp, rest string) {
	for _, n := range known {
		if tail, ok := strings.CutPrefix(name, n); ok && (tail == "" || tail[0] == '-') && len(n) > len(exp) {
			exp, rest = n, strings.TrimPrefix(tail, "-")
		}
	}
	return exp, rest
}

// Paper is what was written for a LaTeX document.
type Paper struct {
	Numbers, Tables, Figures int
	NotRun                   int      // numbers that await their runs
	Undefined                []string // what is asked for and cannot be, with what may have been meant
	Problems                 []string
}

// WritePaper writes macros.tex, tables and figures in a folder: what a document
// uses, or all tables and figures if uses is nil. Of specs those count which the
// document is about; others, of further profiles, only tell which names make sense.
func WritePaper(dir string, specs, others []*exhibit.Spec, st *store.Store, uses *Uses, o Options) (*Paper, error) {
	p, err := newPaper(specs, others, st, o)
	if err != nil {
		return nil, err
	}
	p.w = &writer{dir: dir, out: &Outcome{}}
	if uses == nil {
		uses = p.everything()
	}
	p.numbers(uses.Numbers)
	for _, name := range uses.Tables {
		p.table(name)
	}
	for _, name := range uses.Figures {
		p.figure(name)
	}
	for _, name := range uses.Dangling {
		p.undefined("reference", name, "nothing has this label")
	}
	for _, name := range p.names {
		for _, problem := range p.results[name].Problems {
			if !slices.Contains(p.out.Problems, problem) {
				p.out.Problems = append(p.out.Problems, problem)
			}
		}
	}
	return p.out, p.w.err
}

// CheckPaper returns the undefined ones of the numbers that a document takes from
// these experiments.
func CheckPaper(specs, others []*exhibit.Spec, st *store.Store, uses Uses, o Options) ([]string, error) {
	p, err := newPaper(specs, others, st, o)
	if err != nil {
		return nil, err
	}
	p.lookUp(slices.DeleteFunc(slices.Clone(uses.Numbers), func(n string) bool {
		exp, _, _ := strings.Cut(n, "/")
		return p.results[exp] == nil
	}))
	return p.out.Undefined, nil
}

// paper is a Paper in the making.
type paper struct {
	out     *Paper
	w       *writer
	names   []string            // of the experiments
	results map[string]*Results // by name
	others  map[string][]*Results
}

func newPaper(specs, others []*exhibit.Spec, st *store.Store, o Options) (*paper, error) {
	x, err := newIndex(st)
	if err != nil {
		return nil, err
	}
	o.Only, o.plain = spec.Filter{}, true
	p := &paper{out: &Paper{}, results: map[string]*Results{}, others: map[string][]*Results{}}
	for _, s := range specs {
		p.results[s.Name] = x.load(s, o)
		p.names = append(p.names, s.Name)
	}
	for _, s := range others {
		p.others[s.Name] = append(p.others[s.Name], x.load(s, o))
	}
	return p, nil
}

func (p *paper) everything() *Uses {
	u := &Uses{}
	for _, name := range p.names {
		r := p.results[name]
		if len(r.Spec.Cells) > 0 {
			u.Tables = append(u.Tables, name)
			for _, s := range r.furtherSheets() {
				if s.sheet != nil {
					u.Tables = append(u.Tables, name+"-"+s.name)
				}
			}
		}
		for _, f := range r.Spec.Figures {
			u.Figures = append(u.Figures, name+"-"+f.Name)
		}
	}
	return u
}

func (p *paper) undefined(what, name, hint string) {
	t := what + " " + name
	if hint != "" {
		t += ": " + hint
	}
	p.out.Undefined = append(p.out.Undefined, t)
}

// numbers writes macros.tex.
func (p *paper) numbers(names []string) {
	var b bytes.Buffer
	b.WriteString("% Written from the records; changes will be lost. Every line is a number's name and the number.\n")
	found := p.lookUp(names)
	for _, name := range names {
		if text, ok := found[name]; ok {
			fmt.Fprintf(&b, "\\expandafter\\def\\csname dgkip/%s\\endcsname{%s}\n", name, text)
		}
	}
	p.w.put("macros.tex", b.Bytes())
}

// lookUp returns the numbers of these names as LaTeX, and notes what is undefined.
func (p *paper) lookUp(names []string) map[string]string {
	found := map[string]string{}
	for _, name := range names {
		exp, rest, _ := strings.Cut(name, "/")
		r := p.results[exp]
		if r == nil {
			p.undefined("number", name, p.noExperiment(exp))
			continue
		}
		n, err := r.Number(rest)
		for _, other := range p.others[exp] {
			if err == nil {
				break
			}
			if _, e := other.Number(rest); e == nil {
				n, err = Number{Pending: true}, nil // other profiles have it
			}
		}
		if err != nil {
			p.undefined("number", name, err.Error())
			continue
		}
		p.out.Numbers++
		found[name] = n.latex()
		if n.Pending {
			p.out.NotRun++
		}
	}
	return found
}

// noExperiment says that there is none of the name, and which may have been meant.
func (p *paper) noExperiment(name string) string {
	s := fmt.Sprintf("there is no experiment %q", name)
	if h := nearest.Hint(name, p.names); h != "" {
		s += "; " + h
	}
	return s
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (p *paper) table(name string) {
	exp, rest := ofExperiment(name, p.names)
	r := p.results[exp]
	if r == nil {
		p.undefined("table", name, p.noExperiment(name))
		p.w.remove(name + ".tex")
		return
	}
	var s *sheet
	var known []string
	hint := ""
	switch {
	case len(r.Spec.Cells) == 0:
	case rest == "":
		s = r.table()
	default:
		for _, f := range r.furtherSheets() {
			known = append(known, exp+"-"+f.name)
			if f.name != rest {
				continue
			}
			s = f.sheet
			switch {
			case s != nil:
			case r.declares(rest): // there is nothing to show in it yet
				s = &sheet{name: name, caption: r.Spec.Title + ": " + rest + ". " + capital(r.nothing()) + ".", columns: []string{"not run"}}
			default:
				hint = "the experiment declares nothing that it could show"
			}
		}
	}
	if s == nil {
		p.undefined("table", name, or(hint, nearest.Hint(name, known)))
		p.w.remove(name + ".tex")
		return
	}
	p.out.Tables++
	p.w.put(name+".tex", s.latex(p.source(r)))
}

// declares tells whether runs may give a further table something to show.
func (r *Results) declares(further string) bool {
	switch further {
	case "claims":
		return len(r.Spec.Claims) > 0
	case "reproduced", "comparison":
		return len(r.Spec.Published) > 0
	}
	return true
}

func (p *paper) source(r *Results) string {
	return fmt.Sprintf("the experiment %s (profile %s)", r.Spec.Name, r.Spec.Profile)
}

func (p *paper) figure(name string) {
	exp, rest := ofExperiment(name, p.names)
	r := p.results[exp]
	at := -1
	var known []string
	hint := p.noExperiment(name)
	if r != nil {
		hint = ""
		for i, f := range r.Spec.Figures {
			known = append(known, exp+"-"+f.Name)
			if f.Name == rest {
				at = i
			}
		}
	}
	if at < 0 {
		p.undefined("figure", name, or(hint, or(nearest.Hint(name, known), "the experiment has no such figure")))
		p.w.remove(name + ".tex")
		p.w.remove(name + ".pdf")
		return
	}
	n := len(r.Problems)
	v, pic := r.shown(r.Spec.Figures[at])
	if pic == nil {
		r.Problems = r.Problems[:n] // the document itself says that it is not run
	}
	p.out.Figures++
	var pdf []byte
	if pic != nil {
		var err error
		if pdf, err = render(pic, "pdf"); err != nil {
			r.problem("figure %s: %v", name, err)
		}
	}
	if pdf == nil {
		p.w.remove(name + ".pdf")
		p.w.put(name+".tex", fmt.Appendf(nil, "%% Written from the records of %s; changes will be lost.\n\\begin{figure*}[tp]\n\\centering\n\\fbox{\\quad\\rule[-3ex]{0pt}{8ex}\\textit{[%s]}\\quad}\n\\caption{%s}\n\\label{fig:%s}\n\\end{figure*}\n",
			latexComment(p.source(r)), latexText(r.nothing()), latexText(v.caption), latexLabel(name)))
		return
	}
	p.w.put(name+".pdf", pdf)
	p.w.put(name+".tex", figureLatex(v, p.source(r)))
}

// String counts what was written.
func (p *Paper) String() string {
	s := fmt.Sprintf("%s, %s, %s", count(p.Numbers, "number", "numbers"), count(p.Tables, "table", "tables"), count(p.Figures, "figure", "figures"))
	if p.NotRun > 0 {
		s += fmt.Sprintf("; %s of runs not made", count(p.NotRun, "number", "numbers"))
	}
	return s
}
