package tensor

import "dgkip/harness/tensor/internal/kernel"

// ReLU sets y to max(0, x). NaN stays NaN. y may be x.
func ReLU[F Float](y, x []F) {
	if len(y) != len(x) {
		panic("tensor: ReLU: lengths differ")
	}
	if fast[F]() {
		y, x := as32(y), as32(x)
		spread(len(x), func(i, j int) { kernel.Active().ReLU(y[i:j], x[i:j]) })
		return
	}
	for i, v := range x {
		y[i] = v
		if v < 0 {
			y[i] = 0
		}
	}
}

// Mask sets y to g where x > 0 and to zero elsewhere: the adjoint of ReLU at x.
// y may be g or x.
func Mask[F Float](y, g, x []F) {
	if len(y) != len(x) || len(g) != len(x) {
		panic("tensor: Mask: lengths differ")
	}
	if fast[F]() {
		y, g, x := as32(y), as32(g), as32(x)
		spread(len(x), func(i, j int) { kernel.Active().Mask(y[i:j], g[i:j], x[i:j]) })
		return
	}
	for i, v := range x {
		if v > 0 {
			y[i] = g[i]
		} else {
			y[i] = 0
		}
	}
}

// Axpy sets y to z + a*x. y may be x or z.
func Axpy[F Float](y []F, a F, x, z []F) {
	if len(y) != len(x) || len(z) != len(x) {
		panic("tensor: Axpy: lengths differ")
	}
	if fast[F]() {
		y, x, z := as32(y), as32(x), as32(z)
		spread(len(x), func(i, j int) { kernel.Active().Axpy(y[i:j], float32(a), x[i:j], z[i:j]) })
		return
	}
	for i, v := range x {
		y[i] = z[i] + F(a*v)
	}
}

// spread cuts n elements into pieces, one for each task. Elementwise operations give the
// same result for any pieces.
func spread(n int, do func(from, to int)) {
	const piece = 1 << 16
	Parallel(ceil(n, piece), func(i int) { do(i*piece, min(n, (i+1)*piece)) })
}

// Dot returns the dot product of x and z. It cuts them into pieces, keeps 64 partial sums of
// each piece, and adds the pieces' sums in order.
func Dot[F Float](x, z []F) F {
	const piece, lanes = 1 << 14, 64
	if len(x) != len(z) {
		panic("tensor: Dot: lengths differ")
	}
	var sum F
	for from := 0; from < len(x); from += piece {
		var s [lanes]F
		for i, v := range x[from:min(len(x), from+piece)] {
			s[i%lanes] += F(v * z[from+i])
		}
		for n := lanes / 2; n > 0; n /= 2 {
			for i := range n {
				s[i] += s[i+n]
			}
		}
		sum += s[0]
	}
	return sum
}

// Pool sets y to the averages of 2x2 pixels of n images x of h x w pixels with ch
// channels. It drops an odd last row or column.
func Pool[F Float](y, x []F, n, h, w, ch int) {
	if n < 0 || h < 2 || w < 2 || ch < 1 || len(x) != n*h*w*ch || len(y) != n*(h/2)*(w/2)*ch {
		panic("tensor: Pool: shapes do not fit")
	}
	if fast[F]() {
		pools(kernel.Pool{Small: as32(y), Big: as32(x), Row: w * ch, W: w / 2, C: ch}, n, h, (*kernel.Path).Pool)
		return
	}
	eachPooled(n, h, w, ch, func(small, big, right, down int) {
		y[small] = (x[big] + x[big+right] + (x[big+down] + x[big+down+right])) / 4
	})
}

// Unpool applies the adjoint of ReLU followed by Pool to dy and stores the result in dx. act
// has the sign of the activations: where it is not positive, dx is zero. dx must not overlap
// act.
func Unpool[F Float](dx, dy, act []F, n, h, w, ch int) {
	if n < 0 || h < 2 || w < 2 || ch < 1 || len(dx) != n*h*w*ch || len(dy) != n*(h/2)*(w/2)*ch || len(act) != len(dx) {
		panic("tensor: Unpool: shapes do not fit")
	}
	if h%2+w%2 > 0 {
		clear(dx)
	}
	if fast[F]() {
		pools(kernel.Pool{Small: as32(dy), Big: as32(dx), Act: as32(act), Row: w * ch, W: w / 2, C: ch}, n, h, (*kernel.Path).Unpool)
		return
	}
	eachPooled(n, h, w, ch, func(small, big, right, down int) {
		for _, i := range [4]int{big, big + right, big + down, big + down + right} {
			dx[i] = 0
			if act[i] > 0 {
				dx[i] = dy[small] / 4
			}
		}
	})
}

// Reduce sets y to the activations act of n images, or to their averages by Pool.
func Reduce[F Float](y, act []F, n, h, w, ch int, pool bool) {
	if pool {
		Pool(y, act, n, h, w, ch)
	} else {
		copy(y, act)
	}
}

// Expand applies the adjoint of ReLU followed by Reduce to dy and stores the result in dx. act
// has the sign of the activations.
func Expand[F Float](dx, dy, act []F, n, h, w, ch int, pool bool) {
	if pool {
		Unpool(dx, dy, act, n, h, w, ch)
	} else {
		Mask(dx, dy, act)
	}
}

// pools runs a kernel on each row of pooled pixels of n images with h rows. all describes
// the values of all images.
func pools(all kernel.Pool, n, h int, do func(*kernel.Path, *kernel.Pool)) {
	all.Scale = 0.25
	p, bits := kernel.Active(), all.W*4*((all.C+7)/8)
	Parallel(n, func(img int) {
		s := getScratch()
		defer putScratch(s)
		a := &s.pool
		*a = all
		for r := range h / 2 {
			small, big := img*(h/2)+r, img*h+2*r
			a.Small, a.Big = all.Small[small*all.W*all.C:], all.Big[big*all.Row:]
			if all.Act != nil {
				a.Act = all.Act[big*all.Row:]
			}
			if all.Bits != nil {
				a.Bits = all.Bits[small*bits:]
			}
			do(p, a)
		}
	})
}

// eachPooled calls do for every pooled value: with its index small, the index big of the upper left of
// the four values that it averages, and the distances right and down to the neighbours of that one.
func eachPooled(n, h, w, ch int, do func(small, big, right, down int)) {
	small := 0
	for img := range n {
		for r := range h / 2 {
			for c := range w / 2 {
				for k := range ch {
					do(small, ((img*h+2*r)*w+2*c)*ch+k, ch, w*ch)
					small++
				}
			}
		}
	}
}
