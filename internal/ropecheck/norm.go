package ropecheck

import (
	"cmp"
	"math"
	"slices"
)

// searchNormalized is search for heads whose elements were normalized on the way: divided by
// their root mean square, and multiplied by weights before or after the rotation.
func (c *checker) searchNormalized() {
	take := func(h *heads, found *found, norm Norm) {
		c.heads, c.found, c.norm = h, found, norm
	}
	normalized := c.heads.normalized()
	if found := normalized.search(c.candidates, c.floor); found.noise < 0.7*c.found.noise && c.found.freedom == oneFactor || found.noise < c.found.noise/8 || c.found.freedom == tokenFactor && found.freedom == oneFactor && found.noise < 1.2*c.found.noise+c.floor {
		take(normalized, found, RMSNorm)
	}
	const leastHeads, most = 4, 0.02 // of which weights can be fitted; that noise may be
	if c.found.noise < max(most, c.limit()) || c.data.Heads < leastHeads {
		return
	}
	s := normalized.general(c.candidates)
	in, out := normalized.gains(s)
	before := normalized.clone()
	for at := range before.before {
		before.before[at] *= in[at%before.dim]
	}
	before = newHeads(before.before, before.after, before.tokens, before.count, before.dim)
	after := normalized.clone()
	for at := range after.after {
		if g := out[at%after.dim]; g != 0 {
			after.after[at] /= g
		}
	}
	after = newHeads(after.before, after.after, after.tokens, after.count, after.dim)
	first, second := before.search(c.candidates, c.floor), after.search(c.candidates, c.floor)
	if first.noise <= second.noise && first.noise < c.found.noise/4 {
		take(before, first, WeightedRMSNorm)
	} else if second.noise < c.found.noise/4 {
		take(after, second, RMSNormAfter)
	}
}

func (h *heads) clone() *heads {
	other := *h
	other.before, other.after = slices.Clone(h.before), slices.Clone(h.after)
	return &other
}

// normalized returns the heads, each before divided by its root mean square.
func (h *heads) normalized() *heads {
	before := make([]float32, len(h.before))
	for at := 0; at < len(before); at += h.dim {
		sum := 0.0
		for _, x := range h.before[at : at+h.dim] {
			sum += float64(x) * float64(x)
		}
		if rms := math.Sqrt(sum / float64(h.dim)); rms > 0 {
			for i, x := range h.before[at : at+h.dim] {
				before[at+i] = float32(float64(x) / rms)
			}
		}
	}
	return newHeads(before, h.after, h.tokens, h.count, h.dim)
}

// matrix is what makes the elements of a pair after of those before, by least squares over
// the heads of a token.
type matrix struct {
	m      [2][2]float64
	weight float64 // sum of squares before
	left   float64
}

func (h *heads) matrix(s structure, t, i int) (r matrix) {
	in, out := s.pair(i)
	var aa, ab, bb, after float64
	var ya, yb [2]float64
	for k := range h.count {
		at := (t*h.count + k) * h.dim
		a, b := float64(h.before[at+in[0]]), float64(h.before[at+in[1]])
		aa, ab, bb = aa+a*a, ab+a*b, bb+b*b
		for j := range 2 {
			y := float64(h.after[at+out[j]])
			ya[j], yb[j], after = ya[j]+y*a, yb[j]+y*b, after+y*y
		}
	}
	r.weight, r.left = aa+bb, after
	d := aa*bb - ab*ab
	if !(d > 1e-9*aa*bb) {
		return r
	}
	for j := range 2 {
		r.m[j] = [2]float64{(ya[j]*bb - yb[j]*ab) / d, (yb[j]*aa - ya[j]*ab) / d}
		r.left -= r.m[j][0]*ya[j] + r.m[j][1]*yb[j]
	}
	r.left = max(0, r.left)
	return r
}

// general returns the structure under which any linear map of each pair explains most.
func (h *heads) general(candidates []*spec) structure {
	sample := h.sample(searchElements)
	type scored struct {
		structure
		left float64
		rank int
	}
	var all []scored
	for _, s := range sample.slicesOf(candidates) {
		// Elements outside are multiplied by their weights.
		outside := 0.0
		for e := range sample.dim {
			if e < s.offset || e >= s.end() {
				_, left := sample.gain(e)
				outside += left
			}
		}
		for _, s.layout = range layouts {
			one := scored{s, outside, 1}
			for t := range sample.tokens {
				for i := range s.dim / 2 {
					one.left += sample.matrix(s, t, i).left
				}
			}
			if slices.ContainsFunc(candidates, func(c *spec) bool { return c.structure == s }) {
				one.rank = 0
			}
			all = append(all, one)
		}
	}
	least := slices.MinFunc(all, func(a, b scored) int { return cmp.Compare(a.left, b.left) }).left
	all = slices.DeleteFunc(all, func(s scored) bool { return s.left > least*1.1+1e-9*sample.energy })
	return slices.MinFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.dim, b.dim)) }).structure
}

// gain returns what multiplies an element, and what that leaves.
func (h *heads) gain(e int) (gain, left float64) {
	var xx, xy, yy float64
	for at := e; at < len(h.before); at += h.dim {
		x, y := float64(h.before[at]), float64(h.after[at])
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	if xx > 0 {
		gain = xy / xx
	}
	return gain, max(0, yy-gain*xy)
}

// gains returns the weights of elements, of mean square 1, if they are multiplied before the
// rotation and if they are after it: the lengths of the columns and rows of the matrices.
func (h *heads) gains(s structure) (in, out []float32) {
	before, after := make([]float64, h.dim), make([]float64, h.dim)
	for e := range h.dim {
		before[e], _ = h.gain(e)
		after[e] = before[e]
	}
	for i := range s.dim / 2 {
		var weight float64
		var columns, rows [2]float64
		for t := range h.tokens {
			r := h.matrix(s, t, i)
			weight += r.weight
			for j := range 2 {
				columns[j] += r.weight * (r.m[0][j]*r.m[0][j] + r.m[1][j]*r.m[1][j])
				rows[j] += r.weight * (r.m[j][0]*r.m[j][0] + r.m[j][1]*r.m[j][1])
			}
		}
		from, to := s.pair(i)
		for j := range 2 {
			before[from[j]], after[to[j]] = math.Sqrt(columns[j]/max(weight, math.SmallestNonzeroFloat64)), math.Sqrt(rows[j]/max(weight, math.SmallestNonzeroFloat64))
		}
	}
	return ofMeanSquare1(before), ofMeanSquare1(after)
}

func ofMeanSquare1(x []float64) []float32 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	rms := math.Sqrt(sum / float64(len(x)))
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = 1
		if g := float32(v / rms); rms > 0 && !math.IsNaN(float64(g)) && !math.IsInf(float64(g), 0) {
			y[i] = g
		}
	}
	return y
}
