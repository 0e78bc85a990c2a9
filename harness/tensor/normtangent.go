package tensor

// Tangent replaces zt by c' and sets yt to the derivative of the outputs. c comes from
// Forward. gainT and shiftT may be nil.
func (m *InstanceNorm[F]) Tangent(yt, zt, c, gainT, shiftT []F, from int) {
	if shiftT == nil {
		shiftT = m.zeros
	}
	m.each(len(c), func(i int, d *normScratch[F]) {
		img, yt, zt, c := from+i, m.small(yt, i), m.large(zt, i), m.large(c, i)
		g, gt, dot := d.small[0], d.small[1], d.small[2]
		m.center(zt, c, dot, d)
		r, rt := m.row(m.inv, img), m.row(m.invT, img)
		for i := range rt {
			rt[i] = -(r[i] * r[i] * r[i] * dot[i])
		}
		m.scale(g, img)
		m.scaleTangent(gt, gainT, img)
		m.strips(func(s strip[F]) {
			u, ut := d.big[0][:s.to-s.from], d.big[1][:s.to-s.from]
			zt, c := zt[s.from:s.to], c[s.from:s.to]
			Affine(u, g, c, m.shift)
			Affine2(ut, g, zt, gt, c, shiftT)
			Mask(ut, ut, u)
			s.reduce(yt[s.yFrom:s.yTo], ut)
		})
	})
}

// BackwardTangent sets dzt to the derivative of Backward's dz along dyt and the direction
// of Tangent. Unless dz is nil, it also computes dz again.
func (m *InstanceNorm[F]) BackwardTangent(dzt, dz, dyt, dy, c, ct, gainT []F, from int) {
	m.each(len(c), func(i int, d *normScratch[F]) {
		img, dyt, dy := from+i, m.small(dyt, i), m.small(dy, i)
		dzt, c, ct := m.large(dzt, i), m.large(c, i), m.large(ct, i)
		g, gt, at, bt := d.small[0], d.small[1], d.small[2], d.small[3]
		t1, t2, gk := d.small[4], d.small[5], d.small[6]
		du, dut := d.big[1], d.big[2]
		a, b := m.row(m.a, img), m.row(m.b, img)
		r, rt := m.row(m.inv, img), m.row(m.invT, img)
		m.scale(g, img)
		m.scaleTangent(gt, gainT, img)
		clear(at)
		clear(bt)
		m.strips(func(s strip[F]) {
			u, du, dut := d.big[0][:s.to-s.from], du[s.from:s.to], dut[s.from:s.to]
			c, ct := c[s.from:s.to], ct[s.from:s.to]
			Affine(u, g, c, m.shift)
			s.expand(du, dy[s.yFrom:s.yTo], u)
			s.expand(dut, dyt[s.yFrom:s.yTo], u)
			ColSum(at, dut, m.Ch)
			ColDot(bt, dut, c, m.Ch)
			ColDot(bt, du, ct, m.Ch)
		})
		m.divide(at)
		m.divide(bt)
		m.shares(img, func(i int) (dgain, dshift F) { return F(rt[i]*b[i]) + F(r[i]*bt[i]), at[i] })
		if dz != nil {
			m.gradient(m.large(dz, i), du, c, g, a, b, r, t1, t2)
		}
		for i := range g {
			k := r[i] * r[i] * b[i]
			kt := F(2*r[i]*rt[i]*b[i]) + F(r[i]*r[i]*bt[i])
			t1[i] = -(F(gt[i]*k) + F(g[i]*kt))
			t2[i] = -(F(gt[i]*a[i]) + F(g[i]*at[i]))
			gk[i] = -g[i] * k
		}
		m.strips(func(s strip[F]) {
			u, dzt, du, dut := d.big[0][:s.to-s.from], dzt[s.from:s.to], du[s.from:s.to], dut[s.from:s.to]
			c, ct := c[s.from:s.to], ct[s.from:s.to]
			Affine2(u, g, dut, gk, ct, t2)
			Affine2(dzt, gt, du, t1, c, m.zeros)
			Axpy(dzt, 1, u, dzt)
		})
	})
}

// scaleTangent sets gt to G'.
func (m *InstanceNorm[F]) scaleTangent(gt, gainT []F, img int) {
	r, rt := m.row(m.inv, img), m.row(m.invT, img)
	for i := range gt {
		gt[i] = F(m.gain[i] * rt[i])
		if gainT != nil {
			gt[i] += F(gainT[i] * r[i])
		}
	}
}
