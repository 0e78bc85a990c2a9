package augment

import (
	"math"

	"dgkip/harness/tensor"
)

// recolor changes brightness, saturation and contrast. Saturation and contrast are symmetric
// maps, so the adjoint applies them in reverse order.
func recolor[F tensor.Float](dst, src []F, u [3]float64, c int, adjoint bool) {
	copy(dst, src)
	if adjoint {
		pull(dst, len(dst), u[2]+0.5)
		pull(dst, c, 2*u[1])
		return
	}
	for i := range dst {
		dst[i] += F(u[0] - 0.5)
	}
	pull(dst, c, 2*u[1])
	pull(dst, len(dst), u[2]+0.5)
}

// pull multiplies the distance of every value from the mean of its group by a factor. A
// group has that many neighbouring values.
func pull[F tensor.Float](x []F, group int, factor float64) {
	f := F(factor)
	for ; len(x) > 0; x = x[group:] {
		var sum float64
		for _, v := range x[:group] {
			sum += float64(v)
		}
		mean := F(sum / float64(group))
		for i, v := range x[:group] {
			x[i] = mean + F(f*(v-mean))
		}
	}
}

// shift reads each pixel from a place down rows below and right columns to the right.
func shift[F tensor.Float](dst, src []F, down, right, h, w, c int) {
	clear(dst)
	from, to := max(0, -right), min(w, w-right)
	if from >= to {
		return
	}
	for r := max(0, -down); r < min(h, h-down); r++ {
		copy(dst[(r*w+from)*c:(r*w+to)*c], src[((r+down)*w+from+right)*c:])
	}
}

// cut sets a rectangle to zero.
func cut[F tensor.Float](dst, src []F, rows, cols [2]int, w, c int) {
	copy(dst, src)
	for r := rows[0]; r < rows[1]; r++ {
		clear(dst[(r*w+cols[0])*c : (r*w+cols[1])*c])
	}
}

// mirror reverses every row.
func mirror[F tensor.Float](dst, src []F, w, c int) {
	for p := range len(src) / c {
		col := p % w
		copy(dst[(p-col+w-1-col)*c:][:c], src[p*c:][:c])
	}
}

// resample reads the pixel at (x, y) from m (x, y) + by, where x and y run from -1 to 1
// between the image's edges. It interpolates between the centres of the four pixels around
// that point. Pixels outside the image are zero or repeat the edge.
func resample[F tensor.Float](dst, src []F, d Draw, h, w, c int, adjoint bool) {
	clear(dst)
	m := d.m
	for r := range h {
		y := float64(2*r+1)/float64(h) - 1
		for q := range w {
			x := float64(2*q+1)/float64(w) - 1
			rows, down := around(float64(m[2]*x)+float64(m[3]*y)+d.by[1], h)
			cols, right := around(float64(m[0]*x)+float64(m[1]*y)+d.by[0], w)
			for i, row := range rows {
				for j, col := range cols {
					if d.edge {
						row, col = min(max(row, 0), h-1), min(max(col, 0), w-1)
					}
					if row < 0 || row >= h || col < 0 || col >= w {
						continue
					}
					to, from := (r*w+q)*c, (row*w+col)*c
					if adjoint {
						to, from = from, to
					}
					weight := F(down[i] * right[j])
					for k := range c {
						dst[to+k] += F(weight * src[from+k])
					}
				}
			}
		}
	}
}

// around returns the two pixels next to a coordinate, out of n, and their weights.
func around(at float64, n int) (pixels [2]int, weights [2]float64) {
	p := (float64((at+1)*float64(n)) - 1) / 2
	low := math.Floor(p)
	return [2]int{int(low), int(low) + 1}, [2]float64{1 - (p - low), p - low}
}
