package kmeans

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/rng"
)

func TestContract(t *testing.T) {
	for name, m := range map[string]KMeans{
		"nearest": {"nearest", 100}, "centre": {"centre", 100}, "start": {"centre", 0},
	} {
		t.Run(name, func(t *testing.T) {
			methodtest.Run(t, func() method.Method { own := m; return &own }, methodtest.Options{})
		})
	}
}

func TestTooMany(t *testing.T) {
	p := method.Problem{Data: methodtest.Data(1), IPC: 7}
	_, err := defaults().Distill(context.Background(), p, func(method.Step) {})
	if err == nil || !strings.Contains(err.Error(), "class upper of halves has only 6") {
		t.Errorf("got %v", err)
	}
}

// groups draws images around some points.
func groups(n, k, size int) (method.Images, []int) {
	s := rng.Stream(1, "groups")
	around := make([]float32, k*size)
	s.FillNormal(around, 0, 10)
	images := method.Images{H: 1, W: size, C: 1, Labels: make([]int, n)}
	members := make([]int, n)
	for i := range n {
		members[i] = i
		for j := range size {
			images.X = append(images.X, around[i%k*size+j]+float32(s.Normal64()))
		}
	}
	return images, members
}

// objective computes the objective by its definition.
func objective(c *clusters) float64 {
	sum := 0.0
	for i, j := range c.own {
		for p, v := range c.x.Row(i) {
			d := float64(v) - float64(c.centres.Row(j)[p])
			sum += d * d
		}
	}
	return sum / float64(len(c.own))
}

// The objective follows its definition, never rises, and stops at a fixed point, where every centre is
// the mean of its images.
func TestObjective(t *testing.T) {
	for seed := range uint64(10) {
		images, members := groups(120, 7, 5)
		c := newClusters(images, members, 9, rng.Stream(seed, "test"))
		last, steps := math.Inf(1), 0
		for more := true; more; steps++ {
			o := c.objective()
			if want := objective(c); math.Abs(o-want) > 1e-9*want {
				t.Fatalf("step %d: objective %v, want %v", steps, o, want)
			}
			if o > last*(1+1e-9) {
				t.Errorf("seed %d, step %d: objective rises from %v to %v", seed, steps, last, o)
			}
			last = o
			more = c.step()
		}
		if steps > 100 {
			t.Errorf("seed %d: %d steps", seed, steps)
		}
		for j := range c.centres.Rows {
			mean, n := make([]float64, 5), 0
			for i, own := range c.own {
				if own == j {
					n++
					for p, v := range c.x.Row(i) {
						mean[p] += float64(v)
					}
				}
			}
			for p, v := range mean {
				if got := float64(c.centres.Row(j)[p]); n == 0 || math.Abs(got-v/float64(n)) > 1e-6*(1+math.Abs(got)) {
					t.Errorf("seed %d: centre %d of %d images is %v, but their mean is %v", seed, j, n, got, v/float64(n))
				}
			}
		}
	}
}

// Distant groups are found, and each is represented by a real image.
func TestGroups(t *testing.T) {
	images, members := groups(60, 4, 30)
	c := newClusters(images, members, 4, rng.Stream(3, "test"))
	for c.step() {
	}
	for i, own := range c.own {
		if own != c.own[i%4] {
			t.Fatalf("images %d and %d are in different clusters", i, i%4)
		}
	}
	c.snap()
	var found []int
	for j := range 4 {
		for i := range members {
			if slices.Equal(c.x.Row(i), c.centres.Row(j)) {
				found = append(found, i%4)
			}
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, []int{0, 1, 2, 3}) {
		t.Errorf("images of groups %v", found)
	}
}

// Equal images leave centres without images, and each is chosen only once.
func TestAlike(t *testing.T) {
	images := method.Images{H: 1, W: 1, C: 1, X: []float32{1, 1, 1, 1, 5}, Labels: make([]int, 5)}
	for seed := range uint64(20) {
		c := newClusters(images, []int{0, 1, 2, 3, 4}, 4, rng.Stream(seed, "test"))
		for range 10 {
			if !c.step() {
				break
			}
		}
		if o := c.objective(); o != 0 {
			t.Errorf("seed %d: objective %v", seed, o)
		}
		c.snap()
		ones := 0
		for _, v := range c.centres.Data {
			if v == 1 {
				ones++
			}
		}
		if ones != 3 {
			t.Errorf("seed %d: images %v", seed, c.centres.Data)
		}
	}
}

// A centre without images moves to the image farthest from its own centre.
func TestEmpty(t *testing.T) {
	images := method.Images{H: 1, W: 1, C: 1, X: []float32{0, 1, 2, 10}, Labels: make([]int, 4)}
	c := newClusters(images, []int{0, 1, 2, 3}, 2, rng.Stream(1, "test"))
	c.centres.Data[0], c.centres.Data[1] = 1, 100
	c.measure(0, 2)
	clear(c.own)
	before := c.objective()
	for c.step() {
	}
	if o := c.objective(); !(o < before) || math.Abs(o-0.5) > 1e-6 {
		t.Errorf("objective %v at first, %v at last", before, o)
	}
}
