// Package kmeans chooses real images near the centres of clusters. Each class is clustered in pixel
// space into as many clusters as it has images to choose:
//
//	minimise (1/n) sum_i |x_i - c_a(i)|^2  over centres c and assignments a,
//
// by Lloyd's iterations, started by k-means++. A centre that has lost all its images moves to the image
// farthest from its own centre.
package kmeans

import (
	"context"

	"dgkip/harness/method"
	"dgkip/harness/rng"
	"dgkip/harness/tensor"
)

// KMeans is the method. Its fields are its settings.
type KMeans struct {
	Pick       string `toml:"pick" enum:"nearest,centre"` // the real image nearest to a centre, or the centre itself
	Iterations int    `toml:"iterations" min:"0"`         // the largest number of Lloyd's iterations
}

func init() { method.Register(func() method.Method { return defaults() }) }

func defaults() *KMeans { return &KMeans{Pick: "nearest", Iterations: 100} }

// Info implements method.Method.
func (*KMeans) Info() method.Info {
	return method.Info{
		Name: "kmeans", Title: "K-means", Version: 1, Protocol: "network",
		About: "chooses the real images nearest to the centres of each class's clusters in pixel space",
		Citation: "S. P. Lloyd: Least Squares Quantization in PCM. IEEE Trans. Inf. Theory 28, 1982; " +
			"D. Arthur, S. Vassilvitskii: k-means++. SODA 2007",
	}
}

// Distill implements method.Method. Its loss is the objective, averaged over classes.
func (m *KMeans) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	d, loss, err := m.cluster(ctx, p)
	if err != nil {
		return nil, method.Stopped(ctx, p, err)
	}
	observe(method.Step{Loss: loss, HasLoss: true, Distilled: d.Clone})
	return d, nil
}

func (m *KMeans) cluster(ctx context.Context, p method.Problem) (*method.Distilled, float64, error) {
	train, stream := p.Data.Train, rng.Stream(p.Seed, "kmeans")
	d := method.Blank(p)
	classes, err := method.Members(p)
	if err != nil {
		return nil, 0, err
	}
	loss := 0.0
	for class, members := range classes {
		c := newClusters(train, members, p.IPC, stream)
		for range m.Iterations {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			if !c.step() {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		loss += c.objective() / float64(len(classes))
		if m.Pick == "nearest" {
			c.snap()
		}
		d.Images = append(d.Images, c.centres.Data...)
		for range p.IPC {
			d.Of = append(d.Of, class)
		}
	}
	d.Labels = method.OneHot(d.Of, len(d.Classes))
	return d, loss, nil
}

// clusters are the clusters of one class.
type clusters struct {
	x       tensor.Mat[float32] // images
	norm2   []float64           // their squared norms
	centres tensor.Mat[float32]
	far     tensor.Mat[float64] // squared distances of images from centres, [n, k]
	own     []int               // the centre nearest to each image
}

// newClusters starts by k-means++. The first centre is a random image. Each further centre is an image
// drawn with probability proportional to its squared distance from the nearest centre so far.
func newClusters(train method.Images, members []int, k int, stream *rng.Rand) *clusters {
	n := len(members)
	c := &clusters{
		x: tensor.NewMat[float32](n, train.Size()), norm2: make([]float64, n),
		centres: tensor.NewMat[float32](k, train.Size()), far: tensor.NewMat[float64](n, k), own: make([]int, n),
	}
	for i, from := range members {
		copy(c.x.Row(i), train.At(from))
		c.norm2[i] = square(c.x.Row(i))
	}
	nearest := make([]float64, n)
	for j := range k {
		copy(c.centres.Row(j), c.x.Row(draw(nearest, stream)))
		c.measure(j, j+1)
		for i := range nearest {
			if d := c.far.Row(i)[j]; j == 0 || d < nearest[i] {
				nearest[i], c.own[i] = d, j
			}
		}
	}
	return c
}

// draw returns a random index with probability proportional to its weight. If all weights are zero, it
// returns any index.
func draw(weight []float64, stream *rng.Rand) int {
	total := 0.0
	for _, w := range weight {
		total += w
	}
	if !(total > 0) {
		return stream.IntN(len(weight))
	}
	at, last := stream.Float64()*total, 0
	for i, w := range weight {
		if w > 0 {
			if last = i; at < w {
				return i
			}
			at -= w
		}
	}
	return last // rounding can leave a rest
}

// measure computes the distances from centres [from, to).
func (c *clusters) measure(from, to int) {
	some := c.centres.Part(from, to, 0, c.centres.Cols)
	inner := tensor.NewMat[float64](c.x.Rows, some.Rows)
	tensor.Cross64(inner, c.x, some)
	for j := range some.Rows {
		norm2 := square(some.Row(j))
		for i, own := range c.norm2 {
			c.far.Row(i)[from+j] = max(0, own-2*inner.Row(i)[j]+norm2)
		}
	}
}

// step moves every centre to the mean of its images, and assigns every image to its nearest centre, the
// first one in a tie. It reports whether an assignment changed.
func (c *clusters) step() bool {
	members := make([][]int, c.centres.Rows)
	for i, j := range c.own {
		members[j] = append(members[j], i)
	}
	tensor.Parallel(len(members), func(j int) {
		if len(members[j]) == 0 {
			return
		}
		sum := make([]float64, c.x.Cols)
		for _, i := range members[j] {
			for p, v := range c.x.Row(i) {
				sum[p] += float64(v)
			}
		}
		for p, v := range sum {
			c.centres.Row(j)[p] = float32(v / float64(len(members[j])))
		}
	})
	taken := make([]bool, c.x.Rows)
	for j, of := range members {
		if len(of) > 0 {
			continue
		}
		far := -1
		for i, own := range c.own {
			if !taken[i] && (far < 0 || c.far.Row(i)[own] > c.far.Row(far)[c.own[far]]) {
				far = i
			}
		}
		taken[far] = true
		copy(c.centres.Row(j), c.x.Row(far))
	}
	c.measure(0, c.centres.Rows)
	changed := false
	for i, old := range c.own {
		row := c.far.Row(i)
		best := 0
		for j, d := range row {
			if d < row[best] {
				best = j
			}
		}
		c.own[i] = best
		changed = changed || best != old
	}
	return changed
}

// objective returns the mean squared distance of the images from their centres.
func (c *clusters) objective() float64 {
	sum := 0.0
	for i, j := range c.own {
		sum += c.far.Row(i)[j]
	}
	return sum / float64(len(c.own))
}

// snap replaces every centre by its nearest image that no earlier centre has taken.
func (c *clusters) snap() {
	taken := make([]bool, c.x.Rows)
	for j := range c.centres.Rows {
		best := -1
		for i := range taken {
			if !taken[i] && (best < 0 || c.far.Row(i)[j] < c.far.Row(best)[j]) {
				best = i
			}
		}
		taken[best] = true
		copy(c.centres.Row(j), c.x.Row(best))
	}
}

func square(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(float64(v) * float64(v))
	}
	return sum
}
