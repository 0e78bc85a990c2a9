package report

import (
	"image"
)

// chart is a figure, ready to be drawn in any format.
type chart struct {
	name, title, caption string
	x, y, y2             scale
	panels               []panel
	keys                 []key // the legend
	columns              int   // panels in a line; 0 to choose
	tiles                bool  // panels are pictures without axes
}

// scale describes an axis. The ranges are found per panel.
type scale struct {
	label      string
	log        bool
	categories []string // in place of numbers 0, 1, ...
	zero       bool     // begins at 0
	own        bool     // every panel has its own range
}

// panel is one system of axes, or one picture.
type panel struct {
	title   string
	rowName string // in front of a line of pictures
	curves  []curve
	levels  []level
	bars    []bar
	picture image.Image
	cell    int    // pixels from one image of the picture to the next
	missing string // in place of a picture, why there is none
}

// curve is a line, or points if it has a glyph.
type curve struct {
	points []point
	color  int
	dash   int
	glyph  int // 0 for none, otherwise 1 more than its index
	bare   bool
	right  bool // belongs to the right axis
}

// level is a horizontal line: a number without updates.
type level struct {
	y     float64
	color int
	dash  int
	right bool
}

// point is a place with a spread in y, whose ends are NaN where there is none.
type point struct{ x, y, low, high float64 }

// bar stands at a category, shifted in units of the distance between two.
type bar struct {
	category, shift, width float64
	y, low, high           float64
	color                  int
}

// key is an entry of the legend.
type key struct {
	text  string
	color int
	dash  int
	glyph int // as in curve
	bare  bool
	block bool // of bars
	grey  bool // stands for a shape in any colour
}
