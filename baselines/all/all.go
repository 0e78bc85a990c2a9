// Package all makes every method and every protocol known to the program that
// imports it.
package all

import (
	_ "dgkip/baselines/random"
	_ "dgkip/baselines/whole"
	_ "dgkip/harness/eval"
)
