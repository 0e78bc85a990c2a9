package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/png"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"dgkip/harness/experiment"
	"dgkip/harness/report/sheet"
)

// cellView is a cell as the page shows it.
type cellView struct {
	ID                             string
	Dataset, IPC, Method, Protocol string // titles for the filters of the page
	Name, Class, Value, Repeat     string
	Curve                          string // accuracy along the updates, as words "update:percent"
	Picture                        *pictureView
	Seeds                          template.HTML
	Runs                           []Run
}

type pictureView struct {
	Width   int
	Src     string
	Caption string
}

func (r *Results) cellView(c *CellRuns, dir string) cellView {
	v := cellView{ID: r.anchor(c), Name: r.placeName(c.Cell), Repeat: r.repeat(c),
		Dataset: r.valueTitle("dataset", c.Cell.Dataset), IPC: strconv.Itoa(c.Cell.IPC),
		Method: sheet.Plain(r.valueTitle("method", c.Cell.Column)), Protocol: c.Cell.Protocol.Info().Title, Runs: c.Runs}
	v.Seeds = seedTable(c, dir).HTML()
	metric := r.accuracyOf(c.Cell)
	if x := r.cell(c, metric); x.N > 0 {
		v.Value = fmt.Sprintf("%s (%s)", percent(x.value(), x.spread(), x.HasSpread()), c.family(metric))
		v.Curve = r.curve(c, metric)
	} else {
		v.Class, v.Value = sheet.Entry{State: x.State}.Class(), x.State.String()
	}
	if done := c.done(); len(done) > 0 {
		v.Picture = pictureOf(done[0], dir)
	}
	return v
}

// pagePoints bounds the points of a curve on the page.
const pagePoints = 30

// curve returns the mean accuracy of a cell along its updates, or "" if the traces have fewer than
// two points.
func (r *Results) curve(c *CellRuns, metric string) string {
	points := (&figureBuilder{r: r}).trace(c, "update", metric)
	if len(points) < 2 {
		return ""
	}
	var words []string
	for _, p := range thin(points, pagePoints) {
		words = append(words, shortest(p.X)+":"+fixed(p.Y, 2))
	}
	return strings.Join(words, " ")
}

// anchor returns the target of links to a cell on the page.
func (r *Results) anchor(c *CellRuns) string {
	words := []string{r.stem()}
	for _, a := range r.axes() {
		if r.names(a) {
			words = append(words, unlinkable.ReplaceAllString(c.Cell.Point[a], "-"))
		}
	}
	return strings.Join(words, "_")
}

var unlinkable = regexp.MustCompile(`[^\pL\pN.-]+`)

// linkTo returns the link to a file from a page in a folder. It returns "" for files outside the
// folder, because the folder may be moved.
func linkTo(dir, file string) string {
	path, err := filepath.Rel(dir, file)
	if err != nil || !filepath.IsLocal(path) {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

// accuracyOf returns the accuracy that the table shows for a cell, by default the test accuracy.
func (r *Results) accuracyOf(c *experiment.Cell) string {
	if name := metricIn(r.layout.t, pointOf(c, r.layout.t.Columns)); isAccuracy(name) {
		return name
	}
	return "test_acc"
}

// repeat returns the command that computes a cell or, if the cell has records, verifies one of
// them.
func (r *Results) repeat(cell *CellRuns) string {
	exp, only := Selection(r.Spec, cell.Cell)
	command := fmt.Sprintf("go run . %s%s -seeds %d -only '%s'", exp, r.options.changes(), cell.Cell.Seeds, only)
	if len(cell.done()) > 0 {
		command += " -verify 1"
	}
	return command
}

// Selection returns the flags that name an experiment, and the filter that selects one of its
// cells.
func Selection(s *experiment.Spec, c *experiment.Cell) (exp, only string) {
	exp = "-exp " + s.Name
	if filepath.ToSlash(filepath.Dir(s.File)) != "experiments" {
		exp = "-exp " + filepath.Base(s.File) // an experiment of the user; the page does not show its folder
	}
	if s.Profile != experiment.DefaultProfile {
		exp += " -profile " + s.Profile
	}
	var filter []string
	for _, a := range s.Axes {
		if v, ok := c.At(a.Name); ok {
			filter = append(filter, experiment.Term(a.Name, v))
		}
	}
	return exp, strings.Join(filter, " ")
}

// pictureOf returns the picture of a record, or nil if the folder of the page has none.
func pictureOf(run Run, dir string) *pictureView {
	path := linkTo(dir, run.Record.Preview())
	b, err := run.Record.Picture()
	if err != nil || path == "" {
		return nil
	}
	size, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	return &pictureView{size.Width * max(1, 240/size.Width), path, fmt.Sprintf("Distilled images of seed %d.", run.Seed)}
}

// seedTable lists the runs of a cell, with links to their records.
func seedTable(c *CellRuns, dir string) *sheet.Sheet {
	s := &sheet.Sheet{Columns: []string{"Seed", "Test accuracy (%)", "Updates", "Seconds per update", "Wall seconds", "Record"}}
	for _, run := range c.Runs {
		seed := strconv.FormatUint(run.Seed, 10)
		if run.Record == nil {
			cells := make([]sheet.Entry, len(s.Columns))
			cells[0], cells[1].State = sheet.Text(seed), run.state()
			s.Rows = append(s.Rows, sheet.Row{Cells: cells})
			continue
		}
		res, p := run.Record.Result, run.Record.Provenance
		var accuracy, update sheet.Entry
		if acc, ok := metricOf(run.Record, "test_acc"); ok {
			accuracy = sheet.Text(fixed(100*acc, 2))
		}
		if p.Timing.Median > 0 {
			update = sheet.Text(seconds(p.Timing.Median))
		}
		record := sheet.Text(short(res.Key))
		record.Link = linkTo(dir, filepath.Join(run.Record.Dir, "result.json"))
		s.Rows = append(s.Rows, sheet.Row{Cells: []sheet.Entry{
			sheet.Text(seed), accuracy, sheet.Text(strconv.Itoa(res.Updates)), update, sheet.Text(seconds(p.Wall)), record,
		}})
		for _, n := range res.Notes {
			s.Notes = with(s.Notes, sentence(n))
		}
	}
	return s
}
