package report

// scatter draws one metric against another, a point a cell.
func (b *figureBuilder) scatter() bool {
	b.axes()
	x := b.f.X
	if x == "" {
		x = secondsPerUpdate
	}
	b.c.x = scale{label: axisLabel(x), log: b.f.LogX || isTime(x)}
	if isTime(x) {
		for _, n := range machinesOf(b.cells).notes() {
			b.note(n)
		}
	}
	y := b.f.Y[0]
	any := false
	shapes := len(b.seriesAxes) > 1
	for _, pg := range b.split(b.cells, b.panelAxes) {
		p := panel{title: pg.title}
		for _, sg := range b.split(pg.cells, b.seriesAxes) {
			v := curve{bare: true, color: b.color(sg.values), glyph: 1 + b.second(sg.values)}
			for _, c := range sg.cells {
				sx, ok1 := c.summary(x)
				sy, ok2 := c.summary(y)
				if !ok1 || !ok2 || b.c.x.log && sx.Mean <= 0 {
					continue
				}
				b.over(sy.N)
				v.points = append(v.points, spreadPoint(sx.Mean*scaleOf(x, 0), sy, scaleOf(y, 0)))
			}
			if len(v.points) == 0 {
				continue
			}
			p.curves = append(p.curves, v)
			any = true
			if !shapes {
				b.key(key{text: sg.title, color: v.color, glyph: v.glyph, bare: true})
			}
		}
		b.c.panels = append(b.c.panels, p)
	}
	if any && shapes {
		b.shapeKeys()
	}
	return any
}

// shapeKeys explains colours and shapes apart: a key for each would be their
// product.
func (b *figureBuilder) shapeKeys() {
	used, shapes := map[int]bool{}, map[int]bool{}
	for _, p := range b.c.panels {
		for _, v := range p.curves {
			used[v.color], shapes[v.glyph] = true, true
		}
	}
	first := b.seriesAxes[0]
	for i, v := range b.r.axisValues(first) {
		if used[i] {
			b.key(key{text: b.r.shortTitle(first, v), color: i, glyph: 1, bare: true})
		}
	}
	for _, s := range b.split(b.cells, b.seriesAxes[1:]) {
		at := 1 + b.second(append([]string{""}, s.values...))
		if shapes[at] {
			b.key(key{text: s.title, glyph: at, bare: true, grey: true})
		}
	}
}
