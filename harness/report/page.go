package report

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"image/png"
	"slices"
	"strconv"
	"strings"

	"dgkip/harness/spec"
)

//go:embed page.css
var css string

// document is a page of its own with one table.
func (s *sheet) document() []byte {
	var b bytes.Buffer
	open(&b, s.title)
	fmt.Fprintf(&b, "<main><h1>%s</h1>\n", htmlText(s.title))
	b.Write(s.html())
	b.WriteString("</main></body></html>\n")
	return b.Bytes()
}

func open(b *bytes.Buffer, title string) {
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>\n%s</style></head><body>\n", htmlText(title), css)
}

// page is the page of all experiments. It needs nothing but itself: no script, no
// other file, no network.
func page(sections []section) []byte {
	var b bytes.Buffer
	title := "Results"
	if len(sections) == 1 {
		title = sections[0].r.Spec.Title
	}
	open(&b, title)
	b.WriteString("<main>\n")
	if len(sections) > 1 {
		b.WriteString("<h1>Results</h1>\n<nav><ul>\n")
		for _, s := range sections {
			fmt.Fprintf(&b, "<li><a href=\"#%s\">%s</a> <span class=\"dim\">%s</span></li>\n", htmlText(s.r.stem()), htmlText(s.r.Spec.Title), htmlText(s.r.progress()))
		}
		b.WriteString("</ul></nav>\n")
	}
	for _, s := range sections {
		s.write(&b)
	}
	b.WriteString("</main></body></html>\n")
	return b.Bytes()
}

// progress says how much of an experiment is done.
func (r *Results) progress() string {
	done, failed, all := 0, 0, r.distinct()
	for _, run := range all {
		switch {
		case run.Record != nil:
			done++
		case run.Failure != nil:
			failed++
		}
	}
	if len(all) == 0 {
		return ""
	}
	s := fmt.Sprintf("%d of %s done", done, count(len(all), "run", "runs"))
	if failed > 0 {
		s += fmt.Sprintf(", %d failed", failed)
	}
	return s
}

func (s section) write(b *bytes.Buffer) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	r := s.r
	p("<section id=\"%s\">\n<h2>%s</h2>\n", htmlText(r.stem()), htmlText(r.Spec.Title))
	if r.Spec.About != "" {
		p("<p>%s</p>\n", htmlText(r.Spec.About))
	}
	progress := ""
	if t := r.progress(); t != "" {
		progress = ": " + t
	}
	p("<p class=\"dim\">Experiment <code>%s</code>, profile %s%s.</p>\n", htmlText(r.Spec.Name), htmlText(r.Spec.Profile), htmlText(progress))
	if t := r.selection(); t != "" {
		p("<p><b>%s</b></p>\n", htmlText(t))
	}
	if len(r.Problems) > 0 {
		p("<div class=\"problems\"><b>Not complete</b><ul>")
		for _, t := range r.Problems {
			p("<li>%s</li>", htmlText(t))
		}
		p("</ul></div>\n")
	}
	for i, t := range s.sheets {
		if i > 0 {
			p("<h3>%s</h3>\n", htmlText(capital(strings.TrimPrefix(t.title, r.Spec.Title+": "))))
		}
		b.Write(t.html())
	}
	for _, f := range s.figures {
		p("<figure id=\"%s\"><img alt=\"%s\" src=\"data:image/svg+xml;base64,%s\">", htmlText(f.name), htmlText(f.caption), base64.StdEncoding.EncodeToString(f.svg))
		p("<figcaption>%s</figcaption></figure>\n", htmlText(f.caption))
	}
	r.methods(b)
	if len(r.Cells) > 0 {
		p("<h3>Cells</h3>\n<p class=\"dim\">Settings, seeds, curves, origin, and the command that repeats each.</p>\n")
		for _, c := range r.Cells {
			r.cellDetails(b, c)
		}
	}
	p("</section>\n")
}

// methods tells where the methods come from, and how they differ from that.
func (r *Results) methods(b *bytes.Buffer) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	var told []string
	for _, c := range r.Cells {
		info := c.Cell.Method().Info()
		if slices.Contains(told, info.Name) {
			continue
		}
		if told == nil {
			p("<h3>Methods</h3>\n")
		}
		told = append(told, info.Name)
		p("<details><summary>%s <code>%s</code>, version %d</summary>\n<p>%s.", htmlText(info.Title), htmlText(info.Name), info.Version, htmlText(capital(info.About)))
		if info.Citation != "" {
			p(" %s.", htmlText(capital(info.Citation)))
		}
		p("</p>\n")
		if len(info.Deviations) > 0 {
			p("<p>It differs from the original:</p><ul>")
			for _, d := range info.Deviations {
				p("<li>%s</li>", htmlText(d))
			}
			p("</ul>\n")
		}
		p("</details>\n")
	}
}

func (r *Results) cellDetails(b *bytes.Buffer, c *CellRuns) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	value := "not run"
	class := "none"
	if s, ok := c.summary("test_acc"); ok {
		class = ""
		value = fixed(100*s.Mean, 2)
		if s.HasSpread() {
			value += " ± " + fixed(100*s.SD, 2)
		}
		value += " %"
	} else if c.failed() > 0 {
		value, class = "failed", "bad"
	}
	p("<details><summary>%s <span class=\"%s\">%s</span></summary>\n", htmlText(r.placeName(c.Cell)), class, htmlText(value))
	p("<p>Repeat: <code class=\"cmd\">%s</code></p>\n", htmlText(r.Repeat(c.Cell)))
	done := c.done()
	if len(done) > 0 {
		r.picture(b, done[0])
		r.sparks(b, done)
	}
	r.seedTable(b, c)
	for _, run := range c.Runs {
		if f := run.Failure; run.Record == nil && f != nil {
			p("<details class=\"in\"><summary>Seed %d failed: %s</summary><pre>%s</pre></details>\n", run.Seed, htmlText(f.Kind), htmlText(f.Message+"\n"+head40(f.Stack)))
		}
	}
	r.settings(b, c)
	if len(done) > 0 {
		origin(b, done)
	}
	p("</details>\n")
}

// head40 is the beginning of a stack.
func head40(s string) string {
	lines := strings.Split(s, "\n")
	if len(lines) > 40 {
		lines = append(lines[:40], "...")
	}
	return strings.Join(lines, "\n")
}

// Repeat is the command that computes a cell again.
func (r *Results) Repeat(c *spec.Cell) string {
	parts := []string{r.options.command(), "-exp", r.Spec.Name}
	if p := r.Spec.Profile; p != "" && p != spec.DefaultProfile {
		parts = append(parts, "-profile", p)
	}
	var filter []string
	for _, a := range r.Spec.Axes {
		if v, ok := c.At(a.Name); ok {
			filter = append(filter, a.Name+":"+v)
		}
	}
	parts = append(parts, "-seeds", strconv.Itoa(len(r.Spec.Seeds)), "-only", "'"+strings.Join(filter, " ")+"'", "-force")
	return strings.Join(parts, " ")
}

// pictureImages is how many images a class the page shows of a cell.
const pictureImages = 10

func (r *Results) picture(b *bytes.Buffer, run Run) {
	img, cell := previewOf(run.Record, pictureImages)
	if img == nil {
		return
	}
	wide := img.Bounds().Dx() * max(1, 60/cell)
	var data bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(&data, img); err != nil {
		return
	}
	fmt.Fprintf(b, "<figure class=\"small\"><img class=\"pixels\" width=\"%d\" alt=\"distilled images\" src=\"data:image/png;base64,%s\"><figcaption>Distilled images of seed %d, a line a class%s.</figcaption></figure>\n",
		wide, base64.StdEncoding.EncodeToString(data.Bytes()), run.Seed, beginning(run))
}

func beginning(run Run) string {
	res := run.Record.Result
	if each := res.Images / max(1, len(res.Identity.Dataset.Classes)); each > pictureImages {
		return fmt.Sprintf(", the first %d of %d", pictureImages, each)
	}
	return ""
}

func (r *Results) seedTable(b *bytes.Buffer, c *CellRuns) {
	s := &sheet{heads: []string{"Seed"}, columns: []string{"Test accuracy (%)", "Test errors", "Updates", "Seconds per update", "Wall seconds", "Record"}}
	text := func(t string) entry { return entry{state: value, text: t} }
	var notes []string
	said := map[string][]string{} // the seeds with a note
	for _, run := range c.Runs {
		line := row{heads: []head{{strconv.FormatUint(run.Seed, 10), 1}}}
		if run.Record == nil {
			e := entry{state: notRun}
			if run.Failure != nil {
				e.state = failed
			}
			line.cells = []entry{e, {}, {}, {}, {}, {}}
		} else {
			res, p := run.Record.Result, run.Record.Provenance
			var errors []string
			for _, n := range res.Counts["test_errors"] {
				errors = append(errors, strconv.FormatInt(n, 10))
			}
			acc, _ := metricOf(run.Record, "test_acc")
			line.cells = []entry{text(fixed(100*acc, 2)), text(strings.Join(errors, " ")), text(strconv.Itoa(res.Updates)), {}, text(seconds(p.Wall)), text(short(res.Key))}
			if p.Timing.Median > 0 {
				line.cells[3] = text(seconds(p.Timing.Median))
				if p.Timing.Shared {
					line.cells[3].marks = sharedMark
				}
				if p.Timing.Hosts > 1 {
					line.cells[3].marks += mixedMark
				}
			}
			for _, n := range res.Notes {
				if !slices.Contains(notes, n) {
					notes = append(notes, n)
				}
				said[n] = append(said[n], strconv.FormatUint(run.Seed, 10))
			}
		}
		s.rows = append(s.rows, line)
	}
	for _, n := range notes {
		who := "Seed "
		if len(said[n]) > 1 {
			who = "Seeds "
		}
		s.notes = append(s.notes, who+list(said[n])+": "+sentence(n))
	}
	s.spans(0)
	b.Write(s.html())
}

// settings shows what the cell's runs were declared to be.
func (r *Results) settings(b *bytes.Buffer, c *CellRuns) {
	id := c.Cell.Identity(spec.DatasetIdentity{Name: c.Cell.Dataset}, 0)
	if done := c.done(); len(done) > 0 {
		id = done[0].Record.Result.Identity
	}
	s := &sheet{heads: []string{"Setting"}, columns: []string{"Value"}, left: true}
	add := func(name string, v any) {
		s.rows = append(s.rows, row{heads: []head{{name, 1}}, cells: []entry{{state: value, text: string(spec.Canonical(v))}}})
	}
	s.rows = append(s.rows, row{heads: []head{{"data", 1}}, cells: []entry{{state: value, text: dataText(id.Dataset)}}})
	part := func(what string, p spec.PartIdentity) {
		s.rows = append(s.rows, row{heads: []head{{what, 1}}, cells: []entry{{state: value, text: fmt.Sprintf("%s, version %d", p.Name, p.Version)}}})
		for _, k := range sortedKeys(p.Settings) {
			add(what+"."+k, p.Settings[k])
		}
	}
	part("method", id.Method)
	for _, k := range sortedKeys(id.Model) {
		add("model."+k, id.Model[k])
	}
	part("eval", id.Eval)
	s.spans(0)
	b.WriteString("<details class=\"in\"><summary>Settings</summary>\n")
	b.Write(s.html())
	b.WriteString("</details>\n")
}

func dataText(d spec.DatasetIdentity) string {
	parts := []string{d.Name}
	if len(d.Classes) > 0 {
		parts = append(parts, "classes "+list(d.Classes))
	}
	if d.Preprocess != "" {
		parts = append(parts, "preprocessing "+d.Preprocess)
	}
	if d.Digest != "" {
		parts = append(parts, d.Digest)
	}
	return strings.Join(parts, ", ")
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// origin shows where and when the runs were made.
func origin(b *bytes.Buffer, runs []Run) {
	s := &sheet{heads: []string{"Seed"}, columns: []string{"Machine", "Program", "When", "Took", "Command line"}, left: true}
	text := func(t string) entry { return entry{state: value, text: t} }
	for _, run := range runs {
		p := run.Record.Provenance
		for i, x := range p.Sessions {
			h := x.Host
			machine := []string{h.Name, h.CPU, x.Kernels, h.OS + "/" + h.Arch, count(h.Cores, "core", "cores"), fmt.Sprintf("%s of %s", count(x.Jobs, "job", "jobs"), count(x.Threads, "thread", "threads"))}
			program := h.Go + ", commit " + short(h.Git.Commit) + " (" + h.Git.State + ")"
			took := seconds(x.Seconds) + " s"
			if i == 0 {
				took = fmt.Sprintf("%s s wall, %s s CPU, %s MiB", seconds(p.Wall), seconds(p.CPU), fixed(float64(p.Memory)/(1<<20), 0))
			}
			s.rows = append(s.rows, row{heads: []head{{strconv.FormatUint(run.Seed, 10), 1}}, cells: []entry{
				text(strings.Join(slices.DeleteFunc(machine, func(s string) bool { return s == "" }), ", ")), text(program),
				text(x.Started.UTC().Format("2006-01-02 15:04:05 UTC")), text(took), text(strings.Join(x.Args, " "))}})
		}
	}
	s.spans(1)
	b.WriteString("<details class=\"in\"><summary>Origin</summary>\n")
	b.Write(s.html())
	b.WriteString("</details>\n")
}
