package cli

import (
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"dgkip/harness/rng"
	"dgkip/harness/sets"
)

// fence is a fenced block of a README: commands, or a file if a path in backticks precedes it.
type fence struct{ lang, path, text string }

var pathBefore = regexp.MustCompile("`([a-z/]+\\.(?:go|toml))`:\\s*$")

func fences(readme string) []fence {
	var fs []fence
	parts := strings.Split(readme, "\n```")
	for i := 1; i < len(parts); i += 2 {
		lang, text, _ := strings.Cut(parts[i], "\n")
		f := fence{lang: lang, text: text + "\n"}
		if m := pathBefore.FindStringSubmatch(parts[i-1]); m != nil {
			f.path = m[1]
		}
		fs = append(fs, f)
	}
	return fs
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// drawPictures writes the README's own data, with two classes.
func drawPictures(t *testing.T, dir string) {
	t.Helper()
	for i := range 24 {
		disc, stripes := image.NewGray(image.Rect(0, 0, 16, 16)), image.NewGray(image.Rect(0, 0, 16, 16))
		for y := range 16 {
			for x := range 16 {
				if dx, dy := x-5-i%6, y-5-i%5; dx*dx+dy*dy < 12+i {
					disc.SetGray(x, y, color.Gray{200})
				}
				if (x+i)%4 < 2 {
					stripes.SetGray(x, y, color.Gray{uint8(100 + 5*i)})
				}
			}
		}
		for name, img := range map[string]image.Image{"disc": disc, "stripes": stripes} {
			path := filepath.Join(dir, "pictures", name, strconv.Itoa(i)+".png")
			write(t, path, "")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, img); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// saveSet saves a set of noise as the README does, with the README's own code if PyTorch is
// installed.
func saveSet(t *testing.T, dir, readme string) {
	t.Helper()
	if program := pythonWithTorch(); program != "" {
		t.Log("RUN: saving a set with PyTorch")
		for _, f := range fences(readme) {
			if f.lang != "python" || !strings.Contains(f.text, "torch.save") {
				continue
			}
			run := exec.Command(program, "-c", f.text)
			run.Dir = dir
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		return
	}
	t.Log("SKIPPED: no PyTorch here to save a set with")
	images := make([]float32, 2*28*28)
	rng.Stream(0, "readme").FillNormal(images, 0.5, 0.2)
	b, err := sets.Torch([]sets.Array{sets.Of("pixels", []int{2, 28, 28, 1}, images), sets.Of("labels", []int{2}, []int64{0, 1})})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "symbols-1-0.pt"), string(b))
}

// pythonWithTorch returns a Python interpreter with PyTorch, or "".
func pythonWithTorch() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "import torch").Run() == nil {
			return path
		}
	}
	return ""
}

// The files in the README's pages are written and their commands run in order. So the examples of
// data, methods and experiments work as printed.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs experiments")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the README's commands are for a POSIX shell")
	}
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, page := range []string{"README.md", "experiments/README.md", "baselines/README.md"} {
		text, err := os.ReadFile(filepath.Join(repo, page))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, string(text))
	}
	readme := strings.Join(pages, "\n")
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, experimentsDir), os.DirFS(filepath.Join(repo, experimentsDir))); err != nil {
		t.Fatal(err)
	}
	drawPictures(t, dir)
	saveSet(t, dir, readme)

	// Go files of the README are added to the program by an overlay.
	overlay := map[string]string{}
	var imports strings.Builder
	var commands []string
	for _, f := range fences(readme) {
		switch {
		case strings.HasSuffix(f.path, ".go"):
			write(t, filepath.Join(dir, f.path), f.text)
			overlay[filepath.Join(repo, f.path)] = filepath.Join(dir, f.path)
			imports.WriteString("import _ \"dgkip/" + filepath.ToSlash(filepath.Dir(f.path)) + "\"\n")
		case f.path != "":
			write(t, filepath.Join(dir, f.path), f.text)
		case f.lang == "sh":
			for _, line := range strings.Split(strings.TrimSpace(f.text), "\n") {
				rest, ok := strings.CutPrefix(line, "go run .")
				if !ok {
					t.Errorf("command of the README is not run: %s", line)
				}
				commands = append(commands, rest)
			}
		}
	}
	if len(overlay) != 1 || len(commands) < 5 {
		t.Fatalf("found %d Go files and %d commands in the README", len(overlay), len(commands))
	}
	extra := filepath.Join(dir, "readme.go")
	write(t, extra, "package all\n\n"+imports.String())
	overlay[filepath.Join(repo, "baselines", "all", "readme.go")] = extra
	b, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(b))
	binary := filepath.Join(dir, "dgkip")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, ".")
	build.Dir = repo
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, c := range commands {
		run := exec.Command("sh", "-c", binary+c+" -offline")
		if c == " -h" {
			run = exec.Command(binary, "-h")
		}
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("go run .%s: %v\n%s", c, err, out)
		}
	}
	for _, name := range []string{"mine", "means", "theirs"} {
		if files, _ := filepath.Glob(filepath.Join(dir, "results", "tables", name+".*")); len(files) == 0 {
			t.Errorf("experiment %s wrote no tables", name)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// The first page is short, and all linked pages exist.
func TestReadmeLinks(t *testing.T) {
	repo := filepath.Join("..", "..")
	first, err := os.ReadFile(filepath.Join(repo, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(first), "\n"); n > 200 {
		t.Errorf("README.md has %d lines, want 200 or fewer", n)
	}
	pages := []string{"README.md"}
	for _, m := range link.FindAllStringSubmatch(string(first), -1) {
		if strings.HasSuffix(m[1], "/README.md") {
			pages = append(pages, m[1])
		}
	}
	if len(pages) < 7 {
		t.Errorf("README.md leads to %d pages: %v", len(pages)-1, pages)
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(repo, page))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(repo, filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}
