package dd

// plan assigns images to inner steps.
type plan struct {
	slotOf []int   // the slot of every image
	of     [][]int // the images of every slot
	steps  []int   // the slot of every inner step
}

// newPlan plans for ipc images of every class. Images are sorted by class.
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
