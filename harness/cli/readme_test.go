package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dgkip/harness/arrays"
	"dgkip/harness/data"
	"dgkip/harness/exhibit"
	"dgkip/harness/npz"
	"dgkip/harness/report"
	"dgkip/harness/rng"
	"dgkip/harness/spec"
	"dgkip/harness/store"
)

// fence is a fenced block of the README: a file, if a path in backticks stands in
// front of it, or commands.
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

// drawPictures writes the two classes of the README's own data.
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

// saveSet saves a set of noise as the README does, by its own lines where there is
// PyTorch.
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
	rng.Stream(0, "readme").FillUniform(images, 0, 1)
	b, err := arrays.Torch([]npz.Array{npz.Of("pixels", []int{2, 1, 28, 28}, images), npz.Of("labels", []int{2}, []int64{0, 1})})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "garments-1-0.pt"), string(b))
}

// pythonWithTorch returns an interpreter that has PyTorch, "" if there is none.
func pythonWithTorch() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "import torch").Run() == nil {
			return path
		}
	}
	return ""
}

// The files of the README's pages are written and their commands run, in their order: the
// examples of data, of a method and of experiments work as they stand.
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

	// Go files of the README join the program as it is built, and no other way.
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

// The first page is short, and what the pages link to is there.
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

// headline matches a row of the README's first table: one of the numbers of images
// a class, and a cell for each column.
var headline = regexp.MustCompile(`(?m)^\|([^|\n]*)\| (\d+) \|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|$`)

// reported returns the README, and what the records say under the names that numbers have
// in the report.
func reported(t *testing.T) (readme string, values map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := store.Open(filepath.Join("..", "..", "results"))
	values = map[string]string{}
	low, high := math.Inf(1), 0.0 // tolerances of Tables 1 to 3 on CIFAR-10
	for _, name := range []string{"table1", "table2", "beyond", "beyond-grey", "convergence", "crossings", "labels", "seeds", "starts", "table3", "ten", "units"} {
		of, err := exhibit.ReadFile(filepath.Join("..", "..", experimentsDir, name+".toml"), spec.Options{Datasets: data.Names()})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := onRecord(t.Context(), s, exhibit.Runs([]*exhibit.Spec{of}), spec.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		results := report.Load(of, s, report.Options{Key: plan.Key})
		for _, n := range results.Numbers() {
			values[name+"/"+n.Name] = leading.FindString(n.Text)
		}
		for _, c := range results.Claims {
			at, n := name+"/claim/"+c.Claim.ID, c.OursParts
			values[at+"/holds"] = strconv.Itoa(n.Holds)
			values[at+"/open"], values[at+"/of"] = strconv.Itoa(n.Open), strconv.Itoa(n.Open+n.Holds+n.Fails)
		}
		if name == "table1" || name == "table2" || name == "table3" {
			for _, b := range results.Published {
				if b.Cell.Dataset == "cifar-10" && !math.IsNaN(b.Tolerance) {
					low, high = min(low, b.Tolerance), max(high, b.Tolerance)
				}
			}
		}
	}
	values["tolerance"] = fmt.Sprintf("%.0f to %.0f", low, high)
	return string(text), values
}

// leading matches the number that a text begins with, or two with what is between.
var leading = regexp.MustCompile(`^[0-9.]*(,[0-9]{3})*( to [0-9.]+(,[0-9]{3})*)?`)

// The accuracies of ten classes in the README are those of the report.
func TestReadmeTenClasses(t *testing.T) {
	readme, values := reported(t)
	cells := map[string]string{
		"LS (pred.), 8 ConvNets":                        "cifar-10-zca/%s/ls-pred/conv",
		"DGKIP-LS, 8 ConvNets":                          "cifar-10-zca/%s/dgkip-ls/conv",
		"DGKIP-LS, a pool of two draws of 8 ConvNets":   "cifar-10-zca/%s/ls-pool/conv",
		"KIP, 8 ConvNets":                               "cifar-10-zca/%s/kip/conv",
		"DGKIP-softmax, 8 ConvNets":                     "cifar-10-zca/%s/dgkip-softmax/conv",
		"random real images, labels solved, 8 ConvNets": "cifar-10-zca/%s/random-ls/conv",
		"all 50,000 images, 8 ConvNets":                 "cifar-10-zca/10/whole/conv",
		"DGKIP-LS, exact kernel of FCNets":              "cifar-10/%s/dgkip-ls/nngp",
		"LS (pred.), exact kernel of FCNets":            "cifar-10/%s/ls-pred/nngp",
		"LS (loss), exact kernel of FCNets":             "cifar-10/%s/ls-loss/nngp",
		"DGKIP-softmax, exact kernel of FCNets":         "cifar-10/%s/dgkip-softmax/nngp",
		"KIP, exact kernel of FCNets":                   "cifar-10/%s/kip/nngp",
		"all 50,000 images, exact kernel of FCNets":     "cifar-10/10/whole/nngp",
	}
	rows := regexp.MustCompile(`(?m)^\| ([^|\n]+) \| ([0-9., -]+) \| (?:([0-9., -]+) )?\|$`).FindAllStringSubmatch(readme, -1)
	if len(rows) != len(cells) {
		t.Fatalf("%d rows, want %d", len(rows), len(cells))
	}
	for _, row := range rows {
		cell, known := cells[row[1]]
		if !known {
			t.Errorf("no cell is known for the row %q", row[1])
		}
		for i, protocol := range []string{"features", "fresh"} {
			sizes := []string{"1", "10", "50"}
			if !strings.Contains(cell, "%s") {
				sizes = []string{""}[i:] // all images have no fresh draws
			}
			var want []string
			for _, ipc := range sizes {
				want = append(want, cmp.Or(values["ten/"+strings.ReplaceAll(cell, "%s", ipc)+"/"+protocol+"/acc"], "-"))
			}
			if got, want := row[2+i], strings.Join(want, ", "); got != want {
				t.Errorf("%s, %s: the README has %q, the report %q", row[1], protocol, got, want)
			}
		}
	}
}

// The accuracies at the head of the README are those of the report.
func TestReadmeNumbers(t *testing.T) {
	readme, values := reported(t)
	row := regexp.MustCompile(`(?m)^\| ([^|\n]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \|$`)
	cells := map[string]string{
		"random real images, labels solved":           "random-ls/fc",
		"random real images, labels solved, ConvNets": "random-ls/conv",
		"KIP":                          "kip/fc",
		"KIP with fresh features":      "kip-fresh/fc",
		"DGKIP-LR":                     "dgkip-lr/fc",
		"DGKIP-LS":                     "dgkip-ls/fc",
		"DGKIP-LS, exact kernel":       "ls-exact/nngp",
		"DD":                           "dd/fc",
		"DC, ConvNets":                 "dc/conv",
		"DSA":                          "dsa/fc",
		"DSA, ConvNets":                "dsa/conv",
		"LS (loss), ConvNets":          "ls-loss/conv",
		"KIP, ConvNets":                "kip/conv",
		"DGKIP-LR, ConvNets":           "dgkip-lr/conv",
		"DGKIP-LS, ConvNets":           "dgkip-ls/conv",
		"DGKIP-LS, a pool of ConvNets": "ls-pool/conv",
	}
	sets := row.FindAllStringSubmatch(readme, -1)
	if len(sets) != len(cells) {
		t.Fatalf("%d rows of sets in other networks, want %d", len(sets), len(cells))
	}
	cut := regexp.MustCompile(`^(.*), (\d+) iterations(?: \((\d+) in Table 1\))?$`)
	for _, row := range sets {
		name := row[1]
		cell, known := cells[cut.ReplaceAllString(name, "$1")]
		if !known {
			t.Errorf("no cell is known for the row %q", name)
		}
		at := "beyond/cifar-10/10/" + cell
		if m := cut.FindStringSubmatch(name); m != nil && m[2] != values[at+"/network/method.iterations"] {
			t.Errorf("%s: the report has %q iterations", name, values[at+"/network/method.iterations"])
		}
		if m := cut.FindStringSubmatch(name); m != nil && m[3] != "" && m[3] != values["table1/cifar-10/10/"+path.Dir(cell)+"/method.iterations"] {
			t.Errorf("%s: Table 1 has %q", name, values["table1/cifar-10/10/"+path.Dir(cell)+"/method.iterations"])
		}
		// The own draw is of the seeds of the fresh ones.
		for i, score := range []string{"fresh/own.test_acc", "fresh/acc", "network/acc"} {
			if got, want := row[2+i], values[at+"/"+score]; got != want {
				t.Errorf("%s, %s: the README has %s, the report %q", name, score, got, want)
			}
		}
	}
	prose := strings.Join(strings.Fields(readme), " ") // whatever the lines' breaks
	for _, c := range []struct {
		text   string
		of     []string // counts of published numbers
		except []string
	}{
		{`36 accuracies in Tables 1 and 2, with \[three changes of our own\]\(#the-papers-claims\), (\d+) are within tolerance, (\d+) better, (\d+) worse\.`, []string{"table1/published/own/", "table2/published/own/"}, nil},
		{`its competitors' 54, most with cut schedules, (\d+) are within, (\d+) better, (\d+) worse\.`, []string{"table1/published/", "table2/published/"}, []string{"table1/published/own/", "table2/published/own/"}},
		{`Of the 18 in Table 3 \(another loss\) (\d+) are within, (\d+) better, (\d+) worse\.`, []string{"table3/published/"}, nil},
	} {
		counts := regexp.MustCompile(c.text).FindStringSubmatch(prose)
		if counts == nil {
			t.Fatalf("the README does not say %q", c.text)
		}
		counts = append(counts, "0") // every cell has been run
		for i, verdict := range []string{"within", "better", "worse", "not-run"} {
			sum := 0
			for j, table := range append(slices.Clone(c.of), c.except...) {
				n, err := strconv.Atoi(values[table+verdict])
				if err != nil {
					t.Error(err)
				}
				if j >= len(c.of) {
					n = -n
				}
				sum += n
			}
			if counts[i+1] != strconv.Itoa(sum) {
				t.Errorf("%q: %s are %s in the README, and %d by the report", c.text, counts[i+1], verdict, sum)
			}
		}
	}
	unexplained, worse := 0, 0
	for _, table := range []string{"table1", "table2", "table3"} {
		for verdict, sum := range map[string]*int{"unexplained": &unexplained, "worse": &worse} {
			n, err := strconv.Atoi(values[table+"/published/"+verdict])
			if err != nil {
				t.Error(err)
			}
			*sum += n
		}
	}
	if want := fmt.Sprintf("We cannot explain %d of all %d worse ones.", unexplained, worse); !strings.Contains(prose, want) {
		t.Errorf("the README does not say %q", want)
	}
	for text, name := range map[string]string{
		`The tolerance is wide, ([0-9]+ to [0-9]+) points on CIFAR-10`:               "tolerance",
		`nor logarithm \(published: ([0-9.]+)\)`:                                     "table2/cifar-10/10/dgkip-lr/published",
		`DGKIP-LR has ([0-9.]+) % with them`:                                         "convergence/cifar-10/10/dgkip-lr/acc",
		`and ([0-9.]+) from noise with neither`:                                      "convergence/cifar-10/10/dgkip-lr-gap/acc",
		`, ([0-9.]+) without the unit`:                                               "convergence/cifar-10/10/dgkip-lr-plain/acc",
		`without the unit \(([0-9.]+) from noise`:                                    "convergence/cifar-10/10/dgkip-lr-gain/acc",
		`from noise, after ([0-9,]+) updates`:                                        "convergence/cifar-10/10/dgkip-lr-gain/method.updates",
		`by the SVM they have ([0-9.]+) and`:                                         "table1/cifar-10/10/whole/transfer.hinge.test_acc",
		`by the SVM they have [0-9.]+ and ([0-9.]+),`:                                "table2/cifar-10/10/whole/transfer.hinge.test_acc",
		`After all of its ([0-9]+) updates DGKIP-LR`:                                 "seeds/cifar-10/10/dgkip-lr/conv/method.updates",
		`DGKIP-LS [0-9.]+ after ([0-9]+) \(FCNets`:                                   "seeds/cifar-10/10/dgkip-ls/conv/method.updates",
		`and [0-9.]+ after ([0-9]+)\): DGKIP-LS`:                                     "seeds/cifar-10/10/dgkip-ls/fc/method.updates",
		`distilled by DGKIP-LS in ([0-9]+) updates`:                                  "ten/cifar-10-zca/10/dgkip-ls/conv/features/method.updates",
		`except for FCNets with one image: [0-9.]+, ([0-9.]+) and`:                   "ten/cifar-10-zca/10/kip/conv/features/published",
		`whitened, a hundred images score ([0-9.]+) %`:                               "ten/cifar-10-zca/10/dgkip-ls/conv/features/acc",
		`all 50,000: ([0-9.]*[0-9])\)`:                                               "ten/cifar-10-zca/10/whole/conv/features/acc",
		`ConvNets give DGKIP-LS ([0-9.]+) in its own`:                                "ten/cifar-10/10/dgkip-ls/conv/features/acc",
		`in its own draw and ([0-9.]+) in fresh`:                                     "ten/cifar-10/10/dgkip-ls/conv/fresh/acc",
		`with ten a class, and all images ([0-9.]*[0-9])`:                            "ten/cifar-10/10/whole/conv/features/acc",
		`and ([0-9.]+) in new ones \(one seed\)`:                                     "ten/cifar-10-zca/10/dgkip-ls/conv/fresh/acc",
		`by least squares, as KIP is, ([0-9.]+) and`:                                 "table1/cifar-10/10/whole/transfer.squared.test_acc",
		`by least squares, as KIP is, [0-9.]+ and ([0-9.]*[0-9])`:                    "table2/cifar-10/10/whole/transfer.squared.test_acc",
		`labels that travel DGKIP-LS has ([0-9.]+),`:                                 "labels/cifar-10/10/dgkip-ls/fc/outputs/acc",
		`labels that travel DGKIP-LS has [0-9.]+, DGKIP-LR ([0-9.]+),`:               "labels/cifar-10/10/dgkip-lr/fc/outputs/acc",
		`those images ([0-9.]*[0-9])\)\. With ConvNets`:                              "labels/cifar-10/10/random-ls/fc/outputs/acc",
		`DGKIP-SVM with FCNets has ([0-9.]+) from real images`:                       "starts/cifar-10/1/svm-real/fc/acc",
		`from real images and ([0-9.]+) from noise`:                                  "starts/cifar-10/1/svm-noise/fc/acc",
		`; DGKIP-SVM's falls to ([0-9.]*[0-9])`:                                      "beyond/cifar-10/10/dgkip-svm/conv/fresh/acc",
		`FCNets with one image: ([0-9.]+),`:                                          "ten/cifar-10-zca/1/kip/conv/features/published",
		`with one image: [0-9.]+, ([0-9.]+)`:                                         "ten/cifar-10-zca/10/kip/conv/features/published",
		`with one image: [0-9.]+, [0-9.]+ and ([0-9.]+)`:                             "ten/cifar-10-zca/50/kip/conv/features/published",
		`\(not checked\), ([0-9.]+),`:                                                "ten/cifar-10/1/kip/nngp/features/published",
		`\(not checked\), [0-9.]+, ([0-9.]+) and`:                                    "ten/cifar-10/10/kip/nngp/features/published",
		`([0-9.]+) with tangent ones of FCNets`:                                      "ten/cifar-10/50/kip/nngp/features/published",
		`reaches 90 % after ([0-9]+ to [0-9]+) updates`:                              "seeds/cifar-10/10/dgkip-ls/conv/to-90/updates",
		`where DGKIP-LR takes ([0-9]+ to [0-9]+):`:                                   "seeds/cifar-10/10/dgkip-lr/conv/to-90/updates",
		`([0-9.]+ to [0-9.]+) seconds of updates against`:                            "seeds/cifar-10/10/dgkip-ls/conv/to-90/seconds",
		`seconds of updates against ([0-9.]+ to [0-9.]+),`:                           "seeds/cifar-10/10/dgkip-lr/conv/to-90/seconds",
		`more in four of five seeds: ([0-9]+ to [0-9]+) updates`:                     "seeds/cifar-10/10/dgkip-ls/fc/to-90/updates",
		`five seeds: [0-9]+ to [0-9]+ updates against ([0-9]+ to [0-9]+)`:            "seeds/cifar-10/10/dgkip-lr/fc/to-90/updates",
		`within tolerance \(one of them ([0-9.]+) ±`:                                 "table3/fashion-mnist/50/dgkip-lr/transfer.hinge.test_acc",
		`under the other loss, ([0-9]+) of the 18 accuracies of Table 3 are within`:  "table3/published/within",
		`are within tolerance \(one of them [0-9.]+ ± [0-9.]+\), ([0-9]+) is better`: "table3/published/better",
		`\), [0-9]+ is better, ([0-9]+) are worse`:                                   "table3/published/worse",
		`and ([0-9.]+) of [0-9.]+ with labels learned as they are`:                   "units/cifar-10/1/lr-plain/transfer.hinge.test_acc",
		`and [0-9.]+ of ([0-9.]+) with labels learned as they are`:                   "units/cifar-10/1/lr-plain/acc",
		`keeps ([0-9.]+) of [0-9.]+ % under the hinge`:                               "units/cifar-10/1/lr-unit/transfer.hinge.test_acc",
		`keeps [0-9.]+ of ([0-9.]+) % under the hinge`:                               "units/cifar-10/1/lr-unit/acc",
		`with the unit [0-9.]+; published: ([0-9.]+)\)`:                              "table1/cifar-10/10/dgkip-svm/published",
		`\(ten images: ([0-9.]+), with the unit`:                                     "units/cifar-10/10/svm-plain/acc",
		`with the unit ([0-9.]+); published`:                                         "units/cifar-10/10/svm-unit/acc",
		`dual step, a temperature of ([0-9.]+) `:                                     "table2/cifar-10/10/dgkip-svm/method.temperature",
		`updates DGKIP-LR has [0-9.]+, DGKIP-LS ([0-9.]*[0-9])`:                      "seeds/cifar-10/10/dgkip-ls/conv/acc",
		`updates DGKIP-LR has ([0-9.]+), DGKIP-LS`:                                   "seeds/cifar-10/10/dgkip-lr/conv/acc",
		`\(FCNets: [0-9.]+, and ([0-9.]+) after`:                                     "seeds/cifar-10/10/dgkip-ls/fc/acc",
		`\(FCNets: ([0-9.]+), and`:                                                   "seeds/cifar-10/10/dgkip-lr/fc/acc",
		`the exact kernel's has ([0-9.]+) in fresh ConvNets`:                         "crossings/cifar-10/10/ls-exact/nngp/conv/acc",
		`the ConvNets' pool ([0-9.]+) in fresh`:                                      "crossings/cifar-10/10/ls-pool/conv/fc/acc",
		`than any baseline's in ([0-9]+) of`:                                         "table1/claim/time/holds",
		`than any baseline's in [0-9]+ of ([0-9]+) rows with ConvNets`:               "table1/claim/time/of",
		`width\) and in ([0-9]+) of [0-9]+ with FCNets`:                              "table2/claim/time/holds",
		`and in [0-9]+ of ([0-9]+) with FCNets`:                                      "table2/claim/time/of",
	} {
		m := regexp.MustCompile(text).FindStringSubmatch(prose)
		if m == nil || values[name] == "" || m[1] != values[name] {
			t.Errorf("%q is %q in the README, and %s is %s in the report", text, m, name, values[name])
		}
	}
	rows := headline.FindAllStringSubmatch(readme, -1)
	if len(rows) != 6 {
		t.Fatalf("found %d rows of numbers, want 6", len(rows))
	}
	const seeds = "means over five seeds of DGKIP-LR, -SVM and -LS with 1 and 10 images a class, and over three of the rest."
	if !strings.Contains(prose, seeds) {
		t.Errorf("the README does not say %q", seeds)
	}
	seedsOf := func(images, column string) string {
		switch {
		case column == "whole":
			return "3"
		case column != "dgkip-ls-pred" && column != "kip" && images != "50":
			return "5"
		}
		return "3"
	}
	columns := []string{"best-published", "dgkip-lr/acc", "dgkip-svm/acc", "dgkip-ls/acc", "dgkip-ls-pred/acc", "kip/acc", "whole/acc"}
	for i, row := range rows {
		table := []string{"table1", "table2"}[i/3]
		for j, column := range columns {
			got, images := strings.TrimSpace(row[3+j]), row[2]
			if column == "whole/acc" {
				if got == "" {
					continue // one cell for all sizes
				}
				images = "10" // as the report has it
			}
			name := table + "/cifar-10/" + images + "/" + column
			if want := values[name]; got != want {
				t.Errorf("%s is %s in the README and %q in the report", name, got, want)
			}
			if cell, is := strings.CutSuffix(name, "/acc"); is {
				if want := seedsOf(images, filepath.Base(cell)); values[cell+"/seeds"] != want {
					t.Errorf("%s has %s seeds, %s by the README", cell, values[cell+"/seeds"], want)
				}
			}
		}
	}
}
