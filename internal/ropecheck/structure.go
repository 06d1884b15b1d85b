package ropecheck

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"github.com/go-posenc/posenc"
)

// structure says which elements of a head form pairs.
type structure struct {
	layout      posenc.Layout
	offset, dim int
}

func (s structure) end() int { return s.offset + s.dim }

// pair returns the elements that are read and those that are written.
func (s structure) pair(i int) (in, out [2]int) {
	half := [2]int{s.offset + i, s.offset + i + s.dim/2}
	interleaved := [2]int{s.offset + 2*i, s.offset + 2*i + 1}
	switch s.layout {
	case posenc.HalfSplit:
		return half, half
	case posenc.Interleaved:
		return interleaved, interleaved
	case posenc.InterleavedToHalfSplit:
		return interleaved, half
	}
	return half, interleaved
}

// elementsOfPairs are those of all pairs.
func (s structure) elementsOfPairs() []pairElements {
	list := make([]pairElements, s.dim/2)
	for i := range list {
		list[i].in, list[i].out = s.pair(i)
	}
	return list
}

type pairElements struct{ in, out [2]int }

var layouts = [...]posenc.Layout{posenc.HalfSplit, posenc.Interleaved, posenc.InterleavedToHalfSplit, posenc.HalfSplitToInterleaved}

// heads are some of the heads before and after.
type heads struct {
	before, after      []float32 // [tokens][heads][dim]
	tokens, count, dim int

	// Of each element, sums over all heads from element 0 on: entry e is of those before e.
	squares, differences, moved []float64 // x*x, (y-x)*(y-x), (y-x)*x
	energy                      float64   // the sum of y*y
	changed                     []float64 // of each element, differences by y*y
}

func newHeads(before, after []float32, tokens, count, dim int) *heads {
	h := &heads{before: before, after: after, tokens: tokens, count: count, dim: dim}
	squares, differences, moved, energies := make([]float64, dim+1), make([]float64, dim+1), make([]float64, dim+1), make([]float64, dim)
	for at := 0; at < len(before); at += dim {
		for e := range dim {
			x, y := float64(before[at+e]), float64(after[at+e])
			d := y - x
			squares[e+1] += x * x
			differences[e+1] += d * d
			moved[e+1] += d * x
			energies[e] += y * y
		}
	}
	h.changed = make([]float64, dim)
	for e, energy := range energies {
		h.energy += energy
		if differences[e+1] > 0 {
			h.changed[e] = differences[e+1] / max(energy, differences[e+1])
		}
	}
	for e := range dim {
		squares[e+1] += squares[e]
		differences[e+1] += differences[e]
		moved[e+1] += moved[e]
	}
	h.squares, h.differences, h.moved = squares, differences, moved
	return h
}

// rest returns the sums of squares that are left of the elements outside a slice, where
// they are unchanged and where they are multiplied by one number.
func (h *heads) rest(s structure) (unchanged, scaled, scale float64) {
	outside := func(sums []float64) float64 {
		return sums[s.offset] + (sums[h.dim] - sums[s.end()])
	}
	unchanged = max(0, outside(h.differences))
	squares := outside(h.squares)
	if s.dim == h.dim || !(squares > 0) {
		return unchanged, unchanged, 1
	}
	more := outside(h.moved) / squares
	return unchanged, max(0, unchanged-more*outside(h.moved)), 1 + more
}

// freedom says what the lengths of pairs may be multiplied by.
type freedom int

const (
	oneFactor   freedom = iota
	tokenFactor         // one for each token
	pairFactor          // one for each token and pair
)

// fit is r of every token and pair under a structure, by least squares over the heads.
type fit struct {
	structure
	tokens, pairs int
	weights       []float64    // the sum of |x|^2 of each token and pair
	r             []complex128 // 0 where the weight is
	power         float64      // the sum of weight*|r|^2

	left      float64 // squares that no r explains, and those of the elements outside the slice
	scale     float64 // of the elements outside
	energy    float64
	residuals [3]float64 // by freedom
	factor    float64    // of all pairs
}

// fit fits a structure. It is exact where the residual is to be known below 1e-8.
func (h *heads) fit(s structure, exact bool) *fit {
	pairs := s.dim / 2
	f := &fit{structure: s, tokens: h.tokens, pairs: pairs, energy: h.energy}
	f.weights, f.r = make([]float64, h.tokens*pairs), make([]complex128, h.tokens*pairs)
	at := s.elementsOfPairs()
	for t := range h.tokens {
		weights, r := f.weights[t*pairs:][:pairs], f.r[t*pairs:][:pairs]
		after := 0.0
		for k := range h.count {
			from := (t*h.count + k) * h.dim
			x, y := h.before[from:from+h.dim], h.after[from:from+h.dim]
			for i, e := range at {
				x1, x2, y1, y2 := float64(x[e.in[0]]), float64(x[e.in[1]]), float64(y[e.out[0]]), float64(y[e.out[1]])
				weights[i] += x1*x1 + x2*x2
				r[i] += complex(x1*y1+x2*y2, x1*y2-x2*y1)
				after += y1*y1 + y2*y2
			}
		}
		explained := 0.0
		for i, w := range weights {
			if w > 0 {
				r[i] /= complex(w, 0)
				explained += w * abs2(r[i])
			} else {
				r[i] = 0
			}
		}
		f.power += explained
		if !exact {
			f.left += max(0, after-explained)
			continue
		}
		for k := range h.count {
			from := (t*h.count + k) * h.dim
			x, y := h.before[from:from+h.dim], h.after[from:from+h.dim]
			for i, e := range at {
				z := r[i] * complex(float64(x[e.in[0]]), float64(x[e.in[1]]))
				f.left += abs2(complex(float64(y[e.out[0]]), float64(y[e.out[1]])) - z)
			}
		}
	}
	unchanged, scaled, scale := h.rest(s)
	f.scale = 1
	const least = 1e-6 // zeros are no scale
	if scaled < unchanged/16 && math.Abs(scale) > least {
		f.left, f.scale = f.left+scaled, scale
	} else {
		f.left += unchanged
	}
	f.lengths()
	return f
}

// lengths sets the residuals with free angles.
func (f *fit) lengths() {
	var all, lengths, perToken, total float64
	for t := range f.tokens {
		var w, length, square float64
		for i := t * f.pairs; i < (t+1)*f.pairs; i++ {
			l := cmplx.Abs(f.r[i])
			w, length, square = w+f.weights[i], length+f.weights[i]*l, square+f.weights[i]*l*l
		}
		all, lengths, total = all+w, lengths+length, total+square
		if w > 0 {
			perToken += max(0, square-length*length/w)
		}
	}
	one := 0.0
	if all > 0 {
		f.factor = lengths / all
		one = max(0, total-lengths*f.factor)
	}
	f.residuals = [3]float64{f.residual(one), f.residual(perToken), f.residual(0)}
}

// residual is relative: of what no r explains and of further squares.
func (f *fit) residual(squares float64) float64 {
	if !(f.energy > 0) {
		return 0
	}
	return math.Sqrt((f.left + squares) / f.energy)
}

func abs2(z complex128) float64 { return real(z)*real(z) + imag(z)*imag(z) }

// sample returns the heads and tokens that changed most, n elements or a few more.
func (h *heads) sample(elements int) *heads {
	tokens := min(h.tokens, 16)
	count := min(h.count, max(4, elements/(tokens*h.dim)))
	tokens = min(h.tokens, max(min(tokens, 4), elements/(count*h.dim)))
	type weighted struct {
		index  int
		weight float64
	}
	most := func(n, of int, weight func(i int) float64) []int {
		list := make([]weighted, of)
		for i := range list {
			list[i] = weighted{i, weight(i)}
		}
		slices.SortStableFunc(list, func(a, b weighted) int { return cmp.Compare(b.weight, a.weight) })
		indices := make([]int, n)
		for i := range indices {
			indices[i] = list[i].index
		}
		slices.Sort(indices)
		return indices
	}
	row := func(t, k int) (x, y []float32) {
		at := (t*h.count + k) * h.dim
		return h.before[at : at+h.dim], h.after[at : at+h.dim]
	}
	chosen := most(tokens, h.tokens, func(t int) float64 {
		var changed, all float64
		for k := range h.count {
			x, y := row(t, k)
			for e := range x {
				d := float64(y[e]) - float64(x[e])
				changed, all = changed+d*d, all+float64(x[e])*float64(x[e])+float64(y[e])*float64(y[e])
			}
		}
		return changed / max(all, math.SmallestNonzeroFloat64)
	})
	var before, after []float32
	for _, t := range chosen {
		for _, k := range most(count, h.count, func(k int) float64 {
			var all float64
			x, _ := row(t, k)
			for _, v := range x {
				all += float64(v) * float64(v)
			}
			return all
		}) {
			x, y := row(t, k)
			before, after = append(before, x...), append(after, y...)
		}
	}
	return newHeads(before, after, tokens, count, h.dim)
}

const (
	searchElements = 1 << 14 // of a sample, for each of some thousand structures
	maxRotaryDim   = 2048    // of posenc
	maxSlices      = 1024    // of structures searched, for each layout
)

// slicesOf returns the slices of a head that may rotate: those of the candidates, from the
// first element that changed on, from the start of the head and up to its end.
func (h *heads) slicesOf(candidates []*spec) (list []structure) {
	seen := map[[2]int]bool{}
	add := func(offset, dim int) {
		at := [2]int{offset, dim}
		if dim >= 2 && dim%2 == 0 && dim <= maxRotaryDim && offset >= 0 && offset+dim <= h.dim && !seen[at] {
			seen[at] = true
			list = append(list, structure{0, offset, dim})
		}
	}
	for _, c := range candidates {
		add(c.offset, c.dim)
	}
	add(0, h.dim/2*2)
	step := 2 * max(1, h.dim/1024)
	for _, threshold := range [...]float64{0, h.gap()} {
		first, end := h.dim, 0
		for e, changed := range h.changed {
			if changed > threshold {
				first, end = min(first, e), e+1
			}
		}
		add(first, end-first)
		for dim := (end - first + 1) / 2 * 2; dim <= h.dim-first && first > 0; dim += step {
			add(first, dim)
		}
	}
	for dim := 2; dim <= h.dim; dim += step {
		add(0, dim)
		add(h.dim-dim, dim)
	}
	if len(list) > maxSlices {
		list = list[:maxSlices]
	}
	return list
}

// gap is between what changed by noise and what rotated: the geometric mean of the two
// neighbours among the sorted changes whose ratio is largest.
func (h *heads) gap() float64 {
	sorted := slices.Sorted(slices.Values(h.changed))
	ratio, gap := 30.0, 0.0
	for i := 1; i < len(sorted); i++ {
		low, high := max(sorted[i-1], 1e-16), max(sorted[i], 1e-16)
		if high/low > ratio {
			ratio, gap = high/low, math.Sqrt(low*high)
		}
	}
	return gap
}

// found is what the search for the structure says.
type found struct {
	fits    []*fit // those that explain the data equally well, best first
	freedom freedom
	noise   float64 // the residual of the first
}

// search returns the structures that leave the least residual.
func (h *heads) search(candidates []*spec, floor float64) *found {
	sample := h.sample(searchElements)
	var all []*fit
	best := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
	for _, s := range h.slicesOf(candidates) {
		for _, s.layout = range layouts {
			f := sample.fit(s, false)
			for i, r := range f.residuals {
				best[i] = min(best[i], r)
			}
			f.weights, f.r = nil, nil
			all = append(all, f)
		}
	}
	// Cosines and sines of bfloat16 change lengths too, by 0.0011.
	const ofTables = 0.002
	free := oneFactor
	if best[tokenFactor] < best[free]/3 && best[free] > ofTables && h.dim >= 8 {
		free = tokenFactor
	}
	if best[pairFactor] < best[free]/3 && best[free] > ofTables && sample.count >= 3 {
		free = pairFactor
	}
	wanted := func(f *fit) int {
		rank := 2
		for _, c := range candidates {
			switch {
			case c.structure == f.structure:
				return 0
			case c.offset == f.offset && c.dim == f.dim:
				rank = 1
			}
		}
		return rank
	}
	first := slices.IndexFunc(h.changed, func(changed float64) bool { return changed > 0 })
	last := h.dim - 1
	for last > 0 && h.changed[last] == 0 {
		last--
	}
	covers := func(f *fit) int {
		if f.offset <= first && last < f.end() {
			return 0
		}
		return 1
	}
	least := best[free]
	all = slices.DeleteFunc(all, func(f *fit) bool {
		r := f.residuals[free]
		return r*r > least*least*1.1+floor*floor
	})
	// Pairs of neighbours at an end of the slice that never changed are not of it.
	loose := func(f *fit) bool {
		still := func(e int) bool { return h.changed[e] == 0 && h.changed[e+1] == 0 }
		return f.layout == posenc.Interleaved && wanted(f) == 2 && (still(f.offset) || still(f.end()-2))
	}
	if tight := slices.DeleteFunc(slices.Clone(all), loose); len(tight) > 0 {
		all = tight
	}
	// Alike are residuals whose difference is that of sums in another order.
	class := func(f *fit) float64 {
		return math.Floor(math.Log((f.residuals[free]+floor)/(least+floor)) / 0.1)
	}
	slices.SortStableFunc(all, func(a, b *fit) int {
		return cmp.Or(cmp.Compare(wanted(a), wanted(b)), cmp.Compare(class(a), class(b)), cmp.Compare(covers(a), covers(b)), cmp.Compare(a.dim, b.dim))
	})
	result := &found{freedom: free}
	most := maxStructures
	if least >= noStructure {
		most = 1
	}
	for _, f := range all[:min(len(all), most)] {
		result.fits = append(result.fits, h.fit(f.structure, true))
	}
	result.noise = result.fits[0].residuals[free]
	return result
}

// maxStructures are compared with the candidates, of those that explain the data equally well.
const maxStructures = 6
