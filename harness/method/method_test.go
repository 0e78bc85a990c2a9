package method

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A method must have no access to test data.
func TestProblemHoldsNoTestData(t *testing.T) {
	var walk func(at string, x reflect.Type)
	images := 0
	walk = func(at string, x reflect.Type) {
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(at, x.Elem())
		case reflect.Struct:
			if x == reflect.TypeFor[Images]() {
				images++
			}
			if x == reflect.TypeFor[Shared]() {
				return
			}
			for i := range x.NumField() {
				f := x.Field(i)
				if strings.Contains(strings.ToLower(f.Name), "test") {
					t.Errorf("%s.%s", at, f.Name)
				}
				walk(at+"."+f.Name, f.Type)
			}
		}
	}
	walk("Problem", reflect.TypeFor[Problem]())
	if images != 1 {
		t.Errorf("a problem holds %d sets of images, not the training images alone", images)
	}
}

func TestPositive(t *testing.T) {
	for value, want := range map[float64][2]bool{
		5e-324: {true, false}, 1e-18: {true, false}, 1e-14: {true, true}, 1e-6: {true, true}, 1e6: {true, true},
		1e30: {}, 1e308: {}, math.Inf(1): {}, 0: {}, -1: {}, math.NaN(): {},
	} {
		if got := [2]bool{Positive("rate", value, "") == nil, PositiveLambda(value) == nil}; got != want {
			t.Errorf("%v as a rate and a lambda: %v, want %v", value, got, want)
		}
	}
	if bad, is := Positive("rate", 0, "0.01 is usual").(*BadSetting); !is || bad.Key != "rate" || bad.Hint != "0.01 is usual" {
		t.Errorf("got %+v", bad)
	}
}

// Starts from real images and from averages need training images.
func TestCheckStart(t *testing.T) {
	for _, c := range []struct {
		start         string
		ipc, smallest int
		ok            bool
	}{{"real", 6, 6, true}, {"real", 7, 6, false}, {"real", 7, 0, true}, {"noise", 7, 6, true}, {"means", 6, 6, true}, {"means", 7, 6, false}} {
		err := CheckStart("dd", c.start, Sizes{IPC: c.ipc, Smallest: c.smallest})
		if c.ok != (err == nil) {
			t.Errorf("%+v: %v", c, err)
		}
		if !c.ok && !strings.Contains(err.Error(), "dd with start = \""+c.start+"\" needs 7 training images of every class, but the smallest class has only 6\nhint: start = \"noise\"") {
			t.Errorf("got %v", err)
		}
	}
}

func TestShared(t *testing.T) {
	var s Shared
	var calls atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			v, err := s.Do("k", func() (any, error) { calls.Add(1); return 7, nil })
			if v != 7 || err != nil {
				t.Errorf("%v, %v", v, err)
			}
		}()
	}
	wg.Wait()
	if calls.Load() != 1 {
		t.Errorf("computed %d times", calls.Load())
	}
	s.Clear()
	oops := errors.New("oops")
	if _, err := s.Do("k", func() (any, error) { return nil, oops }); err != oops {
		t.Errorf("got %v", err)
	}
	if v, err := s.Do("k", func() (any, error) { return 8, nil }); v != 8 || err != nil {
		t.Errorf("an error was kept: %v, %v", v, err)
	}
	func() {
		defer func() { _ = recover() }()
		s.Do("p", func() (any, error) { panic("no") })
	}()
	if v, err := s.Do("p", func() (any, error) { return 9, nil }); v != 9 || err != nil {
		t.Errorf("after a panic: %v, %v", v, err)
	}
	if v, err := (*Shared)(nil).Do("k", func() (any, error) { return 1, nil }); v != 1 || err != nil {
		t.Errorf("nil: %v, %v", v, err)
	}
}

func TestDistilledCheck(t *testing.T) {
	good := func() *Distilled {
		return &Distilled{
			H: 1, W: 2, C: 1, Images: make([]float32, 4), Kind: Hard, Of: []int{0, 1}, Labels: OneHot([]int{0, 1}, 2),
			Classes: []string{"a", "b"},
		}
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Distilled){
		"no classes":           func(d *Distilled) { d.Classes = nil },
		"are not":              func(d *Distilled) { d.Images = d.Images[1:] },
		"has label 2":          func(d *Distilled) { d.Of[1] = 2 },
		"unknown kind":         func(d *Distilled) { d.Kind = "odd" },
		"label values":         func(d *Distilled) { d.Kind = Gain },
		"kind \"value\" and 3": func(d *Distilled) { d.Kind, d.Labels, d.Classes = Value, []float32{1, -1}, []string{"a", "b", "c"} },
		"label of image":       func(d *Distilled) { d.Labels[3] /= 0 * d.Labels[0] },
		"must have no images":  func(d *Distilled) { d.Whole = true },
		"means":                func(d *Distilled) { d.Prep.Mean = []float32{1} },
	} {
		d := good()
		spoil(d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// plain is a method without settings. sure has its own CheckSizes.
type plain struct{ ignores bool }

func (m plain) Info() Info { return Info{Name: "plain", IgnoresIPC: m.ignores} }
func (plain) Distill(context.Context, Problem, func(Step)) (*Distilled, error) {
	return nil, nil
}

type sure struct{ plain }

func (sure) CheckSizes(s Sizes) error {
	if s.IPC > 100 {
		return errors.New("more than 100")
	}
	return nil
}

type scorer struct{}

func (scorer) Info() ProtocolInfo { return ProtocolInfo{Name: "scorer", Family: Network} }
func (scorer) Score(context.Context, Trial, func(Step)) (*Scores, error) {
	return nil, nil
}

type lenient struct{ scorer }

func (lenient) CheckSizes(Sizes) error { return nil }

func TestCheckSizes(t *testing.T) {
	conv := func(depth int) Model { return Model{Kind: "conv", Width: 1, Depth: depth} }
	for _, c := range []struct {
		m    Method
		p    Protocol
		s    Sizes
		want string
	}{
		{plain{}, scorer{}, Sizes{H: 28, W: 28, Smallest: 5, IPC: 5, Model: conv(5)}, ""},
		{plain{}, scorer{}, Sizes{H: 28, W: 28, Smallest: 5, IPC: 6, Model: conv(5)}, "plain needs 6 training images of every class, but the smallest class has only 5"},
		{plain{}, scorer{}, Sizes{H: 28, W: 28, IPC: 6, Model: conv(5)}, ""},
		{plain{true}, scorer{}, Sizes{H: 28, W: 28, Smallest: 5, IPC: 6, Model: conv(3)}, ""},
		{sure{}, scorer{}, Sizes{H: 28, W: 28, Smallest: 5, IPC: 6, Model: conv(3)}, ""},
		{sure{}, scorer{}, Sizes{H: 28, W: 28, Smallest: 5, IPC: 101, Model: conv(3)}, "more than 100"},
		{plain{}, scorer{}, Sizes{H: 24, W: 30, Model: conv(12)}, "depth 12: images of 24x30 pixels are too small for 12 blocks that halve them; at most 4 fit"},
		{plain{}, scorer{}, Sizes{H: 24, W: 24, Model: Model{Kind: "fc", Width: 1, Depth: 12}}, ""},
		{plain{}, lenient{}, Sizes{H: 24, W: 24, Model: conv(12)}, ""},
	} {
		err := CheckSizes(c.m, c.p, c.s)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: got %v, want %q", c.s, err, c.want)
		}
	}
}
