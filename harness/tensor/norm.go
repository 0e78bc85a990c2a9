package tensor

import "math"

// normEps is added to the variance.
const normEps = 1e-5

// InstanceNorm is an instance norm of images of H x W pixels with Ch channels, followed by
// ReLU and, with Pool, by the average of 2x2 pixels.
//
// For one image and channel, with means over the N pixels, c = z - mean z,
// r = (mean c^2 + eps)^-1/2 and G = gain r,
//
//	u  = G c + shift
//	dz = G (du - a - k c)       a = mean du,  b = mean(du c),  k = r^2 b
//	dgain = N r b               dshift = N a
//
// Along a direction z' (c' = z' - mean z', r' = -r^3 mean(c c'), G' = gain' r + gain r'),
//
//	u'       = G c' + G' c + shift'
//	R{dz}    = G' (du - a - k c) + G (du' - a' - k' c - k c')
//	           a' = mean du',  b' = mean(du' c + du c'),  k' = 2 r r' b + r^2 b'
//	R{dgain} = N (r' b + r b')  R{dshift} = N a'
//
// The centred c replaces z in memory. All else is small, or faster to recompute from c
// than to store and load.
//
// Methods take a few images of a batch at a time; from is the number of the first one.
// Each image is a task.
type InstanceNorm[F Float] struct {
	H, W, Ch int
	Pool     bool

	gain, shift []F
	ones, zeros []F

	// These hold one value per image and channel: r, r', a, b, and the image's shares of
	// dgain and dshift, or of their tangents.
	inv, invT, a, b []F
	dgain, dshift   []F
}

// Begin sets gain and shift for a batch of n images.
func (m *InstanceNorm[F]) Begin(gain, shift []F, n int) {
	m.gain, m.shift = gain, shift
	for _, buf := range [...]*[]F{&m.inv, &m.invT, &m.a, &m.b, &m.dgain, &m.dshift} {
		*buf = Grow(buf, n*m.Ch)
	}
	if m.ones == nil {
		m.ones, m.zeros = make([]F, m.Ch), make([]F, m.Ch)
		for i := range m.ones {
			m.ones[i] = 1
		}
	}
}

// Forward replaces z by c and sets y to the outputs.
func (m *InstanceNorm[F]) Forward(y, z []F, from int) {
	m.each(len(z), func(i int, d *normScratch[F]) {
		img, y, z := from+i, m.small(y, i), m.large(z, i)
		g, variance := d.small[0], d.small[1]
		m.center(z, z, variance, d)
		r := m.row(m.inv, img)
		for i, v := range variance {
			r[i] = F(1 / math.Sqrt(float64(v)+normEps))
		}
		m.scale(g, img)
		m.strips(func(s strip[F]) {
			u := d.big[0][:s.to-s.from]
			Affine(u, g, z[s.from:s.to], m.shift)
			ReLU(u, u)
			s.reduce(y[s.yFrom:s.yTo], u)
		})
	})
}

// Backward sets dz to the gradient of z, given the output's gradient dy and Forward's c.
func (m *InstanceNorm[F]) Backward(dz, dy, c []F, from int) {
	m.each(len(c), func(i int, d *normScratch[F]) {
		m.backward(m.large(dz, i), m.small(dy, i), m.large(c, i), m.row(m.a, from+i), m.row(m.b, from+i), from+i, d)
	})
}

// BackwardAgain is Backward for another gradient dy. It keeps what the tangents need of
// the first one. Backward is linear in dy, so BackwardAgain is also its tangent if only
// dy varies.
func (m *InstanceNorm[F]) BackwardAgain(dz, dy, c []F, from int) {
	m.each(len(c), func(i int, d *normScratch[F]) {
		m.backward(m.large(dz, i), m.small(dy, i), m.large(c, i), d.small[3], d.small[4], from+i, d)
	})
}

// Shares sets dgain and dshift to the gradients of gain and shift over all n images of
// the last Backward, or to their tangents after BackwardTangent or BackwardAgain. It adds the images'
// shares in order.
func (m *InstanceNorm[F]) Shares(dgain, dshift []F, n int) {
	clear(dgain)
	clear(dshift)
	ColSum(dgain, m.dgain[:n*m.Ch], m.Ch)
	ColSum(dshift, m.dshift[:n*m.Ch], m.Ch)
}

// backward computes dz, the means a and b, and the image's shares.
func (m *InstanceNorm[F]) backward(dz, dy, c, a, b []F, img int, d *normScratch[F]) {
	g := d.small[0]
	du := d.big[1]
	m.scale(g, img)
	clear(a)
	clear(b)
	m.strips(func(s strip[F]) {
		u, du, c := d.big[0][:s.to-s.from], du[s.from:s.to], c[s.from:s.to]
		Affine(u, g, c, m.shift)
		s.expand(du, dy[s.yFrom:s.yTo], u)
		ColSum(a, du, m.Ch)
		ColDot(b, du, c, m.Ch)
	})
	m.divide(a)
	m.divide(b)
	r := m.row(m.inv, img)
	m.shares(img, func(i int) (dgain, dshift F) { return r[i] * b[i], a[i] })
	m.gradient(dz, du, c, g, a, b, r, d.small[1], d.small[2])
}

// row returns the values of one image in x, a field of m.
func (m *InstanceNorm[F]) row(x []F, img int) []F { return x[img*m.Ch:][:m.Ch] }

// divide turns a sum over pixels into a mean.
func (m *InstanceNorm[F]) divide(sum []F) {
	pixels := F(m.H * m.W)
	for i := range sum {
		sum[i] /= pixels
	}
}

// center subtracts the mean from z. Then it sets dot to the means of c z; c may be z
// itself.
func (m *InstanceNorm[F]) center(z, c, dot []F, d *normScratch[F]) {
	mean := d.small[7]
	clear(mean)
	ColSum(mean, z, m.Ch)
	m.divide(mean)
	for i := range mean {
		mean[i] = -mean[i]
	}
	clear(dot)
	m.strips(func(s strip[F]) {
		z, c := z[s.from:s.to], c[s.from:s.to]
		Affine(z, m.ones, z, mean)
		ColDot(dot, c, z, m.Ch)
	})
	m.divide(dot)
}

// scale sets g to G = gain r.
func (m *InstanceNorm[F]) scale(g []F, img int) {
	r := m.row(m.inv, img)
	for i := range g {
		g[i] = m.gain[i] * r[i]
	}
}

// shares stores the image's shares of the parameters' gradients, given as means.
func (m *InstanceNorm[F]) shares(img int, mean func(i int) (dgain, dshift F)) {
	dg, ds := m.row(m.dgain, img), m.row(m.dshift, img)
	pixels := F(m.H * m.W)
	for i := range dg {
		g, s := mean(i)
		dg[i], ds[i] = g*pixels, s*pixels
	}
}

// gradient sets dz to G (du - a - k c). t1 and t2 are scratch memory.
func (m *InstanceNorm[F]) gradient(dz, du, c, g, a, b, r, t1, t2 []F) {
	for i := range g {
		k := r[i] * r[i] * b[i]
		t1[i], t2[i] = -g[i]*k, -g[i]*a[i]
	}
	Affine2(dz, g, du, t1, c, t2)
}
