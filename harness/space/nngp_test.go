package space

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"dgkip/harness/convex"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/nngp"
	"dgkip/harness/rng"
)

// many returns more images than one part of a Gram matrix on disk covers.
func many(kind string) Source {
	r, s := real(kind), rng.Stream(1, "many")
	t := &r.Data.Train
	for len(t.Labels) < 2*gramRows+7 {
		t.Labels = append(t.Labels, len(t.Labels)%2)
		for range t.Size() {
			t.X = append(t.X, float32(s.Normal64()))
		}
	}
	return r
}

// The Gram matrix of a ConvNet kernel is symmetric and agrees with the Gram matrix of some of
// the images, and with its lower half in strips.
func TestConvGram(t *testing.T) {
	for _, kind := range []string{"nngp-conv", "ntk-conv"} {
		testConvGram(t, many(kind))
	}
}

func testConvGram(t *testing.T, r Source) {
	ctx := context.Background()
	k, err := gram(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	few, err := r.Space().Show(ctx, r.Data.Train.X[60*r.Data.Train.Size():][:10*r.Data.Train.Size()], nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := few.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	norms, err := few.Norms(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		for j := range 10 {
			if want := k.Row(60 + i)[60+j]; float32(small.Row(i)[j]) != want || k.Row(60 + j)[60+i] != want {
				t.Errorf("k(%d, %d) is %v, not %v or %v", 60+i, 60+j, want, small.Row(i)[j], k.Row(60 + j)[60+i])
			}
		}
		if norms[i] != small.Row(i)[i] {
			t.Errorf("k(%d, %d) is %v, not %v", i, i, norms[i], small.Row(i)[i])
		}
	}
	v, err := r.Space().(kernelSpace[nngp.ConvImages]).training(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 2 * gramRows
	strips, err := convStrips(ctx, r, v, rows)
	if err != nil || len(strips) != 2 {
		t.Fatal(len(strips), err)
	}
	for s, strip := range strips {
		for i := range strip.Rows {
			if got, want := strip.Row(i), k.Row(s*rows + i)[:strip.Cols]; !reflect.DeepEqual(got, want) {
				t.Fatalf("row %d of strip %d differs from the matrix", i, s)
			}
		}
	}
}

// stopping is a disk that calls stop after left values were saved.
type stopping struct {
	methodtest.Disk
	left int
	stop context.CancelFunc
}

func (d *stopping) Save(key string, size int64, write func(io.Writer) error) {
	d.Disk.Save(key, size, write)
	if d.left--; d.left == 0 {
		d.stop()
	}
}

// An interrupted Gram matrix resumes from the parts on disk and is the same.
func TestConvGramResumes(t *testing.T) {
	want, err := gram(context.Background(), many("ntk-conv"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	disk := &stopping{left: 2, stop: stop}
	r := many("ntk-conv")
	r.Shared = r.Shared.With(disk)
	if _, err := gram(ctx, r); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(disk.Content) != 2 {
		t.Fatalf("%d values on disk, want 2 parts", len(disk.Content))
	}
	r.Shared = new(method.Shared).With(disk)
	got, err := gram(context.Background(), r)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("not the same (%v)", err)
	}
	if len(disk.Content) != 3 {
		t.Errorf("%d values on disk, want 3 parts", len(disk.Content))
	}
	for key := range disk.Content {
		if strings.Contains(key, "seed") {
			t.Errorf("the key %q contains a seed, although nothing is drawn", key)
		}
	}
}

// Keys of models on disk stay the same for the usual standard deviations.
func TestSettingsAreFixed(t *testing.T) {
	large := real("nngp")
	large.Data.Train.Labels = make([]int, convex.MaxExact+1)
	for want, s := range map[string]Source{
		"v4 nngp {Depth:2}": large, "v4 nngp {Depth:2} float64": real("nngp"),
		"v4 nngp-conv {H:8 W:8 C:1 Depth:2 Weight:1.4142135623730951 Bias:0.1 Tangent:false}": real("nngp-conv"),
	} {
		if got := s.Space().Settings(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
		s.Model.Bias = 0.2
		if got := s.Space().Settings(); got == want {
			t.Errorf("%q with another bias", got)
		}
	}
}
