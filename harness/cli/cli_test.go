package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	_ "dgkip/baselines/all"
	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/sets"
	"dgkip/harness/store"
	"dgkip/harness/tensor"
)

// slow is a method for the scripts in testdata. It moves random images, with a pause of $SLOW_MS
// before each update, and fails on request.
type slow struct {
	Updates int    `toml:"updates" min:"0"`
	Wrong   string `toml:"wrong" enum:",error,panic,nan"`
}

func (*slow) Info() method.Info {
	return method.Info{Name: "slow", Title: "Slow", About: "for tests", Version: 1, Protocol: "network"}
}

func (m *slow) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	if os.Getenv("SLOW_FAILS") != "" { // not part of the run's identity
		return nil, errors.New("out of luck")
	}
	delay, _ := strconv.Atoi(os.Getenv("SLOW_MS"))
	if file := os.Getenv("STARTS"); file != "" && p.Resume == nil {
		if err := appendLine(file, fmt.Sprint(p.IPC, " ", p.Seed)); err != nil {
			return nil, err
		}
	}
	if disk := p.Shared.Disk(); disk != nil {
		if err := shelve(disk, fmt.Sprint("slow ", p.Seed)); err != nil {
			return nil, err
		}
	}
	set, err := method.Choose(p, rng.Stream(p.Seed, "slow"))
	if err != nil {
		return nil, err
	}
	s := struct {
		Update int
		Images []float32
	}{-1, set.Images}
	if p.Resume != nil {
		if err := json.Unmarshal(p.Resume, &s); err != nil {
			return nil, err
		}
		set.Images = s.Images
	}
	save := func() ([]byte, error) { return json.Marshal(s) }
	for s.Update < m.Updates {
		if ctx.Err() != nil {
			b, err := save()
			return nil, errors.Join(err, &method.Interrupted{Checkpoint: b, Cause: ctx.Err()})
		}
		s.Update++
		time.Sleep(time.Duration(delay) * time.Millisecond)
		for i := range s.Images {
			s.Images[i] *= 0.99
		}
		loss := 1 / float64(s.Update+1)
		if s.Update == 2 {
			switch m.Wrong {
			case "error":
				return nil, errors.New("out of luck")
			case "panic":
				panic("out of order")
			case "nan":
				loss /= loss * 0
				loss -= loss
			}
		}
		observe(method.Step{Update: s.Update, Of: m.Updates, Loss: loss, HasLoss: true, Distilled: set.Clone, Checkpoint: save})
	}
	return set, nil
}

// shelve stores a text on the disk, or checks the stored one.
func shelve(disk method.Disk, name string) error {
	var wrong error
	if disk.Load(name, func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if err == nil && string(b) != name {
			wrong = fmt.Errorf("the disk holds %q under %q", b, name)
		}
		return err
	}) {
		return errors.Join(wrong, appendLine("found.log", name))
	}
	disk.Save(name, int64(len(name)), func(w io.Writer) error {
		_, err := io.WriteString(w, name)
		return err
	})
	return nil
}

// appendLine appends a line to a file in one write, so that several processes can write to the
// file.
func appendLine(file, line string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// broken is a protocol that panics.
type broken struct{}

func (*broken) Info() method.ProtocolInfo {
	return method.ProtocolInfo{Name: "broken", Version: 1, Family: method.Network, About: "for tests"}
}

func (*broken) Score(context.Context, method.Trial, func(method.Step)) (*method.Scores, error) {
	panic("out of order")
}

func init() {
	method.Register(func() method.Method { return &slow{Updates: 6} })
	method.RegisterProtocol(func() method.Protocol { return new(broken) })
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"dgkip": func() {
			if ms, err := strconv.Atoi(os.Getenv("CHECKPOINT_MS")); err == nil {
				checkpointEvery = time.Duration(ms) * time.Millisecond
			}
			if ms, err := strconv.Atoi(os.Getenv("REPORT_MS")); err == nil {
				reportEvery = time.Duration(ms) * time.Millisecond
			}
			if ms, err := strconv.Atoi(os.Getenv("STALE_MS")); err == nil {
				store.Stale = time.Duration(ms) * time.Millisecond
				store.Touch = store.Stale / 20
			}
			Main(fstest.MapFS{})
		},
	})
}

const tiny = `schema = 1
name = "tiny"
title = "Tiny"

[grid]
dataset = ["tiny"]
ipc = [1, 2]
method = ["random", "slow"]
model = ["small"]

[method.slow]
updates = 6

[model.small]
kind = "conv"
width = 4
depth = 2
nets = 1

[eval]
score = 3

[eval.network]
nets = 1
epochs = 2

[seeds]
count = 2

[data.tiny]
format = "npz"
train = "../tiny.npz"
`

// theirs is an experiment outside the folder of experiments. It uses the sets of slow that -export
// wrote to the folder sets.
var theirs = strings.NewReplacer("tiny\"\ntitle", "theirs\"\ntitle", "[1, 2]", "[2]", `"random", "slow"`, `"random", "theirs"`,
	"../tiny.npz", "tiny.npz",
	"[method.slow]\nupdates = 6", "[method.theirs]\nuse = \"file\"\npath = \"sets/{dataset}-slow-{model}-{ipc}-{seed}.pt\"").Replace(tiny)

// tinyData returns 40 noisy images of 8x8 pixels with a bright upper or lower half.
func tinyData(name string) ([]byte, error) { return halves(name, 40, 1, 100) }

// halves returns n noisy images of 8x8 pixels, in which one half is brighter by light.
func halves(name string, n, channels, light int) ([]byte, error) {
	draw := rng.Stream(1, name)
	var images []uint8
	var labels []int64
	for i := range n {
		for y := range 8 {
			for range 8 * channels {
				v := 60 + draw.IntN(60)
				if (y >= 4) == (i%2 == 1) {
					v += light
				}
				images = append(images, uint8(v))
			}
		}
		labels = append(labels, int64(i%2))
	}
	return sets.Encode([]sets.Array{sets.Of("images", []int{n, 8, 8, channels}, images), sets.Of("labels", []int{n}, labels)})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			data, err := tinyData("tiny")
			if err != nil {
				return err
			}
			other, err := tinyData("other")
			if err != nil {
				return err
			}
			colours, err := halves("colours", 800, 3, 20)
			if err != nil {
				return err
			}
			return errors.Join(
				os.MkdirAll(filepath.Join(e.WorkDir, "experiments"), 0o777),
				os.WriteFile(filepath.Join(e.WorkDir, "experiments", "tiny.toml"), []byte(tiny), 0o666),
				os.WriteFile(filepath.Join(e.WorkDir, "theirs.toml"), []byte(theirs), 0o666),
				os.WriteFile(filepath.Join(e.WorkDir, "tiny.npz"), data, 0o666),
				os.WriteFile(filepath.Join(e.WorkDir, "other.npz"), other, 0o666),
				os.WriteFile(filepath.Join(e.WorkDir, "colours.npz"), colours, 0o666),
			)
		},
		Condition: func(cond string) (bool, error) {
			if path, ok := strings.CutPrefix(cond, "kernel:"); ok {
				return slices.Contains(tensor.Paths(), path), nil
			}
			switch cond {
			case "mount":
				return canMount(), nil
			case "readonly":
				return os.Geteuid() != 0 || canMount(), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "edit": edit, "waitfor": waitfor, "signal": signalled, "samerecords": sameRecords,
			"readonly": readonly, "tmpfs": tmpfs, "grow": grow, "files": files,
			"tamper": tamper, "copyset": copySet, "spoil": spoil, "lines": lines, "sessions": sessions, "recorded": recorded, "shared": shared, "samescore": sameScore, "resave": resave,
		},
	})
}

func TestRecordsDoNotTellFolders(t *testing.T) {
	abs, err := filepath.Abs("results")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-exp", "a," + abs + ".toml," + abs, "-exp=" + abs + ",b", "-out", abs, "-data=" + abs + ",c", "-only", "method:x ipc:1",
		"-set", "method.f.path=" + abs, "-set=method.f.path = '" + abs + "'", "-set", `grid."method.path"=["` + abs + `", "b"]`, "-set", "method.f.rate=0.1", "/o'brien/a", "-out=/o'brien/a"}
	got := withoutFolders(args)
	want := []string{"-exp", "a,results.toml,results", "-exp=results,b", "-out", "results", "-data=results,c", "-only", "method:x ipc:1",
		"-set", "method.f.path=results", "-set=method.f.path = 'results'", "-set", `grid."method.path"=["results", "b"]`, "-set", "method.f.rate=0.1", "a", "-out=a"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// For a different file of a record, both values are shown.
func TestDifferences(t *testing.T) {
	for _, c := range []struct{ name, was, is, want string }{
		{
			"result.json", `{"metrics": {"test_acc": 0.558, "bound": 1e-3}, "counts": {"test_errors": [44,
				2]}, "notes": ["a"]}`, `{"metrics": {"test_acc": 0.667, "bound": 1e-3}, "counts": {"test_errors": [33, 2]}}`,
			`counts.test_errors: [44, 2] recorded, [33, 2] now; metrics.test_acc: 0.558 recorded, 0.667 now; notes: ["a"] recorded, nothing now`,
		},
		{"trace.csv", "update,bound\n0,2\n10,1\n", "update,bound\n0,2\n10,1.5\n", "line 3: 10,1 recorded, 10,1.5 now"},
		{"trace.csv", "update,bound\n0,2\n", "update,bound\n0,2\n10,1.5\n", "line 3: nothing recorded, 10,1.5 now"},
		{"trace.csv", "update,bound\n0,2\n", "update,bound\n0,2", "only the line breaks at the end differ"},
	} {
		if got := strings.Join(differences(c.name, []byte(c.was), []byte(c.is)), "; "); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
