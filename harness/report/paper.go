package report

import (
	"cmp"
	"fmt"
	"maps"
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

// Uses are the names that a LaTeX document takes from a report:
//
//	\val{NAME}        a number: an experiment, a slash and a name of Numbers; or
//	                  records/count, records/modified, records/hours,
//	                  records/date, records/commit
//	\vals{NAMES}      several numbers, as cells of a table: a/(b c)/(1 10) means
//	                  a/b/1, a/b/10, a/c/1 and a/c/10
//	\gentable{NAME}   a table: an experiment, followed by -reproduced, -pairs or -claims for
//	                  its further tables; or "claims", of all experiments
//	\genfigure{NAME}  a figure: an experiment, a hyphen and the figure's name
type Uses struct {
	Numbers, Tables, Figures []string

	// Rows are the arguments of \vals that contain lists. Numbers has the expanded names.
	Rows []string
}

var (
	usesPattern    = regexp.MustCompile(`\\(vals?|gentable|genfigure)\s*\{([^{}#]*)\}`)
	commentPattern = regexp.MustCompile(`(?m)(^|[^\\])((?:\\\\)*)%.*$`)
)

// UsesOf reads the names from a LaTeX source, each once and in their order.
func UsesOf(tex string) Uses {
	var u Uses
	tex = commentPattern.ReplaceAllString(tex, "$1$2")
	for _, m := range usesPattern.FindAllStringSubmatch(tex, -1) {
		name := strings.TrimSpace(m[2])
		if names := expandLists(name); m[1] == "vals" && !slices.Equal(names, []string{name}) {
			u.Rows, u.Numbers = with(u.Rows, name), with(u.Numbers, names...)
			continue
		}
		list := map[string]*[]string{"val": &u.Numbers, "vals": &u.Numbers, "gentable": &u.Tables, "genfigure": &u.Figures}[m[1]]
		*list = with(*list, name)
	}
	return u
}

// expandLists expands the lists in a name. The last list runs fastest.
func expandLists(name string) []string {
	before, rest, _ := strings.Cut(name, "(")
	list, after, _ := strings.Cut(rest, ")")
	values := strings.Fields(list)
	if len(values) == 0 {
		return []string{name}
	}
	var out []string
	for _, v := range values {
		for _, end := range expandLists(after) {
			out = append(out, before+v+end)
		}
	}
	return out
}

// Experiments lists the known experiments that the document uses.
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

// ofExperiment splits the name of a table or figure into the experiment and the rest. If several
// experiments fit, the longest name is chosen.
func ofExperiment(name string, known []string) (exp, rest string) {
	for _, n := range known {
		if tail, ok := strings.CutPrefix(name, n); ok && (tail == "" || tail[0] == '-') && len(n) > len(exp) {
			exp, rest = n, strings.TrimPrefix(tail, "-")
		}
	}
	return exp, rest
}

// Paper counts what was written for a LaTeX document.
type Paper struct {
	Numbers, Tables, Figures int
	NotRun                   int      // numbers whose runs are missing
	Undefined                []string // names that do not exist
	Problems                 []string

	w       writer
	names   []string            // of the experiments
	results map[string]*Results // by name
}

// String counts what was written.
func (p *Paper) String() string {
	return fmt.Sprintf("%s, %s and %s", Count(p.Numbers, "number", "numbers"), Count(p.Tables, "table", "tables"), Count(p.Figures, "figure", "figures"))
}

// WritePaper writes the numbers of a document into macros.tex in a folder, and its tables and
// figures into files of their own.
func WritePaper(dir string, specs []*experiment.Spec, st *store.Store, uses Uses, o Options) (*Paper, error) {
	o.Only, o.plain = experiment.Filter{}, true
	p := &Paper{w: writer{dir: dir}, results: map[string]*Results{}}
	x := newReader(st)
	for _, s := range specs {
		p.results[s.Name] = x.load(s, o)
		p.names = append(p.names, s.Name)
	}
	p.writeNumbers(uses)
	for _, name := range uses.Tables {
		p.table(name)
	}
	for _, name := range uses.Figures {
		p.figure(name)
	}
	for _, name := range p.names {
		p.Problems = with(p.Problems, p.results[name].Problems...)
	}
	return p, p.w.write()
}

func (p *Paper) lacks(what, name string) {
	p.Undefined = append(p.Undefined, what+" "+name)
}

// writeNumbers writes macros.tex.
func (p *Paper) writeNumbers(uses Uses) {
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
		n, ok := numberNamed(named, name)
		if !ok {
			if near := similar(name, all); near != "" {
				name += "; did you mean " + near + "?"
			}
			p.lacks("number", name)
			continue
		}
		p.Numbers++
		text := n.latex()
		if text == notRunLatex {
			p.NotRun++
		}
		fmt.Fprintf(&b, "\\dgkipset{%s}{%s}\n", name, text)
	}
	for _, name := range uses.Rows {
		fmt.Fprintf(&b, "\\dgkipset{%s}{\\val{%s}}\n", name, strings.Join(expandLists(name), "}&\\val{"))
	}
	p.w.put("macros.tex", []byte(b.String()))
}

// similar returns the number whose name differs in a few letters of one part.
func similar(name string, all []Number) string {
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

// records returns numbers about the records behind the document: their count, the hours they took,
// the number that a modified program computed, and the date and commit of the newest.
func (p *Paper) records() []Number {
	var all []Run
	// A record that scores the set of another one has its time, too, so the time of a set counts once.
	scoring, making, modified := map[string]float64{}, map[string]float64{}, map[string]bool{} // by key
	for _, name := range p.names {
		for _, c := range p.results[name].Cells {
			runs := append(c.done(), c.timed()...)
			all = append(all, runs...)
			for _, run := range runs {
				key, p := run.Record.Result.Key, run.Record.Provenance
				of := cmp.Or(p.Of, key)
				scoring[key], making[of] = p.Scoring, max(making[of], p.Wall-p.Scoring)
				if slices.ContainsFunc(p.Sessions, func(s store.Session) bool { return s.Host.Git.State == "modified" }) {
					modified[key] = true
				}
			}
		}
	}
	out := numberList{prefix: "records/"}
	seconds := 0.
	for _, of := range []map[string]float64{scoring, making} {
		for _, key := range slices.Sorted(maps.Keys(of)) { // a sum depends on its order
			seconds += of[key]
		}
	}
	out.add("count", amount(float64(len(scoring))))
	out.add("hours", strconv.FormatFloat(seconds/3600, 'f', 0, 64))
	out.add("modified", amount(float64(len(modified))))
	finished, commit := newest(all)
	if finished.IsZero() {
		out.none("date", sheet.NotRun)
		out.none("commit", sheet.NotRun)
		return out.list
	}
	out.add("date", finished.Format("2 January 2006"))
	out.add("commit", commit)
	return out.list
}

func (p *Paper) table(name string) {
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
		if s == nil && rest == "pairs" && r.pairs != nil { // it is empty until there are more runs
			s = &sheet.Sheet{Name: name, Caption: r.Spec.Title + ": " + rest + ". " + capital(r.nothing()) + ".", Columns: []string{"not run"}}
		}
	}
	if s == nil {
		p.lacks("table", name)
		return
	}
	if r != nil {
		source = r.source()
	}
	p.Tables++
	p.w.put(name+".tex", s.Latex(source))
}

// claims returns the table of the claims of all experiments, with its source.
func (p *Paper) claims() (*sheet.Sheet, string) {
	var all []*Results
	var sources []string
	for _, name := range p.names {
		if r := p.results[name]; len(r.Claims) > 0 {
			all, sources = append(all, r), append(sources, r.source())
		}
	}
	return claimSheet(all), strings.Join(sources, "; ")
}

func (p *Paper) figure(name string) {
	exp, rest := ofExperiment(name, p.names)
	r := p.results[exp]
	at := -1
	if r != nil {
		at = slices.IndexFunc(r.Spec.Figures, func(f experiment.Figure) bool { return f.Name == rest })
	}
	if at < 0 {
		p.lacks("figure", name)
		return
	}
	p.Figures++
	v := r.figure(r.Spec.Figures[at])
	if v.picture == nil { // the document shows that the runs are missing
		p.w.remove(name + ".pdf")
		p.w.put(name+".tex", v.latex(r.source(), fmt.Sprintf(`\fbox{\quad\rule[-3ex]{0pt}{8ex}\textit{[%s]}\quad}`, sheet.LatexText(r.nothing()))))
		return
	}
	p.w.put(name+".pdf", chart.Render(v.picture, "pdf"))
	p.w.put(name+".tex", v.latex(r.source(), v.pdf()))
}
