package main

const crossRows, crossCols = 3, 2

// cross writes the inner products of three rows and two rows in float64. Inner product (i, j)
// keeps its eight partial sums in four registers from V(8i+4j) on. R8 to R12 hold the
// addresses of the rows. A step takes eight features, four at a time: rows of B go to V24 to
// V27, and one row of A goes to V28 and V29.
func (o *output) cross() {
	p := o.p
	o.text("crossNeon", "Cross")
	for i := range 4 * crossRows * crossCols {
		p("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	// rows loads n addresses. If there are fewer rows, it repeats the last one.
	rows := func(field, count string, first, n int) {
		p("MOVD Cross_%s(R0), R%d\n\tMOVD Cross_%sRow(R0), R2\n\tLSL $2, R2\n\tMOVD Cross_%s(R0), R1", field, first, field, count)
		for i := 1; i < n; i++ {
			p("ADD R2, R%d, R3\n\tCMP $%d, R1\n\tCSEL GT, R3, R%d, R%d", first+i-1, i, first+i-1, first+i)
		}
	}
	rows("A", "Rows", 8, crossRows)
	rows("B", "Cols", 8+crossRows, crossCols)
	p("MOVD Cross_N(R0), R3")
	o.label("step")
	// widen loads four features as float64 values to V(to) and V(to+1).
	widen := func(row, to int) {
		p("VLD1.P 16(R%d), [V%d.S4]", row, to)
		p("WORD $%#08x // FCVTL2 V%d.2D, V%d.4S", 0x4E617800|to<<5|to+1, to+1, to)
		p("WORD $%#08x // FCVTL V%d.2D, V%d.2S", 0x0E617800|to<<5|to, to, to)
	}
	for half := range 2 {
		for j := range crossCols {
			widen(8+crossRows+j, 24+2*j)
		}
		for i := range crossRows {
			widen(8+i, 28)
			for j := range crossCols {
				for q := range 2 {
					p("VFMLA V%d.D2, V%d.D2, V%d.D2", 24+2*j+q, 28+q, 8*i+4*j+2*half+q)
				}
			}
		}
	}
	p("SUBS $8, R3, R3\n\tBNE step")
	o.label("")
	p("MOVD Cross_C(R0), R4\n\tMOVD Cross_CRow(R0), R5\n\tLSL $3, R5")
	for i := range crossRows {
		for j := range crossCols {
			s := 8*i + 4*j
			o.op("FADD", s, s, s+2)
			o.op("FADD", s+1, s+1, s+3)
			o.op("FADD", s, s, s+1)
			p("WORD $%#08x // FADDP D%d, V%d.2D", 0x7E70D800|s<<5|s, s, s)
			p("FMOVD F%d, %d(R4)", s, 8*j)
		}
		if i < crossRows-1 {
			p("ADD R5, R4, R4")
		}
	}
	p("RET")
}
