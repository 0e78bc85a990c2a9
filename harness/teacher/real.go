package teacher

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strings"

	"dgkip/harness/features"
	"dgkip/harness/method"
	"dgkip/harness/tensor"
)

// featuresKey begins the keys of features on disk.
const featuresKey = "features"

// version is part of every key on disk; raise it when values change.
const version = 3

// Real is the real data of a run as the run's features show it.
type Real struct {
	Data   *method.Data
	Model  method.Model
	Seed   uint64
	Shared *method.Shared
	Phase  func(what string, done float64) // may be nil

	// Draw names a draw of the networks; "" for the run's own, in which sets are scored.
	Draw string
}

// Of returns the real data of a problem.
func Of(p method.Problem) Real {
	return Real{Data: p.Data, Model: p.Model, Seed: p.Seed, Shared: p.Shared, Phase: p.Phase}
}

// OfTrial returns the real data that a set is scored against.
func OfTrial(t method.Trial) Real {
	return Real{Data: t.Data, Model: t.Model, Seed: t.Seed, Shared: t.Shared, Phase: t.Phase}
}

// Outputs is the number of outputs of a model for a number of classes.
func Outputs(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// Config describes the features that a model's networks make of images.
func Config(m method.Model, h, w, c int) features.Config {
	return features.Config{Kind: m.Kind, H: h, W: w, C: c, Nets: m.Nets, Width: m.Width, Depth: m.Depth, Algorithm: m.Shape().Algo}
}

// phase tells people what is going on.
func (r Real) phase(what string) func(float64) {
	if r.Phase == nil {
		return func(float64) {}
	}
	if r.Draw != "" {
		what += ", draw " + r.Draw
	}
	r.Phase(what, 0)
	return func(done float64) { r.Phase(what, done) }
}

// settings names all that features depend on, or an exact kernel, but for the images.
// Of the latter nothing is drawn: neither the seed nor the number and width of networks
// are in it, so that one Theta_O on disk is for all seeds.
func (r Real) settings() string {
	if k, exact := r.kernel(); exact {
		return fmt.Sprintf("v%d %s %+v", version, r.Model.Kind, k)
	}
	t := r.Data.Train
	s := fmt.Sprintf("v%d %+v seed %d", version, Config(r.Model, t.H, t.W, t.C), r.Seed)
	if r.Draw != "" {
		s += " draw " + r.Draw
	}
	return s
}

// key names something that runs share. Networks are drawn for the name of the data,
// so that the key must have it: datasets of other names may hold the same images.
func (r Real) key(what string) string {
	return fmt.Sprintf("teacher %s %s %q", what, r.settings(), r.Data.Name)
}

// digestKey is that of the digest in method.Shared, which is of one dataset.
const digestKey = "teacher digest"

// digest names the training images and labels.
func (r Real) digest() (string, error) {
	return shared(r.Shared, digestKey, func() (string, error) { return Digest(r.Data.Train), nil })
}

// Digest names images and their labels.
func Digest(s method.Images) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %d\n", s.Len(), s.H, s.W, s.C)
	buffer := make([]byte, 0, 1<<16)
	for _, v := range s.X {
		buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		if len(buffer) == cap(buffer) {
			h.Write(buffer)
			buffer = buffer[:0]
		}
	}
	h.Write(buffer)
	for _, y := range s.Labels {
		fmt.Fprintln(h, y)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// shared is Shared.Do for a type.
func shared[T any](s *method.Shared, key string, compute func() (T, error)) (T, error) {
	v, err := s.Do(key, func() (any, error) { return compute() })
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil
}

// Map returns the feature map.
func (r Real) Map() (*features.Map, error) {
	if _, exact := r.kernel(); exact {
		return nil, fmt.Errorf("model kind = %q has no features, only their inner products\nhint: use kind = %q", r.Model.Kind, r.Model.Limit())
	}
	t := r.Data.Train
	return shared(r.Shared, r.key("map"), func() (*features.Map, error) {
		stream := []string{"features", r.Data.Name}
		if r.Draw != "" {
			stream = []string{"drawn features", r.Data.Name, r.Draw}
		}
		return features.New(Config(r.Model, t.H, t.W, t.C), r.Seed, stream...)
	})
}

// Features returns those of the training images, [n, M].
func (r Real) Features(ctx context.Context) (tensor.Mat[float32], error) {
	return shared(r.Shared, r.key("features"), func() (tensor.Mat[float32], error) {
		of, err := r.digest()
		if err != nil {
			return tensor.Mat[float32]{}, err
		}
		return r.mapped(ctx, r.Shared, "training", of, r.Data.Train)
	})
}

// ShowTest shows a trial's test images. Only protocols share them.
func ShowTest(ctx context.Context, t method.Trial) (Shown, error) {
	r := OfTrial(t)
	return shared(t.Own, r.key("test features"), func() (Shown, error) {
		if k, ok := r.kernel(); ok {
			return r.showExact(ctx, k, t.Test.X)
		}
		phi, err := r.mapped(ctx, t.Own, "test", Digest(t.Test), t.Test)
		return stored{phi}, err
	})
}

// mapped returns the features of images, from disk if they are there.
func (r Real) mapped(ctx context.Context, s *method.Shared, what, of string, images method.Images) (tensor.Mat[float32], error) {
	m, err := r.Map()
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	phi := tensor.NewMat[float32](images.Len(), m.Dim())
	key := strings.Join([]string{featuresKey, r.settings(), r.Data.Name, of}, " ")
	if d := s.Disk(); d != nil {
		r.phase("reading features")
		if d.Load(key, func(from io.Reader) error { return readFloats(from, phi) }) {
			return phi, nil
		}
	}
	err = m.Features(ctx, phi, images.X, r.phase("features of the "+what+" images"))
	if err != nil {
		return tensor.Mat[float32]{}, err
	}
	if d := s.Disk(); d != nil {
		d.Save(key, 4*int64(phi.Rows)*int64(phi.Cols), func(to io.Writer) error { return writeFloats(to, phi) })
	}
	return phi, nil
}

// Gram returns the inner products of the training images' features, [n, n].
func (r Real) Gram(ctx context.Context) (tensor.Mat[float32], error) {
	return shared(r.Shared, r.key("gram"), func() (tensor.Mat[float32], error) {
		if _, ok := r.kernel(); ok {
			return r.exactGram(ctx)
		}
		phi, err := r.Features(ctx)
		if err != nil {
			return tensor.Mat[float32]{}, err
		}
		k := tensor.NewMat[float32](phi.Rows, phi.Rows)
		return k, tensor.GramContext(ctx, k, phi, r.phase("Gram matrix"))
	})
}

// writeFloats and readFloats keep a matrix as little-endian values, row by row.
func writeFloats(to io.Writer, m tensor.Mat[float32]) error {
	buffer := make([]byte, 0, 4*m.Cols)
	for i := range m.Rows {
		buffer = buffer[:0]
		for _, v := range m.Row(i) {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		if _, err := to.Write(buffer); err != nil {
			return err
		}
	}
	return nil
}

func readFloats(from io.Reader, m tensor.Mat[float32]) error {
	buffer := make([]byte, 4*m.Cols)
	for i := range m.Rows {
		if _, err := io.ReadFull(from, buffer); err != nil {
			return err
		}
		row := m.Row(i)
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(buffer[4*j:]))
		}
	}
	return nil
}
