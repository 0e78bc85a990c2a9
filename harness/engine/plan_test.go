package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"dgkip/harness/engine"
	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
)

// Concurrent calls read data once. After an error it is read again.
func TestImagesOnce(t *testing.T) {
	calls := 0
	d := &engine.Dataset{Load: func(context.Context) (*method.Data, method.Images, error) {
		if calls++; calls == 1 {
			return nil, method.Images{}, errors.New("no luck")
		}
		data := methodtest.Data(1)
		return data, data.Train, nil
	}}
	if _, _, err := d.Images(context.Background()); err == nil {
		t.Error("the error is lost")
	}
	first, _, err := d.Images(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if data, _, err := d.Images(context.Background()); data != first || err != nil {
				t.Errorf("other data, or %v", err)
			}
		}()
	}
	wg.Wait()
	if calls != 2 {
		t.Errorf("read %d times, want 2: an error and a success", calls)
	}
}
