package dd

// plan says which images the inner steps see.
type plan struct {
	slotOf []int   // of every image
	of     [][]int // the images of every slot
	steps  []int   // the slot of every inner step
}

// newPlan plans for ipc images of every class, which stand class by class.
func newPlan(ipc, classes, steps, epochs int) plan {
	slots := min(steps, ipc)
	p := plan{of: make([][]int, slots)}
	for i := range ipc * classes {
		slot := i % ipc % slots
		p.slotOf = append(p.slotOf, slot)
		p.of[slot] = append(p.of[slot], i)
	}
	for k := range steps * epochs {
		p.steps = append(p.steps, k%slots)
	}
	return p
}
