package all

import (
	"fmt"
	"strings"
	"testing"

	"dgkip/harness/method"
)

// A plan refuses what cannot be built. Trained networks pad images of 28x28 pixels to 32x32,
// which allows five blocks. Feature maps do not pad, which allows four.
func TestSizesOfNetworksAndFeatureMaps(t *testing.T) {
	check := func(name, protocol string, depth int) error {
		model, _ := method.DefaultModel("conv")
		model.Depth = depth
		sizes := method.Sizes{Train: 10000, Test: 1000, Classes: 2, H: 28, W: 28, C: 1, Smallest: 5000, IPC: 1, Model: model}
		return method.CheckSizes(method.New(name), method.NewProtocol(protocol), sizes)
	}
	for name, makesFeatures := range map[string]bool{
		"dgkip-ls": true, "dgkip-lr": true, "dgkip-svm": true, "kip": true, "herding": true,
		"dc": false, "dsa": false, "dd": false, "dm": false, "frepo": false, "dgkip-tangent": false, "dgkip-learned": false, "random": false, "kmeans": false,
	} {
		for _, protocol := range []string{"features", "network"} {
			fits := 5
			if makesFeatures || protocol == "features" {
				fits = 4
			}
			if err := check(name, protocol, fits); err != nil {
				t.Errorf("%s, scored by %s, depth %d: %v", name, protocol, fits, err)
			}
			want := fmt.Sprintf("images of 28x28 pixels are too small for %d blocks that halve them; at most %d fit", fits+1, fits)
			if err := check(name, protocol, fits+1); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, scored by %s, depth %d: got %v, want %q", name, protocol, fits+1, err, want)
			}
		}
	}
}
