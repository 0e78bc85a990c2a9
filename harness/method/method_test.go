package method

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A method must not be able to see test data, by mistake or otherwise.
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
		"no classes":      func(d *Distilled) { d.Classes = nil },
		"do not make":     func(d *Distilled) { d.Images = d.Images[1:] },
		"has label 2":     func(d *Distilled) { d.Of[1] = 2 },
		"unknown kind":    func(d *Distilled) { d.Kind = "odd" },
		"label values":    func(d *Distilled) { d.Kind = Gain },
		"label of image":  func(d *Distilled) { d.Labels[3] /= 0 * d.Labels[0] },
		"having no image": func(d *Distilled) { d.Whole = true },
		"means":           func(d *Distilled) { d.Prep.Mean = []float32{1} },
	} {
		d := good()
		spoil(d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
