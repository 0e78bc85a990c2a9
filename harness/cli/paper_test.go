package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"dgkip/harness/experiment"
	"dgkip/harness/report"
	"dgkip/harness/store"
)

// inCopy changes to a folder with the program's paper and experiments, but no records.
func inCopy(t *testing.T) {
	t.Helper()
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, experimentsDir), os.DirFS(filepath.Join(repo, experimentsDir))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{paperSource, filepath.Join(paperDir, "figure1.pdf")} {
		b, err := os.ReadFile(filepath.Join(repo, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(b))
	}
	t.Chdir(dir)
}

// command runs the program, with the experiments of the current folder.
func command(args ...string) (code int, out, errOut string) {
	var a, b strings.Builder
	code = run(context.Background(), newLibrary(fstest.MapFS{}), args, &a, &b)
	return code, a.String(), b.String()
}

// The paper can be typeset without records, only uses tables that an experiment can have, and has
// the same bytes each time.
func TestPaperTypesets(t *testing.T) {
	if _, err := exec.LookPath("pdflatex"); err != nil {
		t.Skip("SKIPPED: pdflatex is not installed")
	}
	if testing.Short() {
		t.Skip("runs LaTeX several times")
	}
	inCopy(t)
	var first []byte
	for range 2 {
		if code, out, errOut := command("-paper"); code != exitDone || !strings.Contains(out, "paper: paper/paper.pdf") {
			t.Fatalf("exit code %d\n%s%s", code, out, errOut)
		}
		pdf, err := os.ReadFile(filepath.Join(paperDir, "paper.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, pdf) {
			t.Error("the PDF differs when it is typeset again")
		}
		first = pdf
		if err := os.Remove(filepath.Join(paperDir, "paper.pdf")); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(paperDir, "paper.*"))
	if err != nil || len(left) != 1 {
		t.Errorf("LaTeX left %v (%v)", left, err)
	}

	// An overfull page is an error, and so is an undefined reference.
	source, err := os.ReadFile(paperSource)
	if err != nil {
		t.Fatal(err)
	}
	for what, says := range map[string]string{
		`\begin{figure}\rule{1cm}{30cm}\end{figure}`: "Float too large for page by ",
		`\clearpage\vbox to 30cm{}`:                  `Overfull \vbox (`,
		`Figure~\ref{fig:gone}`:                      "Reference `fig:gone' on page ",
	} {
		high := strings.Replace(string(source), `\end{document}`, what+`\end{document}`, 1)
		if err := os.WriteFile(paperSource, []byte(high), 0o666); err != nil {
			t.Fatal(err)
		}
		code, _, errOut := command("-paper")
		if code == exitDone || !strings.Contains(errOut, "LaTeX warns about paper/paper.pdf: "+says) {
			t.Errorf("%s: exit code %d, %q", what, code, errOut)
		}
	}
}

// All that the paper uses exists in the experiments, whether they have been run or not.
func TestPaperIsDefined(t *testing.T) {
	inCopy(t)
	f := &flags{library: newLibrary(fstest.MapFS{}), profile: experiment.DefaultProfile}
	uses, err := paperUses()
	if err != nil {
		t.Fatal(err)
	}
	specs, err := f.paperSpecs(uses)
	if err != nil {
		t.Fatal(err)
	}
	if len(specs) == 0 {
		t.Error("the paper uses no experiment")
	}
	none := store.Open(t.TempDir())
	p, err := report.WritePaper(t.TempDir(), specs, none, uses, report.Options{Key: func(*experiment.Cell, uint64) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range p.Undefined {
		t.Error(u)
	}
}

// Without LaTeX, everything else is written, and a note names the missing package.
func TestPaperWithoutLatex(t *testing.T) {
	inCopy(t)
	t.Setenv("PATH", t.TempDir())
	code, out, errOut := command("-paper")
	if code != exitDone || !strings.Contains(out, "paper/paper.pdf was not written: pdflatex is not installed (on Debian: apt-get install texlive-latex-recommended)") {
		t.Errorf("exit code %d: %q, %s", code, out, errOut)
	}
	for _, name := range []string{"macros.tex", "figure2-lr.tex"} {
		if _, err := os.Stat(filepath.Join(generatedDir, name)); err != nil {
			t.Error(err)
		}
	}
}

// An error of LaTeX is shown with its place.
func TestPaperWithMistake(t *testing.T) {
	if _, err := exec.LookPath("pdflatex"); err != nil {
		t.Skip("SKIPPED: pdflatex is not installed")
	}
	inCopy(t)
	for text, want := range map[string]string{
		"\\documentclass{article}\n\\begin{document}\n\\nonsense\n\\end{document}\n": "paper.tex:3: Undefined control sequence",
		"\\documentclass{article}\n\\usepackage{no-such-package}\n\\begin{document}": "apt-get install",
	} {
		write(t, paperSource, text)
		if code, _, errOut := command("-paper"); code != exitFailed || !strings.Contains(errOut, want) {
			t.Errorf("exit code %d, %q; want %q", code, errOut, want)
		}
	}
}
