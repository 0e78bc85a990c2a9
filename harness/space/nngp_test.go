package space

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/rng"
)

// many returns more images than one part of a Gram matrix on disk covers.
func many() Source {
	r, s := real("nngp-conv"), rng.Stream(1, "many")
	t := &r.Data.Train
	for len(t.Labels) < 2*gramRows+7 {
		t.Labels = append(t.Labels, len(t.Labels)%2)
		for range t.Size() {
			t.X = append(t.X, float32(s.Normal64()))
		}
	}
	return r
}

// The Gram matrix of the ConvNet kernel is symmetric and agrees with the Gram matrix of some of
// the images, and with its lower half in strips.
func TestConvGram(t *testing.T) {
	ctx, r := context.Background(), many()
	k, err := gram(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	few, err := r.Space().Show(ctx, r.Data.Train.X[60*r.Data.Train.Size():][:10*r.Data.Train.Size()], nil)
	if err != nil {
		t.Fatal(err)
	}
	small, norms := few.Gram(), few.Norms()
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
	v, err := r.Space().(kernelSpace[convImages]).training(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 2 * gramRows
	strips, err := v.strips(ctx, r, rows)
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
	memory
	left int
	stop context.CancelFunc
}

func (d *stopping) Save(key string, size int64, write func(io.Writer) error) {
	d.memory.Save(key, size, write)
	if d.left--; d.left == 0 {
		d.stop()
	}
}

// An interrupted Gram matrix resumes from the parts on disk and is the same.
func TestConvGramResumes(t *testing.T) {
	want, err := gram(context.Background(), many())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	disk := &stopping{memory{}, 2, stop}
	r := many()
	r.Shared = r.Shared.With(disk)
	if _, err := gram(ctx, r); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(disk.memory) != 2 {
		t.Fatalf("%d values on disk, want 2 parts", len(disk.memory))
	}
	r.Shared = new(method.Shared).With(disk)
	got, err := gram(context.Background(), r)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("not the same (%v)", err)
	}
	if len(disk.memory) != 3 {
		t.Errorf("%d values on disk, want 3 parts", len(disk.memory))
	}
	for key := range disk.memory {
		if strings.Contains(key, "seed") {
			t.Errorf("the key %q contains a seed, although nothing is drawn", key)
		}
	}
}
