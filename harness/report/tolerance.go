package report

import (
	"math"

	"dgkip/harness/experiment"
	"dgkip/harness/method"
	"dgkip/harness/stats"
)

// judge says whether ours is within the tolerance of the published number, higher or
// lower. Of an accuracy the tolerance is
//
//	T = max(2 sqrt(s^2 + o^2 + 2 q(1-q)/n), 1/n) + d
//
// with s the published standard deviation, o ours over seeds (0 for a single one), n the
// test images, and q the accuracy if it is the same on both sides: the mean of the two.
// q(1-q)/n is the sampling variance of an accuracy on n images, once for each side. As
// both sides are scored on the same images, what they have in common cancels, and the
// term is an upper limit. Less than one test image is no difference.
//
// Other metrics have no sampling error, and times no tolerance, unless the experiment
// declares one. A published number stands for all that round to it: d is half a unit of its
// last digit, and a spread of 0.00 counts as d.
//
// Where ours is within the tolerance only because our seeds scatter, by more than all else
// in it, the comparison says nothing, and is called unstable.
func (b *Beside) judge(p *experiment.Published, digit float64) {
	spread := b.Spread
	if b.Published.HasSpread {
		spread = stats.Combined(max(b.Published.Spread, digit), b.Spread)
	}
	image, sampling := b.testImage()
	switch {
	case p.Tolerance > 0:
		b.Tolerance = p.Tolerance
	case isTime(b.Metric) || spread == 0:
		return
	default:
		b.Tolerance = 2 * stats.Combined(spread, sampling)
	}
	b.Tolerance = max(b.Tolerance, image) + digit
	without := max(2*stats.Combined(max(b.Published.Spread, digit), sampling), image) + digit // our spread
	switch d := math.Abs(b.Difference()); {
	case d <= b.Tolerance*(1+1e-12):
		b.Match = Within
		if p.Tolerance == 0 && d > without && 2*b.Spread > without {
			b.Match = Unstable
		}
	case b.Ours > b.Published.Mean:
		b.Match = Higher
	default:
		b.Match = Lower
	}
}

// judgeable reports whether runs can bring a verdict: not on built-in data or with another
// protocol family, nor where there is neither a spread nor a declared tolerance.
func (b *Beside) judgeable() bool {
	spread := !isTime(b.Metric) && (b.Published.HasSpread || b.Cell.Seeds > 1)
	return !b.Mixed() && !b.BuiltIn && (b.Declared || spread)
}

// testImage is what one test image weighs in an accuracy, and the sampling error of the
// difference of two, both in percent. They are 0 for other metrics.
func (b *Beside) testImage() (one, sampling float64) {
	n := b.runs.testImages()
	if n == 0 || !isAccuracy(b.Metric) || !method.IsScore(b.Metric) {
		return 0, 0
	}
	q := min(max((b.Ours+b.Published.Mean)/200, 0), 1)
	return 100 / float64(n), 100 * math.Sqrt(2*q*(1-q)/float64(n))
}

// testImages is the number of test images behind a cell's accuracies, 0 if no record
// says it.
func (c *CellRuns) testImages() int64 {
	for _, r := range c.done() {
		if n := r.Record.Result.Counts["test_images"]; len(n) > 0 {
			return n[0]
		}
	}
	return 0
}
