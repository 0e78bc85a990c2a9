package data

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"dgkip/harness/rng"
)

// builtin is a dataset that is drawn. Image i of a split comes from a stream of
// its own and has class i mod the number of classes.
type builtin struct {
	Info
	draw func(h hand, class int) *picture
}

const (
	builtinSeed  = 1
	builtinTrain = 2000
	builtinTest  = 500
)

var builtins = []builtin{
	drawnSet("glyphs", "handwritten 0 and 1", 28, 1, drawGlyph, "0", "1"),
	drawnSet("garments", "shirts and trousers", 28, 1, drawGarment, "shirt", "trousers"),
	drawnSet("vehicles", "aeroplanes and cars", 32, 3, drawVehicle, "aeroplane", "car"),
	drawnSet("symbols", "crosses, rings, triangles, arrows and waves", 28, 1, drawSymbol, "cross", "ring", "triangle", "arrow", "wave"),
}

func drawnSet(name, what string, side, ch int, draw func(h hand, class int) *picture, classes ...string) builtin {
	colour := "grey"
	if ch == 3 {
		colour = "colour"
	}
	return builtin{Info{
		Name: name, Title: strings.ToUpper(name[:1]) + name[1:] + " (built-in)", BuiltIn: true, Classes: classes,
		Text: fmt.Sprintf("%s, %dx%d %s, drawn by this program", what, side, side, colour),
		H:    side, W: side, Ch: ch, Train: builtinTrain, Test: builtinTest, Characters: name == "glyphs",
	}, draw}
}

// drawn holds what was drawn already, by name.
var drawn sync.Map

// contents draws the dataset when it is first asked for.
func (b *builtin) contents() *contents {
	once, _ := drawn.LoadOrStore(b.Name, sync.OnceValue(func() *contents {
		return &contents{
			names: b.Classes, shape: b.shape(), drawn: true, verified: true,
			train: b.split(builtinSeed, "train", builtinTrain),
			test:  b.split(builtinSeed, "test", builtinTest),
		}
	}))
	return once.(func() *contents)()
}

// split draws the first n images of a split.
func (b *builtin) split(seed uint64, split string, n int) Split {
	dim := b.shape().dim()
	s := Split{make([]byte, n*dim), make([]int, n)}
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for k := range workers {
		wait.Go(func() {
			for i := k; i < n; i += workers {
				s.Labels[i] = i % len(b.Classes)
				h := hand{rng.Stream(seed, "data", b.Name, split, strconv.Itoa(i))}
				b.draw(h, s.Labels[i]).bytes(s.Images[i*dim : (i+1)*dim])
			}
		})
	}
	wait.Wait()
	return s
}
