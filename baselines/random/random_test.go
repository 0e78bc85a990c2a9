package random

import (
	"context"
	"strings"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
)

func TestContract(t *testing.T) {
	methodtest.Run(t, func() method.Method { return new(Random) }, methodtest.Options{})
}

func TestTooMany(t *testing.T) {
	p := method.Problem{Data: methodtest.Data(1), IPC: 7}
	_, err := new(Random).Distill(context.Background(), p, func(method.Step) {})
	if err == nil || !strings.Contains(err.Error(), "class upper of halves has only 6") {
		t.Errorf("got %v", err)
	}
}
