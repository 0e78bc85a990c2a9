package nn

import (
	"math"

	"dgkip/harness/tensor"
)

// normEps is added to the variance.
const normEps = 1e-5

// norm is the instance norm of a convBlock, with the ReLU and the pooling after
// it, worked image by image.
//
// For one image and channel, with means over the N pixels, c = z - mean z,
// r = (mean c^2 + eps)^-1/2 and G = gain r,
//
//	u  = G c + shift
//	dz = G (du - a - k c)       a = mean du,  b = mean(du c),  k = r^2 b
//	dgain = N r b               dshift = N a
//
// Along z' (c' = z' - mean z', r' = -r^3 mean(c c'), G' = gain' r + gain r'),
//
//	u'       = G c' + G' c + shift'
//	R{dz}    = G' (du - a - k c) + G (du' - a' - k' c - k c')
//	           a' = mean du',  b' = mean(du' c + du c'),  k' = 2 r r' b + r^2 b'
//	R{dgain} = N (r' b + r b')  R{dshift} = N a'
//
// The centred c replaces z in memory. The rest is small, or quickly made again
// from c, which takes less time than to store and load it.
type norm[F tensor.Float] struct {
	convShape
	gain, shift []F
	ones, zeros []F

	// A value per image and channel: r, r', a, b, and the shares of the image in
	// dgain and dshift, or in their tangents.
	inv, invT, a, b []F
	dgain, dshift   []F
}

func (m *norm[F]) reserve(n int) {
	for _, buf := range [...]*[]F{&m.inv, &m.invT, &m.a, &m.b, &m.dgain, &m.dshift} {
		*buf = tensor.Grow(buf, n*m.outCh)
	}
	if m.ones == nil {
		m.ones, m.zeros = make([]F, m.outCh), make([]F, m.outCh)
		for i := range m.ones {
			m.ones[i] = 1
		}
	}
}

// row returns an image's values of one of the fields of m.
func (m *norm[F]) row(x []F, img int) []F { return x[img*m.outCh:][:m.outCh] }

// divide turns a sum over pixels into a mean.
func (m *norm[F]) divide(sum []F) {
	pixels := F(m.h * m.w)
	for i := range sum {
		sum[i] /= pixels
	}
}

// center subtracts the mean from z. Then it sets dot to the means of c z, where c
// may be z itself.
func (m *norm[F]) center(z, c, dot []F, d *desk[F]) {
	mean := d.small[7]
	clear(mean)
	tensor.ColSum(mean, z, m.outCh)
	m.divide(mean)
	for i := range mean {
		mean[i] = -mean[i]
	}
	clear(dot)
	m.strips(func(s strip) {
		z, c := z[s.from:s.to], c[s.from:s.to]
		tensor.Affine(z, m.ones, z, mean)
		tensor.ColDot(dot, c, z, m.outCh)
	})
	m.divide(dot)
}

// scale sets g to G.
func (m *norm[F]) scale(g []F, img int) {
	r := m.row(m.inv, img)
	for i := range g {
		g[i] = m.gain[i] * r[i]
	}
}

// scaleTangent sets gt to G'.
func (m *norm[F]) scaleTangent(gt, gainT []F, img int) {
	r, rt := m.row(m.inv, img), m.row(m.invT, img)
	for i := range gt {
		gt[i] = F(m.gain[i] * rt[i])
		if gainT != nil {
			gt[i] += F(gainT[i] * r[i])
		}
	}
}

// forward replaces z by c and sets y to the block's output.
func (m *norm[F]) forward(y, z []F, img int, d *desk[F]) {
	g, variance := d.small[0], d.small[1]
	m.center(z, z, variance, d)
	r := m.row(m.inv, img)
	for i, v := range variance {
		r[i] = F(1 / math.Sqrt(float64(v)+normEps))
	}
	m.scale(g, img)
	m.strips(func(s strip) {
		u := d.big[0][:s.to-s.from]
		tensor.Affine(u, g, z[s.from:s.to], m.shift)
		tensor.ReLU(u, u)
		reduce(s.convShape, y[s.yFrom:s.yTo], u)
	})
}

// backward sets dz, the means a and b, and the image's shares.
func (m *norm[F]) backward(dz, dy, c, a, b []F, img int, d *desk[F]) {
	g := d.small[0]
	du := d.big[1]
	m.scale(g, img)
	clear(a)
	clear(b)
	m.strips(func(s strip) {
		u, du, c := d.big[0][:s.to-s.from], du[s.from:s.to], c[s.from:s.to]
		tensor.Affine(u, g, c, m.shift)
		expand(s.convShape, du, dy[s.yFrom:s.yTo], u)
		tensor.ColSum(a, du, m.outCh)
		tensor.ColDot(b, du, c, m.outCh)
	})
	m.divide(a)
	m.divide(b)
	r := m.row(m.inv, img)
	m.shares(img, func(i int) (dgain, dshift F) { return r[i] * b[i], a[i] })
	m.gradient(dz, du, c, g, a, b, r, d.small[1], d.small[2])
}

// shares notes the image's shares in the parameters' gradients, given as means.
func (m *norm[F]) shares(img int, mean func(i int) (dgain, dshift F)) {
	dg, ds := m.row(m.dgain, img), m.row(m.dshift, img)
	pixels := F(m.h * m.w)
	for i := range dg {
		g, s := mean(i)
		dg[i], ds[i] = g*pixels, s*pixels
	}
}

// gradient sets dz to G (du - a - k c); t1 and t2 are scratch.
func (m *norm[F]) gradient(dz, du, c, g, a, b, r, t1, t2 []F) {
	for i := range g {
		k := r[i] * r[i] * b[i]
		t1[i], t2[i] = -g[i]*k, -g[i]*a[i]
	}
	tensor.Affine2(dz, g, du, t1, c, t2)
}

// tangent replaces zt by c' and sets yt. gainT and shiftT may be nil.
func (m *norm[F]) tangent(yt, zt, c, gainT, shiftT []F, img int, d *desk[F]) {
	g, gt, dot := d.small[0], d.small[1], d.small[2]
	m.center(zt, c, dot, d)
	r, rt := m.row(m.inv, img), m.row(m.invT, img)
	for i := range rt {
		rt[i] = -(r[i] * r[i] * r[i] * dot[i])
	}
	m.scale(g, img)
	m.scaleTangent(gt, gainT, img)
	if shiftT == nil {
		shiftT = m.zeros
	}
	m.strips(func(s strip) {
		u, ut := d.big[0][:s.to-s.from], d.big[1][:s.to-s.from]
		zt, c := zt[s.from:s.to], c[s.from:s.to]
		tensor.Affine(u, g, c, m.shift)
		tensor.Affine2(ut, g, zt, gt, c, shiftT)
		tensor.Mask(ut, ut, u)
		reduce(s.convShape, yt[s.yFrom:s.yTo], ut)
	})
}

// backwardTangent sets dzt to R{dz}, dz itself again where it is given, and the
// image's shares.
func (m *norm[F]) backwardTangent(dzt, dz, dyt, dy, c, ct, gainT []F, img int, d *desk[F]) {
	g, gt, at, bt := d.small[0], d.small[1], d.small[2], d.small[3]
	t1, t2, gk := d.small[4], d.small[5], d.small[6]
	du, dut := d.big[1], d.big[2]
	a, b := m.row(m.a, img), m.row(m.b, img)
	r, rt := m.row(m.inv, img), m.row(m.invT, img)
	m.scale(g, img)
	m.scaleTangent(gt, gainT, img)
	clear(at)
	clear(bt)
	m.strips(func(s strip) {
		u, du, dut := d.big[0][:s.to-s.from], du[s.from:s.to], dut[s.from:s.to]
		c, ct := c[s.from:s.to], ct[s.from:s.to]
		tensor.Affine(u, g, c, m.shift)
		expand(s.convShape, du, dy[s.yFrom:s.yTo], u)
		expand(s.convShape, dut, dyt[s.yFrom:s.yTo], u)
		tensor.ColSum(at, dut, m.outCh)
		tensor.ColDot(bt, dut, c, m.outCh)
		tensor.ColDot(bt, du, ct, m.outCh)
	})
	m.divide(at)
	m.divide(bt)
	m.shares(img, func(i int) (dgain, dshift F) { return F(rt[i]*b[i]) + F(r[i]*bt[i]), at[i] })
	if dz != nil {
		m.gradient(dz, du, c, g, a, b, r, t1, t2)
	}
	for i := range g {
		k := r[i] * r[i] * b[i]
		kt := F(2*r[i]*rt[i]*b[i]) + F(r[i]*r[i]*bt[i])
		t1[i] = -(F(gt[i]*k) + F(g[i]*kt))
		t2[i] = -(F(gt[i]*a[i]) + F(g[i]*at[i]))
		gk[i] = -g[i] * k
	}
	m.strips(func(s strip) {
		u, dzt, du, dut := d.big[0][:s.to-s.from], dzt[s.from:s.to], du[s.from:s.to], dut[s.from:s.to]
		c, ct := c[s.from:s.to], ct[s.from:s.to]
		tensor.Affine2(u, g, dut, gk, ct, t2)
		tensor.Affine2(dzt, gt, du, t1, c, m.zeros)
		tensor.Axpy(dzt, 1, u, dzt)
	})
}
