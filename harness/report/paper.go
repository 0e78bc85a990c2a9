package report

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
	"dgkip/harness/suggest"
)

// Uses is what a LaTeX document takes from a report. It asks for it by
//
//	\val{NAME}        a number: an experiment's name, a slash, one of Numbers; or
//	                  records/count, records/modified, records/hours,
//	                  records/date, records/commit
//	\vals{NAMES}      numbers side by side, with lists in their names: a/(b c)/(1 10) is
//	                  a/b/1, a/b/10, a/c/1 and a/c/10
//	\gentable{NAME}   a table: an experiment's name, with -reproduced, -verdicts,
//	                  -pairs or -claims behind it for the further ones;
//	                  or claims, of all experiments together
//	\genfigure{NAME}  a figure: an experiment's name, a hyphen, the figure's name
type Uses struct {
	Numbers, Tables, Figures []string

	// Rows are the names with lists, as they are written; Numbers has all they stand for.
	Rows []string

	// Dangling are references to labels that neither the document nor what it takes
	// from a report has.
	Dangling []string
}

var (
	refPattern     = regexp.MustCompile(`\\(?:ref|eqref|pageref)\s*\{([^{}#]*)\}`)
	labelPattern   = regexp.MustCompile(`\\label\s*\{([^{}#]*)\}`)
	usesPattern    = regexp.MustCompile(`\\(vals?|gentable|genfigure)\s*\{([^{}#]*)\}`)
	commentPattern = regexp.MustCompile(`(?m)(^|[^\\])((?:\\\\)*)%.*$`)
)

// UsesOf reads what a LaTeX source asks for, each once and in its order.
func UsesOf(tex string) Uses {
	var u Uses
	tex = commentPattern.ReplaceAllString(tex, "$1$2")
	for _, m := range usesPattern.FindAllStringSubmatch(tex, -1) {
		name := strings.TrimSpace(m[2])
		if names := listed(name); m[1] == "vals" && !slices.Equal(names, []string{name}) {
			u.Rows, u.Numbers = with(u.Rows, name), with(u.Numbers, names...)
			continue
		}
		list := map[string]*[]string{"val": &u.Numbers, "vals": &u.Numbers, "gentable": &u.Tables, "genfigure": &u.Figures}[m[1]]
		*list = with(*list, name)
	}
	labels := map[string]bool{}
	for _, m := range labelPattern.FindAllStringSubmatch(tex, -1) {
		labels[strings.TrimSpace(m[1])] = true
	}
	for _, t := range u.Tables {
		labels["tab:"+sheet.LatexLabel(t)] = true
	}
	for _, f := range u.Figures {
		labels["fig:"+sheet.LatexLabel(f)] = true
	}
	for _, m := range refPattern.FindAllStringSubmatch(tex, -1) {
		if name := strings.TrimSpace(m[1]); !labels[name] {
			u.Dangling = with(u.Dangling, name)
		}
	}
	return u
}

// listed are the names that one with lists stands for, itself if there is none in it. The
// last list runs fastest.
func listed(name string) []string {
	before, rest, _ := strings.Cut(name, "(")
	list, after, _ := strings.Cut(rest, ")")
	values := strings.Fields(list)
	if len(values) == 0 {
		return []string{name}
	}
	var out []string
	for _, v := range values {
		for _, end := range listed(after) {
			out = append(out, before+v+end)
		}
	}
	return out
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
	NotRun                   int      // of the numbers that the document uses
	Undefined                []string // what is asked for and does not exist
	Problems                 []string
}

// String counts what was written.
func (p *Paper) String() string {
	return fmt.Sprintf("%s, %s and %s", Count(p.Numbers, "number", "numbers"), Count(p.Tables, "table", "tables"), Count(p.Figures, "figure", "figures"))
}

// WritePaper writes what a document uses into a folder: macros.tex with its numbers, and
// its tables and figures.
func WritePaper(dir string, specs []*experiment.Spec, st *store.Store, uses Uses, o Options) (*Paper, error) {
	o.Only, o.plain = experiment.Filter{}, true
	p := &paper{out: &Paper{}, w: &writer{dir: dir}, results: map[string]*Results{}}
	x := newReader(st)
	for _, s := range specs {
		p.results[s.Name] = x.load(s, o)
		p.names = append(p.names, s.Name)
	}
	p.numbers(uses)
	for _, name := range uses.Tables {
		p.table(name)
	}
	for _, name := range uses.Figures {
		p.figure(name)
	}
	for _, name := range uses.Dangling {
		p.undefined("reference", name)
	}
	for _, name := range p.names {
		p.out.Problems = with(p.out.Problems, p.results[name].Problems...)
	}
	p.w.write()
	return p.out, p.w.err
}

// paper is a Paper in the making.
type paper struct {
	out     *Paper
	w       *writer
	names   []string            // of the experiments
	results map[string]*Results // by name
}

func (p *paper) undefined(what, name string) {
	p.out.Undefined = append(p.out.Undefined, what+" "+name)
}

// numbers writes macros.tex, with the numbers that are used.
func (p *paper) numbers(uses Uses) {
	all := p.records()
	for _, name := range p.names {
		for _, n := range p.results[name].Numbers() {
			n.Name = name + "/" + n.Name
			all = append(all, n)
		}
	}
	named := map[string]Number{}
	for _, n := range all {
		named[n.Name] = n
	}
	var b strings.Builder
	b.WriteString("% Written from the records; changes will be lost. Every line is a number's name and the number.\n\\def\\dgkipset#1#2{\\expandafter\\def\\csname dgkip/#1\\endcsname{#2}}\n")
	b.WriteString("\\def\\dgkipnotrun{\\textit{[not run]}}\n")
	for _, name := range uses.Numbers {
		n, ok := find(named, name)
		if !ok {
			if near := meant(name, all); near != "" {
				name += "; did you mean " + near + "?"
			}
			p.undefined("number", name)
			continue
		}
		p.out.Numbers++
		text := n.latex()
		if text == notRunLatex {
			p.out.NotRun++
		}
		fmt.Fprintf(&b, "\\dgkipset{%s}{%s}\n", name, text)
	}
	for _, name := range uses.Rows {
		fmt.Fprintf(&b, "\\dgkipset{%s}{\\val{%s}}\n", name, strings.Join(listed(name), "}&\\val{"))
	}
	p.w.put("macros.tex", []byte(b.String()))
}

// meant returns the number whose name differs in one part, and there in a few letters.
func meant(name string, all []Number) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		var known []string
		for _, n := range all {
			other := strings.Split(n.Name, "/")
			if len(other) == len(parts) && slices.Equal(other[:i], parts[:i]) && slices.Equal(other[i+1:], parts[i+1:]) {
				known = append(known, other[i])
			}
		}
		if near := suggest.Name(part, known); near != "" {
			parts[i] = near
			return strings.Join(parts, "/")
		}
	}
	return ""
}

// records says how many records the numbers and times come from, how long they took, when
// the last of them ended and by which commit of the program it was made. Records of other
// experiments that arrive do not change it.
func (p *paper) records() []Number {
	var last *store.Record
	wall, modified := map[string]float64{}, map[string]bool{} // by key
	for _, name := range p.names {
		for _, c := range p.results[name].Cells {
			for _, run := range append(c.done(), c.timed()...) {
				wall[run.Record.Result.Key] = run.Record.Provenance.Wall
				if slices.ContainsFunc(run.Record.Provenance.Sessions, func(s store.Session) bool { return s.Host.Git.State != "clean" }) {
					modified[run.Record.Result.Key] = true
				}
				if last == nil || run.Record.Provenance.Finished.After(last.Provenance.Finished) {
					last = run.Record
				}
			}
		}
	}
	out := numberList{prefix: "records/"}
	seconds := 0.
	for _, key := range slices.Sorted(maps.Keys(wall)) { // a sum depends on its order
		seconds += wall[key]
	}
	out.add("count", amount(float64(len(wall))))
	out.add("hours", strconv.FormatFloat(seconds/3600, 'f', 0, 64))
	out.add("modified", amount(float64(len(modified))))
	if last == nil {
		out.none("date", sheet.NotRun)
		out.none("commit", sheet.NotRun)
		return out.list
	}
	out.add("date", last.Provenance.Finished.UTC().Format("2 January 2006"))
	commit := "unknown"
	if s := last.Provenance.Sessions; len(s) > 0 && s[len(s)-1].Host.Git.Commit != "" {
		commit = short(s[len(s)-1].Host.Git.Commit)
	}
	out.add("commit", commit)
	return out.list
}

func (p *paper) table(name string) {
	exp, rest := ofExperiment(name, p.names)
	var s *sheet.Sheet
	r := p.results[exp]
	source := ""
	switch {
	case name == "claims" && r == nil:
		s, source = p.claims()
	case r == nil:
	case rest == "":
		s = r.sheets[0]
	default:
		s = r.further(rest)
		if s == nil && rest == "pairs" { // runs to come may give it something to show
			s = &sheet.Sheet{Name: name, Caption: r.Spec.Title + ": " + rest + ". " + capital(r.nothing()) + ".", Columns: []string{"not run"}}
		}
	}
	if s == nil {
		p.undefined("table", name)
		p.drop(name, ".tex")
		return
	}
	if r != nil {
		source = r.source()
	}
	p.out.Tables++
	p.w.put(name+".tex", s.Latex(source))
}

// claims is the table of all experiments' claims, and what it comes from.
func (p *paper) claims() (*sheet.Sheet, string) {
	var all []*Results
	var sources []string
	for _, name := range p.names {
		if r := p.results[name]; len(r.Claims) > 0 {
			all, sources = append(all, r), append(sources, r.source())
		}
	}
	return claimSheet(all), strings.Join(sources, "; ")
}

// drop removes what an earlier report had under a name, which may be any text, unless
// this one has written it.
func (p *paper) drop(name string, kinds ...string) {
	for _, kind := range kinds {
		if file := name + kind; file == filepath.Base(file) && !slices.Contains(p.w.files, filepath.Join(p.w.dir, file)) {
			p.w.remove(file)
		}
	}
}

func (p *paper) figure(name string) {
	exp, rest := ofExperiment(name, p.names)
	r := p.results[exp]
	at := -1
	if r != nil {
		at = slices.IndexFunc(r.Spec.Figures, func(f experiment.Figure) bool { return f.Name == rest })
	}
	if at < 0 {
		p.undefined("figure", name)
		p.drop(name, ".tex", ".pdf")
		return
	}
	p.out.Figures++
	problems := r.Problems
	v, pic := r.shown(r.Spec.Figures[at])
	if pic == nil {
		r.Problems = problems // the document itself says that it is not run
		p.w.remove(name + ".pdf")
		p.w.put(name+".tex", figureLatex(v, r.source(), fmt.Sprintf(`\fbox{\quad\rule[-3ex]{0pt}{8ex}\textit{[%s]}\quad}`, sheet.LatexText(r.nothing()))))
		return
	}
	pdf, err := chart.Render(pic, "pdf")
	if err != nil {
		r.problem("figure %s: %v", name, err)
		return
	}
	p.w.put(name+".pdf", pdf)
	p.w.put(name+".tex", figureLatex(v, r.source(), v.pdf()))
}
