package data

import (
	"runtime"
	"strconv"
	"sync"

	"dgkip/harness/rng"
)

// builtin is a dataset that is drawn. Image i of a split comes from a stream of
// its own and has class i mod the number of classes.
type builtin struct {
	name, text string
	classes    []string
	h, w, ch   int
	draw       func(h hand, class int) *picture
}

const (
	builtinSeed  = 1
	builtinTrain = 2000
	builtinTest  = 500
)

var builtins = []builtin{
	{"glyphs", "handwritten 0 and 1, 28x28 grey, drawn by this program", []string{"0", "1"}, 28, 28, 1, drawGlyph},
	{"garments", "shirts and trousers, 28x28 grey, drawn by this program", []string{"shirt", "trousers"}, 28, 28, 1, drawGarment},
	{"vehicles", "aeroplanes and cars, 32x32 colour, drawn by this program", []string{"aeroplane", "car"}, 32, 32, 3, drawVehicle},
	{"symbols", "crosses, rings, triangles, arrows and waves, 28x28 grey, drawn by this program", []string{"cross", "ring", "triangle", "arrow", "wave"}, 28, 28, 1, drawSymbol},
}

// drawn holds what was drawn already, by name.
var drawn sync.Map

// contents draws the dataset when it is first asked for.
func (b *builtin) contents() *contents {
	once, _ := drawn.LoadOrStore(b.name, sync.OnceValue(func() *contents {
		return &contents{
			names: b.classes, h: b.h, w: b.w, ch: b.ch,
			train: b.split(builtinSeed, "train", builtinTrain),
			test:  b.split(builtinSeed, "test", builtinTest),
		}
	}))
	return once.(func() *contents)()
}

// split draws the first n images of a split.
func (b *builtin) split(seed uint64, split string, n int) Split {
	dim := b.h * b.w * b.ch
	s := Split{make([]byte, n*dim), make([]int, n)}
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for k := range workers {
		wait.Go(func() {
			for i := k; i < n; i += workers {
				s.Labels[i] = i % len(b.classes)
				h := hand{rng.Stream(seed, "data", b.name, split, strconv.Itoa(i))}
				b.draw(h, s.Labels[i]).bytes(s.Images[i*dim : (i+1)*dim])
			}
		})
	}
	wait.Wait()
	return s
}
