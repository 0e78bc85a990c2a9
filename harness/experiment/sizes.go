package experiment

import (
	"fmt"
	"regexp"
	"strconv"

	"dgkip/harness/toml"
)

// Size is a number of bytes, written "4GB" or "512MiB".
type Size int64

// units are the units of sizes, in bytes.
var units = map[string]float64{
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "B": 1,
}

var sizeForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (z *Size) UnmarshalText(b []byte) error {
	if m := sizeForm.FindStringSubmatch(string(b)); m != nil {
		x, err := strconv.ParseFloat(m[1], 64)
		if x *= units[m[2]]; x > 1<<62 {
			return fmt.Errorf("%q is larger than any disk", b)
		}
		if _, known := units[m[2]]; known && err == nil {
			*z = Size(x)
			return nil
		}
	}
	return fmt.Errorf("%q is not a size, such as 500MB, 4GB or 4GiB", b)
}

// FromNode also accepts 0 without a unit.
func (z *Size) FromNode(d *toml.Decoder, n *toml.Node) {
	switch v := n.Value.(type) {
	case string:
		if err := z.UnmarshalText([]byte(v)); err != nil {
			d.Fault(n, err.Error(), "")
		}
	case int64:
		if v != 0 {
			d.Fault(n, fmt.Sprintf("%d is a size without a unit", v), fmt.Sprintf("write \"%dMB\" or \"%dGB\", with quotes", v, v))
		}
		*z = 0
	default:
		d.Fault(n, "this must be a size such as \"4GB\", not "+n.Kind(), "")
	}
}
