package whole

import (
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
)

func TestContract(t *testing.T) {
	methodtest.Run(t, func() method.Method { return new(Whole) }, methodtest.Options{})
}
