package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"dgkip/harness/experiment"
	"dgkip/harness/report"
	"dgkip/harness/store"
)

// paperDir is the folder of the paper, relative to the current folder.
const paperDir = "paper"

var (
	paperSource  = filepath.Join(paperDir, "paper.tex")
	generatedDir = filepath.Join(paperDir, "generated")
)

// latexPackages is the Debian package that the paper needs.
const latexPackages = "texlive-latex-recommended"

// paperUses reads which tables, figures and numbers the paper uses.
func paperUses() (report.Uses, error) {
	text, err := os.ReadFile(paperSource)
	if errors.Is(err, fs.ErrNotExist) {
		return report.Uses{}, usageError(fmt.Errorf("-paper needs %s, which does not exist\nhint: tables and figures for other documents are in the folders tables and figures of the results", filepath.ToSlash(paperSource)))
	}
	return report.UsesOf(string(text)), err
}

// paperSpecs reads the experiments that the paper uses.
func (f *flags) paperSpecs(uses report.Uses) ([]*experiment.Spec, error) {
	names, err := f.library.names()
	if err != nil {
		return nil, err
	}
	return f.readAll(uses.Experiments(names))
}

// writePaper writes the tables, figures and numbers that the paper uses, and the PDF if LaTeX is
// installed. It ignores -only. It returns what the paper uses but does not exist.
func (f *flags) writePaper(ctx context.Context, out io.Writer, s *store.Store) (undefined []string, err error) {
	uses, err := paperUses()
	if err != nil {
		return nil, err
	}
	specs, err := f.paperSpecs(uses)
	if err != nil {
		return nil, usageError(err)
	}
	plan, err := onRecord(ctx, s, experiment.Runs(specs), experiment.Filter{})
	if err != nil {
		return nil, err
	}
	p, err := report.WritePaper(generatedDir, specs, s, uses, report.Options{Key: plan.Key})
	if err != nil {
		return nil, err
	}
	for _, problem := range p.Problems {
		fmt.Fprintln(out, "note: "+problem)
	}
	fmt.Fprintf(out, "paper: %v in %s", p, generatedDir)
	if p.NotRun > 0 {
		fmt.Fprintf(out, "; without a record: %s", report.Count(p.NotRun, "number", "numbers"))
	}
	fmt.Fprintln(out)
	for _, u := range p.Undefined {
		fmt.Fprintln(out, "undefined in the paper: "+u)
	}
	return p.Undefined, typeset(ctx, out)
}

// onlyPaper runs writePaper without computing an experiment.
func (f *flags) onlyPaper(ctx context.Context, out io.Writer) error {
	undefined, err := f.writePaper(ctx, out, f.store())
	if err == nil && f.check && len(undefined) > 0 {
		return coded{fmt.Errorf("check failed: %s uses %s without a value", filepath.ToSlash(paperSource), report.Count(len(undefined), "name", "names")), exitCheck}
	}
	return err
}

// latexTime limits one run of LaTeX, which usually takes seconds.
const latexTime = 2 * time.Minute

// typeset writes paper.pdf. If LaTeX is missing, it prints a note and returns no error.
func typeset(ctx context.Context, out io.Writer) error {
	pdf := filepath.Join(paperDir, "paper.pdf")
	tex, err := exec.LookPath("pdflatex")
	if err != nil {
		fmt.Fprintf(out, "%s was not written: pdflatex is not installed (on Debian: apt-get install %s); everything else was written\n", filepath.ToSlash(pdf), latexPackages)
		return nil
	}
	dir, err := os.MkdirTemp("", "dgkip-paper-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// References are complete when the auxiliary file no longer changes, after two or three passes.
	var before []byte
	var log string
	for range 5 {
		if log, err = latexPass(ctx, tex, dir); err != nil {
			return err
		}
		aux, err := os.ReadFile(filepath.Join(dir, "paper.aux"))
		if err != nil {
			return err
		}
		if bytes.Equal(aux, before) {
			break
		}
		before = aux
	}
	made, err := os.ReadFile(filepath.Join(dir, "paper.pdf"))
	if err != nil {
		return err
	}
	if err := report.WriteFile(pdf, made); err != nil {
		return err
	}
	fmt.Fprintln(out, "paper: "+filepath.ToSlash(pdf))
	if text := flaw.FindString(log); text != "" {
		return fmt.Errorf("LaTeX warns about %s: %s", filepath.ToSlash(pdf), text)
	}
	return nil
}

// flaw matches LaTeX's messages about tables, figures or pages that are too high, and about references
// to labels that do not exist. LaTeX does not count them as errors.
var flaw = regexp.MustCompile(`Float too large for page.*|Overfull \\vbox.* while \\output is active.*|Reference .* undefined.*`)

// latexPass runs LaTeX once with a fixed clock, so that the same sources give the same bytes.
func latexPass(ctx context.Context, tex, dir string) (log string, err error) {
	ctx, cancel := context.WithTimeout(ctx, latexTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, tex, "-interaction=nonstopmode", "-halt-on-error", "-file-line-error", "-no-shell-escape", "-output-directory="+dir, "paper.tex")
	cmd.Dir = paperDir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=946684800", "FORCE_SOURCE_DATE=1", "max_print_line=1000")
	said, err := cmd.CombinedOutput()
	if err == nil {
		return string(said), nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("LaTeX did not finish: %w\nhint: pdflatex in the folder paper shows where it stops", context.Cause(ctx))
	}
	return "", fmt.Errorf("LaTeX could not typeset %s: %w\n%s", filepath.ToSlash(paperSource), err, latexErrors(string(said)))
}

// latexErrors returns the errors in LaTeX's output, with a hint if a package is missing.
func latexErrors(log string) string {
	var found []string
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "!") || strings.Contains(line, ".tex:") && strings.Contains(line, ": ") {
			found = append(found, "  "+line)
		}
	}
	if len(found) == 0 {
		lines := strings.Split(strings.TrimSpace(log), "\n")
		found = []string{"  LaTeX only says: " + lines[len(lines)-1]}
	}
	text := strings.Join(found[:min(len(found), 5)], "\n")
	if strings.Contains(log, ".sty' not found") {
		text += "\nhint: a package is missing; on Debian: apt-get install " + latexPackages
	}
	return text
}
