package experiment

import (
	"fmt"
	"regexp"
	"strconv"

	"dgkip/harness/toml"
)

// Size is a number of bytes, written "4GB" or "512MiB". 0 needs no unit.
type Size int64

// units are the units of sizes, in bytes.
var units = map[string]float64{
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "B": 1,
}

var sizeForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([KMGT]?i?B)$`)

// FromNode implements toml.FromNode.
func (z *Size) FromNode(d *toml.Decoder, n *toml.Node) {
	text, _ := n.Value.(string)
	m := sizeForm.FindStringSubmatch(text)
	switch {
	case n.Value == int64(0):
		*z = 0
	case m == nil || units[m[2]] == 0:
		d.Fault(n, "this is not a size with a unit, in quotes", "such as \"500MB\", \"4GB\" or \"4GiB\"")
	default:
		x, _ := strconv.ParseFloat(m[1], 64)
		if x *= units[m[2]]; x > 1<<62 {
			d.Fault(n, fmt.Sprintf("%q is larger than any disk", text), "")
			return
		}
		*z = Size(x)
	}
}
