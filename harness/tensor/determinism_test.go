package tensor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// results runs every operation of the package on fixed input and returns digests of the
// outputs.
func results() string {
	r := rand.New(rand.NewPCG(11, 12))
	var b strings.Builder
	put := func(name string, vs ...[]float32) { fmt.Fprintf(&b, "%s %016x\n", name, digest(vs...)) }
	sizes := [][3]int{{3, 17, 31}, {45, 70, 1100}, {61, 33, 64}, {2, 129, 300}}
	for _, s := range sizes {
		m, n, k := s[0], s[1], s[2]
		for _, order := range []Order{NN, NT, TN} {
			x, y := random(r, m*k), random(r, k*n)
			a, c, c2 := MatOf(x, m, k), MatOf(y, k, n), NewMat[float32](m, n)
			switch order {
			case NT:
				c = MatOf(y, n, k)
			case TN:
				a = MatOf(x, k, m)
			}
			Mul(c2, a, c, order, false)
			Mul(c2, a, c, order, true)
			put(fmt.Sprintf("Mul %v %d", s, order), c2.Data)
			if order == NN {
				MulPacked(c2, a, Pack(c, NN), random(r, n), true)
				put(fmt.Sprintf("MulPacked %v", s), c2.Data)
			}
		}
		g := NewMat[float32](m, m)
		Gram(g, MatOf(random(r, m*k), m, k))
		put(fmt.Sprintf("Gram %v", s), g.Data)
	}
	for _, s := range []convShape{{3, 9, 7, 3, 20}, {4, 8, 8, 16, 32}, {2, 7, 7, 32, 16}, {1, 4, 4, 1040, 16}} {
		x, w, dy := random(r, s.n*s.h*s.w*s.in), random(r, 9*s.in*s.out), random(r, s.n*s.h*s.w*s.out)
		y, dx, dw := random(r, len(dy)), random(r, len(x)), random(r, len(w))
		for _, algo := range []Algorithm{Direct, Winograd} {
			c := newConv(w, s, algo)
			c.Forward(y, x, s.n, Epilogue[float32]{Add: true, Bias: random(r, s.out), ReLU: true})
			c.BackwardInput(dx, dy, s.n, true)
			put(fmt.Sprintf("Conv %v %d", s, algo), y, dx)
		}
		ConvBackwardWeights(dw, x, dy, s.n, s.h, s.w, s.in, s.out, true)
		put(fmt.Sprintf("ConvBackwardWeights %v", s), dw)
		if s.h > 1 {
			small := make([]float32, s.n*(s.h/2)*(s.w/2)*s.out)
			Pool(small, y, s.n, s.h, s.w, s.out)
			Unpool(y, small, dy, s.n, s.h, s.w, s.out)
			put(fmt.Sprintf("Pool %v", s), small, y)
			c := newConv(w, s, Direct)
			bits := make([]byte, s.n*c.BitsLen())
			ForwardPool(c, small, bits, x, s.n, dy[:s.out])
			BackwardPool(c, dx, small, bits, s.n)
			put(fmt.Sprintf("ForwardPool %v", s), small, dx)
		}
	}
	x, y, z := random(r, 70001), random(r, 70001), random(r, 70001)
	ReLU(x, x)
	Mask(y, y, x)
	Axpy(z, 0.3, y, z)
	put("elementwise", x, y, z, []float32{Dot(x, z)})
	const ch = 37
	p, q := random(r, 50*ch), random(r, 50*ch)
	a, d := random(r, ch), random(r, ch)
	ColSum(a, p, ch)
	ColDot(d, p, q, ch)
	Affine(p, a, p, d)
	Affine2(q, a, p, d, q, a)
	put("columns", a, d, p, q)
	for _, s := range [][3]int{{10, 7, 100}, {55, 101, 2500}} {
		n, m, k := s[0], s[1], s[2]
		a, b := MatOf(random(r, n*k), n, k), MatOf(random(r, m*k), m, k)
		gram, cross, outer := NewMat[float64](n, n), NewMat[float64](n, m), NewMat[float32](n, k)
		u, v, w := widen(random(r, k)), widen(random(r, k)), make([]float64, n)
		Gram64(gram, a)
		Cross64(cross, a, b)
		MulVec64(w, a, v)
		AddRows64(u, a, w)
		Outer64(outer, w, u, gram.Row(0), v)
		put(fmt.Sprintf("wide %v", s), halves(gram.Data), halves(cross.Data), halves(w), halves(u), outer.Data)
	}
	for _, n := range []int{13, 1000} {
		k, root, inverse := widen(random(r, n)), make([]float64, n), make([]float64, n)
		inXY, inXX := widen(random(r, n)), widen(random(r, n))
		for i, v := range widen(random(r, n)) {
			root[i] = 1 + float64(v*v)
			inverse[i] = 1 / root[i]
		}
		for layer := range 2 {
			ArcCosine(k, inXY, inXX, root, inverse, 1.3+float64(layer), 0.01)
		}
		alone := append([]float64(nil), k...)
		ArcCosine(alone, nil, nil, root, inverse, 1.7, 0.01)
		put(fmt.Sprintf("arc cosine %d", n), halves(k), halves(inXY), halves(inXX), halves(alone))
	}
	return b.String()
}

const golden = "testdata/digests.txt"

// Every path and every number of threads gives the same bits. They also equal the
// recorded digests, so that different processors are compared.
func TestSameBits(t *testing.T) {
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(results()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(b), "\n")
	compare := func(t *testing.T) {
		t.Helper()
		for i, line := range strings.Split(results(), "\n") {
			if i >= len(want) || line != want[i] {
				t.Errorf("got %s, recorded %s", line, want[min(i, len(want)-1)])
			}
		}
	}
	eachPath(t, compare)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, n := range []int{1, 2, 3, 7} {
		runtime.GOMAXPROCS(n)
		t.Run(fmt.Sprintf("%d threads", n), compare)
	}
}

// Operations that run at the same time do not disturb each other.
func TestConcurrent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	const n = 90
	a, b := MatOf(random(r, n*n), n, n), MatOf(random(r, n*n), n, n)
	w, x := random(r, 9*64*64), random(r, 8*8*64)
	run := func(c *Conv[float32]) uint64 {
		m, y, dx := NewMat[float32](n, n), make([]float32, len(x)), make([]float32, len(x))
		Mul(m, a, b, NT, false)
		c.Forward(y, x, 1, Epilogue[float32]{})
		c.BackwardInput(dx, x, 1, false)
		return digest(m.Data, y, dx)
	}
	s := convShape{1, 8, 8, 64, 64}
	want := run(newConv(w, s, Auto))
	c := newConv(w, s, Auto) // the first goroutine builds its layouts
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if run(c) != want {
					t.Error("result differs")
				}
			}
		})
	}
	wg.Wait()
	if busy.Load() != 0 {
		t.Errorf("%d goroutines still count as busy", busy.Load())
	}
}

func TestParallel(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	var done [100]atomic.Int32
	var at, most atomic.Int32
	Parallel(10, func(i int) {
		Parallel(10, func(j int) {
			for n := at.Add(1); n > most.Load(); {
				most.Store(n)
			}
			done[10*i+j].Add(1)
			runtime.Gosched()
			at.Add(-1)
		})
	})
	for i := range done {
		if n := done[i].Load(); n != 1 {
			t.Fatalf("task %d ran %d times", i, n)
		}
	}
	if most.Load() > 4 {
		t.Errorf("%d tasks at a time on four threads", most.Load())
	}
	Parallel(0, func(int) { t.Error("Parallel(0) ran a task") })
}

func TestParallelPanic(t *testing.T) {
	panics(t, "task 3", func() {
		Parallel(50, func(i int) {
			if i == 3 {
				panic("task 3")
			}
		})
	})
	if busy.Load() != 0 {
		t.Errorf("%d goroutines still count as busy", busy.Load())
	}
}
