package methodtest_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"dgkip/harness/method"
	"dgkip/harness/method/methodtest"
	"dgkip/harness/optim"
	"dgkip/harness/rng"
)

// Pull is a method that works in updates. An update moves every image of the set towards a random
// training image of its class, down the gradient of half their squared distance.
type Pull struct {
	Updates int     `toml:"updates" min:"0"`
	Rate    float64 `toml:"rate" min:"0"`
}

// Info implements method.Method.
func (*Pull) Info() method.Info {
	return method.Info{Name: "pull", Title: "Pull", Version: 1, Protocol: "network", About: "images pulled towards those of their class"}
}

// Distill implements method.Method.
func (m *Pull) Distill(ctx context.Context, p method.Problem, observe func(method.Step)) (*method.Distilled, error) {
	set, err := method.Choose(p, rng.Stream(p.Seed, "pull"))
	if err != nil {
		return nil, err
	}
	images := optim.NewVariable("images", set.Images, optim.SGD(m.Rate, 0, 0))
	train := p.Data.Train
	classes, size := train.ByClass(len(set.Classes)), set.Size()
	gradient := func(_ context.Context, update int) (loss float64, err error) {
		draw := rng.Stream(p.Seed, "pull", strconv.Itoa(update))
		for i, class := range set.Of {
			target := train.At(classes[class][draw.IntN(len(classes[class]))])
			for k, v := range target {
				d := images.X[i*size+k] - v
				images.Grad[i*size+k] = d
				loss += float64(d*d) / float64(2*set.Len())
			}
		}
		return loss, nil
	}
	return method.Descent{
		Name: "pull", Updates: m.Updates, Variables: []method.Variable{images}, Gradient: gradient, Set: set.Clone,
	}.Run(ctx, p, observe)
}

// A method that works in updates supplies variables, their gradients and the set that they describe.
// method.Descent supplies the loop, checks and checkpoints.
func Example() {
	p := method.Problem{Data: methodtest.Data(1), IPC: 2, Seed: 1}
	var checkpoint []byte
	show := func(s method.Step) {
		if s.HasLoss {
			fmt.Printf("update %d of %d, loss %.1f\n", s.Update, s.Of, s.Loss)
		}
		if s.Update == 3 {
			checkpoint, _ = s.Checkpoint()
		}
	}
	pull := &Pull{Updates: 5, Rate: 0.3}
	if _, err := pull.Distill(context.Background(), p, show); err != nil {
		fmt.Println(err)
	}
	p.Resume = checkpoint
	fmt.Println("from a checkpoint:")
	if _, err := pull.Distill(context.Background(), p, show); err != nil {
		fmt.Println(err)
	}
	// Output:
	// update 1 of 5, loss 64.4
	// update 2 of 5, loss 39.9
	// update 3 of 5, loss 43.8
	// update 4 of 5, loss 35.7
	// update 5 of 5, loss 28.1
	// from a checkpoint:
	// update 4 of 5, loss 35.7
	// update 5 of 5, loss 28.1
}

func TestPull(t *testing.T) {
	methodtest.Run(t, func() method.Method { return &Pull{Updates: 6, Rate: 0.3} }, methodtest.Options{})
}
