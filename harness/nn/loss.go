package nn

import (
	"dgkip/harness/fmath"
	"dgkip/harness/tensor"
)

// crossEntropy is the mean over n images of -sum_k p_k log s_k with s = softmax(z). The
// targets p of an image need not sum to one. With P = sum_k p_k,
//
//	dz = (P s - p) / n      dp = -log s / n
//
// and along (z', p'), where c = z' - <s, z'> is the tangent of log s,
//
//	R{dz} = (P' s + P s c - p') / n      R{dp} = -c / n
//
// It computes in float64. That costs little, and the gradients of a nearly solved problem
// are small differences.
type crossEntropy[F tensor.Float] struct {
	n, k   int
	p      []F
	s, log []float64
	c      []float64
}

// value returns the loss.
func (l *crossEntropy[F]) value(logits, targets []F, n int) float64 {
	l.n, l.k, l.p = n, len(logits)/n, targets
	s, log := tensor.Grow(&l.s, len(logits)), tensor.Grow(&l.log, len(logits))
	l.s, l.log = s, log
	var loss float64
	for i := range n {
		z := logits[i*l.k:][:l.k]
		top, logSum := fmath.Softmax(s[i*l.k:][:l.k], z)
		for j, v := range z {
			at := i*l.k + j
			log[at] = (float64(v) - top) - logSum
			loss -= float64(float64(targets[at]) * log[at])
		}
	}
	return loss / float64(n)
}

// gradient sets dz and dp. Either may be nil.
func (l *crossEntropy[F]) gradient(dz, dp []F) {
	n := float64(l.n)
	for i := range l.n {
		p := l.p[i*l.k:][:l.k]
		total := sum(p)
		for j := range p {
			at := i*l.k + j
			if dz != nil {
				dz[at] = F((float64(total*l.s[at]) - float64(p[j])) / n)
			}
			if dp != nil {
				dp[at] = F(-l.log[at] / n)
			}
		}
	}
}

// tangent returns the derivative of the loss along (zt, pt). It sets dzt and dpt to the
// derivatives of dz and dp.
func (l *crossEntropy[F]) tangent(zt, pt, dzt, dpt []F) float64 {
	l.c = tensor.Grow(&l.c, len(l.s))
	c := l.c
	n := float64(l.n)
	var lossT float64
	for i := range l.n {
		row := i * l.k
		var mean, totalT float64
		if zt != nil {
			for j, v := range zt[row:][:l.k] {
				mean += float64(l.s[row+j] * float64(v))
			}
		}
		for j := range l.k {
			c[row+j] = 0
			if zt != nil {
				c[row+j] = float64(zt[row+j]) - mean
			}
		}
		if pt != nil {
			totalT = sum(pt[row:][:l.k])
		}
		total := sum(l.p[row:][:l.k])
		for at := row; at < row+l.k; at++ {
			lossT -= float64(float64(l.p[at]) * c[at])
			d := float64(float64(total*l.s[at]) * c[at])
			if pt != nil {
				lossT -= float64(float64(pt[at]) * l.log[at])
				d += float64(totalT*l.s[at]) - float64(pt[at])
			}
			if dzt != nil {
				dzt[at] = F(d / n)
			}
			if dpt != nil {
				dpt[at] = F(-c[at] / n)
			}
		}
	}
	return lossT / n
}

func sum[F tensor.Float](x []F) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}
