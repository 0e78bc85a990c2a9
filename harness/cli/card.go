package cli

import (
	"bytes"
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"dgkip/harness/data"
	"dgkip/harness/engine"
	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/report"
	"dgkip/harness/sets"
)

// card is the content of README.md, without the text that all cards share.
type card struct {
	Command, Format        string
	Rows, Protocols, Terms []string // lines
}

//go:embed card.md
var cardText string

var cardForm = template.Must(template.New("").Parse(cardText))

// card describes exported sets.
func (f *flags) card(specs []*experiment.Spec, written []setFile) ([]byte, error) {
	page := card{Command: f.exportCommand(), Format: f.export}
	for _, set := range written {
		c, id, protocol := set.run.Cell, set.run.Identity, set.run.Cell.Protocol.Info()
		spec := specs[slices.IndexFunc(specs, func(s *experiment.Spec) bool { return s.Name == c.Exp })]
		exp, only := report.Selection(spec, c)
		command := fmt.Sprintf("`go run . %s%s -only '%s seed:%d'`", exp, f.changes(), only, set.run.Seed)
		dataset := c.Data.Shown() + ": " + strings.Join(id.Dataset.Classes, ", ")
		if n := len(id.Dataset.Classes); n > 5 {
			dataset = fmt.Sprintf("%s: %d classes", c.Data.Shown(), n)
		}
		loss := set.loss
		if loss == "" || loss == "softmax" {
			loss = "cross-entropy"
		}
		row := []string{
			set.name, dataset, title(spec, set.run), method.ModelTitle(c.Net.Kind), fmt.Sprint(c.IPC), set.kind, loss,
			fmt.Sprintf("%.2f", 100*set.record.Result.Metrics["test_acc"]), protocol.Title, set.run.Key[:8], command,
		}
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", `\|`)
		}
		page.Rows = append(page.Rows, "| "+strings.Join(row, " | ")+" |")
		page.Protocols = experiment.With(page.Protocols, fmt.Sprintf("* %s: %s.", protocol.Title, protocol.About))
		terms := fmt.Sprintf("* %s, your own data.", c.Data.Shown())
		if info, err := data.Describe(c.Data.Use); err == nil && info.BuiltIn {
			terms = fmt.Sprintf("* %s, drawn by dgkip.", info.Title)
		} else if info.Terms != "" {
			terms = fmt.Sprintf("* %s, %s.", info.Title, info.Terms)
		}
		page.Terms = experiment.With(page.Terms, terms)
	}
	var b bytes.Buffer
	err := cardForm.Execute(&b, page)
	return b.Bytes(), err
}

// exportCommand returns the command that writes the sets. DIR stands for the folder.
func (f *flags) exportCommand() string {
	var names []string
	for _, name := range strings.Split(f.exp, ",") {
		names = append(names, filepath.Base(strings.TrimSpace(name)))
	}
	command := "go run . -exp " + strings.Join(names, ",")
	if f.profile != experiment.DefaultProfile {
		command += " -profile " + f.profile
	}
	command += f.changes()
	if f.only != "" {
		command += " -only '" + f.only + "'"
	}
	return command + " -export " + f.export + " DIR"
}

// changes returns the flags that change an experiment.
func (f *flags) changes() string {
	changes := ""
	if f.seeds > 0 {
		changes = fmt.Sprintf(" -seeds %d", f.seeds)
	}
	for _, one := range f.shownSet() {
		changes += " -set '" + one + "'"
	}
	return changes
}

// title returns the title of a run's method in its experiment.
func title(s *experiment.Spec, r *engine.Run) string {
	if t := s.Titles[r.Cell.Column]; t != "" {
		return t
	}
	return r.Method().Info().Title
}

// textIn returns the text of an array, or "".
func textIn(arrays []sets.Array, name string) string {
	for _, a := range arrays {
		if text, _ := a.Texts(); a.Name == name && len(text) == 1 {
			return text[0]
		}
	}
	return ""
}
