// Package all registers every method and every protocol in the program that imports it.
package all

import (
	_ "dgkip/baselines/dc"
	_ "dgkip/baselines/dd"
	_ "dgkip/baselines/dm"
	_ "dgkip/baselines/dsa"
	_ "dgkip/baselines/file"
	_ "dgkip/baselines/frepo"
	_ "dgkip/baselines/herding"
	_ "dgkip/baselines/kip"
	_ "dgkip/baselines/kmeans"
	_ "dgkip/baselines/learned"
	_ "dgkip/baselines/random"
	_ "dgkip/baselines/tangent"
	_ "dgkip/baselines/whole"
	_ "dgkip/harness/dgkip"
	_ "dgkip/harness/eval"
)
