// Package methodtest checks that a method fulfils the contract of package method.
package methodtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/toml"
)

// Options describe what to expect of a method.
type Options struct {
	// SameForAllSeeds is set for methods that draw no random numbers.
	SameForAllSeeds bool

	// Problem, if given, changes the default problem: two classes of 8x8 images, with one
	// or three channels, two distilled images per class, and two tiny networks of kind
	// "conv" or "fc".
	Problem func(*method.Problem)
}

// tries limits the number of cancellations and checkpoints that are tried.
const tries = 4

// Data returns a small dataset with two classes. They differ in which half is bright.
func Data(channels int) *method.Data {
	const n, h, w = 12, 8, 8
	d := &method.Data{
		Name: "halves", Classes: []string{"upper", "lower"},
		Prep:  method.Preprocessing{Name: "standard"},
		Train: method.Images{H: h, W: w, C: channels},
	}
	for range channels {
		d.Prep.Mean, d.Prep.Std = append(d.Prep.Mean, 0.5), append(d.Prep.Std, 0.25)
	}
	draw := rng.Stream(1, "methodtest")
	for i := range n {
		class := i % 2
		for y := range h {
			for range w * channels {
				v := float32(draw.Normal64())
				if (y >= h/2) == (class == 1) {
					v += 1.5
				}
				d.Train.X = append(d.Train.X, v)
			}
		}
		d.Train.Labels = append(d.Train.Labels, class)
	}
	return d
}

// Distill runs a method on a problem. An error fails the test. observe may be nil.
func Distill(t *testing.T, m method.Method, p method.Problem, observe func(method.Step)) *method.Distilled {
	t.Helper()
	if observe == nil {
		observe = func(method.Step) {}
	}
	d, err := m.Distill(context.Background(), p, observe)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Run runs all checks on the method that fresh returns. Its settings should give a short run of more
// than four updates. With -short, the checks that repeat the run most often use one kind of network
// and fewer places.
func Run(t *testing.T, fresh func() method.Method, o Options) {
	t.Helper()
	for _, world := range []struct {
		name, kind string
		channels   int
	}{{"conv", "conv", 1}, {"conv in colour", "conv", 3}, {"fc", "fc", 1}} {
		problem := func(seed uint64) method.Problem {
			p := method.Problem{
				Data: Data(world.channels), IPC: 2, Seed: seed, Shared: new(method.Shared),
				Model: method.Model{Kind: world.kind, Width: 4, Depth: 2, Nets: 2},
			}
			if o.Problem != nil {
				o.Problem(&p)
			}
			return p
		}
		c := &checker{fresh, problem, o}
		t.Run(world.name, func(t *testing.T) {
			t.Run("shapes", c.shapes)
			t.Run("threads", c.threads)
			t.Run("cancel and resume", c.cancelAndResume)
			if world.channels > 1 || testing.Short() && world.kind != "conv" {
				return // colour only affects shapes and states
			}
			t.Run("info", c.info)
			t.Run("seeds", c.seeds)
			t.Run("sharing", c.sharing)
			t.Run("cancelled before the start", c.cancelledBefore)
			t.Run("checkpoints", c.checkpoints)
			t.Run("stop anywhere", c.stopAnywhere)
		})
	}
}

type checker struct {
	fresh   func() method.Method
	problem func(seed uint64) method.Problem
	o       Options
}

// seen is a record of a step, with all that may enter a result.
type seen struct {
	update, of int
	set        string
	loss       float64
	hasLoss    bool
	metrics    string
}

// show writes the bits of a set as text.
func show(d *method.Distilled) string {
	c := d.Clone()
	c.Prep.Restore, c.Prep.Whiten = nil, nil
	return fmt.Sprintf("%+v", *c)
}

// showMetrics writes the bits of metrics as text: %v writes enough digits to identify a value.
func showMetrics(m map[string]float64) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s=%v ", name, m[name])
	}
	return b.String()
}

func (c *checker) run(ctx context.Context, p method.Problem, each func(method.Step)) (*method.Distilled, []seen, error) {
	var steps []seen
	set, err := c.fresh().Distill(ctx, p, func(s method.Step) {
		one := seen{update: s.Update, of: s.Of, loss: s.Loss, hasLoss: s.HasLoss}
		if s.Distilled != nil {
			one.set = show(s.Distilled())
		}
		if s.Metrics != nil {
			one.metrics = showMetrics(s.Metrics())
		}
		steps = append(steps, one)
		if each != nil {
			each(s)
		}
	})
	if set == nil && err == nil {
		err = errNothing
	}
	return set, steps, err
}

var errNothing = errors.New("the method returned neither a set nor an error")

func (c *checker) must(t *testing.T, p method.Problem) (*method.Distilled, []seen) {
	t.Helper()
	set, steps, err := c.run(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set, steps
}

func (c *checker) info(t *testing.T) {
	info := c.fresh().Info()
	if info.Name == "" || info.Title == "" || info.About == "" || info.Version < 1 || info.Protocol == "" {
		t.Errorf("incomplete: %+v", info)
	}
	if strings.Contains(info.About, "\n") {
		t.Error("About has more than one line")
	}
	c.settings(t)
}

// settings checks that a file can set every setting by its name to its default.
func (c *checker) settings(t *testing.T) {
	m := c.fresh()
	for _, fault := range faults(reflect.TypeOf(m).Elem()) {
		t.Error(fault)
	}
	names := toml.Keys(m)
	slices.Sort(names)
	if once := slices.Compact(slices.Clone(names)); len(once) < len(names) {
		t.Errorf("two settings have the same name among %v", names)
		return
	}
	var text strings.Builder
	var write func(table string, of map[string]any)
	write = func(table string, of map[string]any) {
		for name, value := range of {
			if below, ok := value.(map[string]any); ok {
				write(table+name+".", below)
				continue
			}
			b, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%s%s = %s\n", table, name, b)
		}
	}
	write("", toml.Settings(m))
	table, faults := toml.Parse("default settings", text.String())
	if len(faults) == 0 {
		d := &toml.Decoder{}
		d.Into(table, m, "method")
		faults = d.Faults
	}
	if len(faults) > 0 {
		t.Errorf("a file with the default settings is refused:\n%v", faults)
	}
}

var metricName = regexp.MustCompile(`^[a-z0-9]+([_.][a-z0-9]+)*$`)

func (c *checker) shapes(t *testing.T) {
	p := c.problem(1)
	before := fmt.Sprintf("%+v", p.Data)
	m := c.fresh()
	settings := fmt.Sprintf("%+v", reflect.ValueOf(m).Elem())
	var steps []seen
	set, err := m.Distill(context.Background(), p, func(s method.Step) {
		one := seen{update: s.Update}
		if s.Distilled == nil {
			t.Fatal("a step without Distilled")
		}
		d := s.Distilled()
		if err := d.Fits(p.Data, p.IPC); err != nil {
			t.Errorf("update %d: %v", s.Update, err)
		}
		one.set = show(d)
		for i := range d.Images { // the observer owns the set
			d.Images[i] = 1e9
		}
		if s.Loss != 0 && !s.HasLoss {
			t.Errorf("update %d: a step with a loss must set HasLoss", s.Update)
		}
		if s.Of > 0 && s.Update > s.Of {
			t.Errorf("update %d of %d", s.Update, s.Of)
		}
		if s.Metrics != nil {
			for name, v := range s.Metrics() {
				if !metricName.MatchString(name) {
					t.Errorf("metric %q: use lower case, underscores and dots in names", name)
				}
				if math.IsInf(v, 0) {
					t.Errorf("update %d: metric %s is %v", s.Update, name, v)
				}
			}
		}
		steps = append(steps, one)
	})
	if err == nil && set == nil {
		err = errNothing
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Fits(p.Data, p.IPC); err != nil {
		t.Fatal(err)
	}
	if len(steps) == 0 || steps[0].update != 0 {
		t.Fatal("observe must be called with the initial set, update 0")
	}
	for i := 1; i < len(steps); i++ {
		if steps[i].update <= steps[i-1].update {
			t.Errorf("update %d after %d", steps[i].update, steps[i-1].update)
		}
	}
	if steps[len(steps)-1].set != show(set) {
		t.Error("the returned set differs from the last observed set")
	}
	if is, says := softLabels(set), m.Info().SoftLabels; is != says {
		t.Errorf("SoftLabels is %v, but labels of kind %q are soft: %v", says, set.Kind, is)
	}
	if !set.Whole {
		for class, list := range (method.Images{Labels: set.Of}).ByClass(len(p.Data.Classes)) {
			if len(list) != p.IPC {
				t.Errorf("%d images of class %d, want %d", len(list), class, p.IPC)
			}
		}
	}
	if fmt.Sprintf("%+v", p.Data) != before {
		t.Error("the training data was changed")
	}
	if fmt.Sprintf("%+v", reflect.ValueOf(m).Elem()) != settings {
		t.Error("the method's settings were changed")
	}
}

// softLabels reports whether networks are trained on labels that are not class numbers. Gains and
// values count as class numbers: their sign or largest entry is used.
func softLabels(d *method.Distilled) bool {
	_, travel := d.Extra["travel_labels"]
	switch d.Kind {
	case method.Logits:
		return true
	case method.Soft, method.Target:
		return travel || slices.ContainsFunc(d.Labels, func(x float32) bool { return x != 0 && x != 1 })
	}
	return travel
}

func (c *checker) seeds(t *testing.T) {
	one, _ := c.must(t, c.problem(1))
	two, _ := c.must(t, c.problem(2))
	if same := show(one) == show(two); same != (c.o.SameForAllSeeds || one.Whole) {
		t.Errorf("two seeds gave the same set: %v; by Options.SameForAllSeeds it should be %v", same, c.o.SameForAllSeeds)
	}
}

func (c *checker) threads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, alone := c.must(t, c.problem(1))
	if again, repeated := c.must(t, c.problem(1)); show(one) != show(again) || !slices.Equal(alone, repeated) {
		t.Fatal("the same seed gave different bits: state of an earlier run remains, or random numbers do not come from rng.Stream")
	}
	runtime.GOMAXPROCS(4)
	four, together := c.must(t, c.problem(1))
	if show(one) != show(four) || !slices.Equal(alone, together) {
		t.Error("the bits depend on the number of threads")
	}
}

// sharing checks that results do not depend on shared values or on their absence.
func (c *checker) sharing(t *testing.T) {
	p := c.problem(1)
	one, steps := c.must(t, p)
	same := func(what string, p method.Problem) {
		t.Helper()
		if set, others := c.must(t, p); show(set) != show(one) || !slices.Equal(steps, others) {
			t.Errorf("the bits change %s", what)
		}
	}
	same("with values shared by another run", p)
	disk := new(Disk)
	p.Shared = new(method.Shared).With(disk)
	same("with a disk", p)
	p.Shared.Clear() // as in a new process
	same("with values from the disk", p)
	if disk.wrong != "" {
		t.Error(disk.wrong)
	}
	p.Shared = nil
	same("without shared values", p)
}

// Disk is a method.Disk in memory.
type Disk struct {
	Content map[string][]byte // by key

	mu    sync.Mutex
	wrong string
}

// Load implements method.Disk.
func (d *Disk) Load(key string, read func(io.Reader) error) bool {
	d.mu.Lock()
	b, ok := d.Content[key]
	d.mu.Unlock()
	if !ok {
		return false
	}
	err := read(bytes.NewReader(b))
	if err != nil {
		d.mu.Lock()
		d.wrong = fmt.Sprintf("the value saved under %q cannot be read: %v", key, err)
		d.mu.Unlock()
	}
	return err == nil
}

// Save implements method.Disk.
func (d *Disk) Save(key string, size int64, write func(io.Writer) error) {
	var b bytes.Buffer
	err := write(&b)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil || int64(b.Len()) != size {
		d.wrong = fmt.Sprintf("saving under %q: %d bytes of %d, %v", key, b.Len(), size, err)
		return
	}
	if d.Content == nil {
		d.Content = map[string][]byte{}
	}
	d.Content[key] = b.Bytes()
}
