package tensor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"dgkip/harness/tensor/internal/kernel"
)

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func best(f func()) float64 {
	f()
	b := 1e9
	end := time.Now().Add(400 * time.Millisecond)
	for time.Now().Before(end) {
		t := time.Now()
		f()
		if d := time.Since(t).Seconds(); d < b {
			b = d
		}
	}
	return b
}

func TestTune(t *testing.T) {
	if os.Getenv("TUNE") == "" {
		t.Skip()
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, path := range []string{"avx512", "avx2"} {
		Use(path)
		fl := 0
		pk := best(func() { fl = kernel.Active().Peak(20000) })
		peak := float64(fl) / pk / 1e9
		fmt.Printf("%s peak %.1f\n", path, peak)
		for _, s := range [][3]int{{1024, 1024, 1024}, {200, 1024, 784}, {200, 1024, 1024}, {1000, 1000, 1000}} {
			m, n, k := s[0], s[1], s[2]
			x, w, c := MatOf(random(r, m*k), m, k), MatOf(random(r, k*n), k, n), NewMat[float32](m, n)
			p := Pack(w, NN)
			g := 2e-9 * float64(m) * float64(n) * float64(k)
			a := g / best(func() { Mul(c, x, w, NN, false) })
			b := g / best(func() { MulPacked(c, x, p, nil, false) })
			nt := g / best(func() { Mul(c, x, MatOf(w.Data, n, k), NT, false) })
			tn := g / best(func() { Mul(c, MatOf(x.Data, k, m), w, TN, false) })
			fmt.Printf("%v NN %.1f (%.2f) packed %.1f (%.2f) NT %.2f TN %.2f\n", s, a, a/peak, b, b/peak, nt/peak, tn/peak)
		}
		{
			n, k := 2000, 8192
			a, c := MatOf(random(r, n*k), n, k), NewMat[float32](n, n)
			g := 1e-9 * float64(n) * float64(n+1) * float64(k) / best(func() { Gram(c, a) })
			fmt.Printf("gram %.1f (%.2f)\n", g, g/peak)
		}
		if os.Getenv("TUNE")=="1" {continue}
		for _, s := range [][4]int{{16, 16, 256, 14}, {16, 16, 256, 100}, {8, 8, 256, 14}, {8, 8, 256, 100}, {14, 14, 256, 100}, {7, 7, 256, 100}} {
			h, w, ch, n := s[0], s[1], s[2], s[3]
			x, y, dw := random(r, n*h*w*ch), make([]float32, n*h*w*ch), make([]float32, 9*ch*ch)
			wt := random(r, 9*ch*ch)
			g := 18e-9 * float64(n*h*w*ch*ch)
			var res [4]float64
			for i, al := range []Algorithm{Direct, Winograd} {
				c := NewConv(wt, ch, ch, al)
				res[i] = g / best(func() { c.Forward(y, x, n, h, w, Epilogue[float32]{}) })
			}
			res[2] = g / best(func() { ConvBackwardWeights(dw, x, y, n, h, w, ch, ch, false) })
			fmt.Printf("conv %v direct %.1f (%.2f) winograd %.1f (%.2f x direct) weights %.1f (%.2f)\n", s, res[0], res[0]/peak, res[1], res[1]/res[0], res[2], res[2]/peak)
		}
	}
	Use("avx512")
}
