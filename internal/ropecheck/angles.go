package ropecheck

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

const defaultBase = 10000 // of posenc

// spec is a rotation to compare with: that of a candidate, changed by faults.
type spec struct {
	structure
	name      string
	candidate int       // its index, -1: fitted
	invFreq   []float64 // one for each pair
	base      float64   // of the float32 steps and running products; 0: unknown
	factor    float64
	xpos      *posenc.XPos
	axes      []int // of each pair; nil: 0
	inverse   bool
	times     int

	headDim  int
	readings []Reading
	reading  string // how frequencies were read wrong: a sentence

	positionOffset int     // added to positions
	positions      []int32 // in place of those of the data
	ratio          float64 // of frequencies to the candidate's; 0: 1
	faults         []Aspect
}

func (s *spec) axis(i int) int {
	if s.axes == nil {
		return 0
	}
	return s.axes[i]
}

// axesOf is the number of axes that a spec takes positions from.
func (c *checker) axesOf(s *spec) int {
	used := 1
	for _, a := range s.axes {
		used = max(used, a+1)
	}
	return used
}

// sign is that of the angles.
func (s *spec) sign() int {
	if s.inverse {
		return -1
	}
	return 1
}

// geometric are the frequencies base^(-2i/dim)/factor.
func geometric(dim int, base, factor float64) []float64 {
	list := make([]float64, dim/2)
	if ladder, err := frequency.Default(dim, base, frequency.Exact); err == nil {
		copy(list, ladder.InvFreq)
	} else {
		for i := range list {
			list[i] = math.Pow(base, -2*float64(i)/float64(dim))
		}
	}
	for i := range list {
		list[i] /= factor
	}
	return list
}

// baseOf returns the base of which the first frequencies are powers, or 0. Rules that
// scale frequencies mostly leave the first two their ratio.
func baseOf(dim int, invFreq []float64) float64 {
	if len(invFreq) < 2 || !(invFreq[0] > invFreq[1] && invFreq[1] > 0) {
		return 0
	}
	base := math.Pow(invFreq[0]/invFreq[1], float64(dim)/2)
	if nice := math.Round(base); math.Abs(nice-base) < 1e-4*base && nice > 1 { // float32 steps err by 2^-23 for each of dim/2 factors
		base = nice
	}
	if !(base > 1 && base < math.MaxFloat32) {
		return 0
	}
	return base
}

// roundedAngles are the ways to round angles, those of engines first.
var roundedAngles = [...]Angles{ExactAngles, Float32Angles, SteppedAngles, RunningAngles, BFloat16InvFreq, Float16InvFreq, BFloat16Pos, Float16Pos, BFloat16Angles, Float16Angles}

var roundedTables = [...]Tables{Float32Tables, BFloat16Tables, Float16Tables}

func (t Tables) round(x float32) float32 {
	switch t {
	case BFloat16Tables:
		return BFloat16.round(x)
	case Float16Tables:
		return Float16.round(x)
	}
	return x
}

// position of a token on an axis.
func (c *checker) position(s *spec, axis, t int) int32 {
	tokens := c.data.Tokens
	p := int64(s.positionOffset)
	switch {
	case s.positions != nil:
		p += int64(s.positions[min(axis, len(s.positions)/tokens-1)*tokens+t])
	case c.data.Positions != nil:
		p += int64(c.data.Positions[min(axis, c.axes-1)*tokens+t])
	default:
		p += int64(t)
	}
	return int32(min(max(p, math.MinInt32), math.MaxInt32))
}

// tables returns cosines and sines, [tokens][pairs], of angles rounded in one way; ok is
// false where a spec has none.
func (c *checker) tables(s *spec, angles Angles, tokens []int) (cos, sin []float32, ok bool) {
	pairs := s.dim / 2
	cos, sin = make([]float32, len(tokens)*pairs), make([]float32, len(tokens)*pairs)
	used := c.axesOf(s)
	switch angles {
	case ExactAngles, Float32Angles, SteppedAngles:
		cfg := posenc.RotaryConfig{HeadDim: s.dim, Layout: posenc.HalfSplit, InvFreq: s.invFreq, AttentionFactor: s.factor, XPos: s.xpos}
		if angles != ExactAngles {
			cfg.Rounding = frequency.Float32
		}
		if angles == SteppedAngles {
			ladder, err := frequency.Default(s.dim, s.base, frequency.Float32)
			if err != nil || !s.geometric() {
				return nil, nil, false
			}
			cfg.InvFreq = ladder.InvFreq
		}
		if s.axes != nil {
			for _, a := range s.axes {
				cfg.Axes = append(cfg.Axes, uint8(a))
			}
		}
		rotary, err := posenc.NewRotary(cfg)
		if err != nil {
			return nil, nil, false
		}
		positions := make([]int32, 0, used*len(tokens))
		for a := range used {
			for _, t := range tokens {
				positions = append(positions, c.position(s, a, t))
			}
		}
		if rotary.CosSinAxes(cos, sin, positions) != nil {
			return nil, nil, false
		}
		// Far from its center, the decay of xPos is no finite number.
		return cos, sin, s.xpos == nil || allFinite(cos) && allFinite(sin)
	}
	if s.xpos != nil {
		return nil, nil, false
	}
	list := make([]float32, len(cos))
	frequencies := make([]float32, pairs)
	for i, f := range s.invFreq {
		switch frequencies[i] = float32(f); angles {
		case BFloat16InvFreq, BFloat16Angles:
			frequencies[i] = BFloat16.round(float32(f))
		case Float16InvFreq, Float16Angles:
			frequencies[i] = Float16.round(float32(f))
		}
	}
	var ratio float32
	var divisors []float32
	if angles == RunningAngles {
		if s.base == 0 {
			return nil, nil, false
		}
		ratio, divisors = s.running()
	}
	for n, t := range tokens {
		for a := range used {
			p := float32(c.position(s, a, t))
			switch angles {
			case BFloat16Pos, BFloat16Angles:
				p = BFloat16.round(p)
			case Float16Pos, Float16Angles:
				p = Float16.round(p)
			}
			product := p
			for i := range pairs {
				angle := p * frequencies[i]
				switch angles {
				case RunningAngles:
					angle = product / divisors[i]
					product *= ratio
				case BFloat16Angles:
					angle = BFloat16.round(angle)
				case Float16Angles:
					angle = Float16.round(angle)
				}
				if s.axis(i) == a {
					list[n*pairs+i] = angle
				}
			}
		}
	}
	for _, a := range list {
		if math.IsInf(float64(a), 0) || math.IsNaN(float64(a)) {
			return nil, nil, false
		}
	}
	if posenc.CosSinAngles(cos, sin, list) != nil {
		return nil, nil, false
	}
	if factor := float32(s.factor); factor != 1 {
		for i := range cos {
			cos[i], sin[i] = cos[i]*factor, sin[i]*factor
		}
	}
	return cos, sin, true
}

// geometric reports whether the frequencies are powers of the base.
func (s *spec) geometric() bool {
	if s.base == 0 {
		return false
	}
	for i, f := range s.invFreq {
		if want := math.Pow(s.base, -2*float64(i)/float64(s.dim)); !(math.Abs(f-want) <= 1e-5*want) {
			return false
		}
	}
	return true
}

// running returns the factor from angle to angle, as ggml has it, and what divides each
// angle besides: its frequency factors.
func (s *spec) running() (ratio float32, divisors []float32) {
	ratio = float32(math.Pow(s.base, -2/float64(s.dim)))
	divisors = make([]float32, len(s.invFreq))
	for i, f := range s.invFreq {
		want := math.Pow(s.base, -2*float64(i)/float64(s.dim))
		divisors[i] = float32(want / f)
		if math.Abs(want-f) <= 1e-5*want {
			divisors[i] = 1
		}
	}
	return ratio, divisors
}

// rotations are complex numbers, [tokens][pairs]: cos + j*sin.
func rotations(cos, sin []float32, tables Tables) []complex128 {
	list := make([]complex128, len(cos))
	for i := range cos {
		list[i] = complex(float64(tables.round(cos[i])), float64(tables.round(sin[i])))
	}
	return list
}

// applied are the rotations with the spec's sign, times a factor.
func applied(list []complex128, s *spec) []complex128 {
	if !s.inverse && s.times == 1 {
		return list
	}
	list = slices.Clone(list)
	for i, z := range list {
		if s.times == 2 {
			z *= z
		}
		if s.inverse {
			z = cmplx.Conj(z)
		}
		list[i] = z
	}
	return list
}

// against compares r of some tokens with a rotation, times one factor, which it returns, or
// one for each token, or pair and token. The difference is relative to the power of these tokens. slack
// is by how much cosines and sines may differ for nothing, and floor elements: factors are those of the pairs that
// tell them.
func (f *fit) against(rotation []complex128, tokens []int, free freedom, slack []float64, floor float64) (difference, factor float64) {
	var power, product, square float64
	factors := make([]float64, len(tokens))
	for n, t := range tokens {
		var p, s float64
		for i := range f.pairs {
			at, z := t*f.pairs+i, rotation[n*f.pairs+i]
			w := f.weights[at]
			power += w * abs2(f.r[at])
			product := real(cmplx.Conj(z) * f.r[at])
			if slack != nil && z != 0 {
				off := slack[n*f.pairs+i]
				w *= floor * floor / (floor*floor + off*off)
			}
			p, s = p+w*product, s+w*abs2(z)
		}
		product, square = product+p, square+s
		if s > 0 {
			factors[n] = p / s
		}
	}
	if square > 0 {
		factor = product / square
	}
	if !(power > 0) {
		return 0, 1
	}
	left := 0.0
	for n, t := range tokens {
		g := factor
		if free == tokenFactor {
			g = factors[n]
		}
		for i := range f.pairs {
			at, z := t*f.pairs+i, rotation[n*f.pairs+i]
			if free == pairFactor && z != 0 {
				g = cmplx.Abs(f.r[at]) / cmplx.Abs(z)
			}
			d := cmplx.Abs(f.r[at] - complex(g, 0)*z)
			if slack != nil {
				d = max(0, d-slack[n*f.pairs+i]*math.Abs(g)*cmplx.Abs(z))
			}
			left += f.weights[at] * d * d
		}
	}
	return left / power, factor
}

// solve returns the integer p for which the angles are nearest to p*frequencies, modulo
// 2 pi. The score is the weighted sum of the cosines of what is left, divided by the largest
// possible sum. Of integers with equal scores it returns the smallest in magnitude; most
// bounds the magnitude.
func solve(angles, weights, frequencies []float64, tolerance float64, most int) (p int, score float64) {
	type pair struct{ angle, weight, frequency float64 }
	var pairs []pair
	total := 0.0
	for i, f := range frequencies {
		total += weights[i]
		if f != 0 && weights[i] > 0 {
			if f < 0 {
				pairs = append(pairs, pair{-angles[i], weights[i], -f})
			} else {
				pairs = append(pairs, pair{angles[i], weights[i], f})
			}
		}
	}
	if len(pairs) == 0 || !(total > 0) {
		return 0, 0
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.frequency, b.frequency) })
	// Intervals of positions that the slower pairs leave possible.
	type interval struct{ low, high float64 }
	const mostIntervals = 1 << 11
	bound := min(float64(most), mostIntervals*math.Pi/pairs[0].frequency)
	list := []interval{{-bound, bound}}
	heaviest := 0.0
	for _, q := range pairs {
		heaviest = max(heaviest, q.weight)
	}
	for _, q := range pairs {
		if q.weight < heaviest*1e-4 {
			continue
		}
		var next []interval
		for _, in := range list {
			first := math.Ceil((in.low*q.frequency - q.angle - tolerance) / (2 * math.Pi))
			last := math.Floor((in.high*q.frequency - q.angle + tolerance) / (2 * math.Pi))
			if last-first > mostIntervals {
				next = append(next, in) // this pair is too fast for what is known
				continue
			}
			for k := first; k <= last; k++ {
				center := q.angle + 2*math.Pi*k
				low, high := max(in.low, (center-tolerance)/q.frequency), min(in.high, (center+tolerance)/q.frequency)
				if math.Ceil(low-0.5) <= math.Floor(high+0.5) && low-0.5 <= high+0.5 {
					next = append(next, interval{low, high})
				}
			}
		}
		if len(next) == 0 {
			continue // an outlier
		}
		if len(next) > mostIntervals {
			slices.SortStableFunc(next, func(a, b interval) int {
				return cmp.Compare(math.Abs(a.low+a.high), math.Abs(b.low+b.high))
			})
			next = next[:mostIntervals]
		}
		list = next
	}
	value := func(p int) float64 {
		sum := 0.0
		for _, q := range pairs {
			sum += q.weight * math.Cos(q.angle-float64(p)*q.frequency)
		}
		return sum / total
	}
	score = math.Inf(-1)
	tried := 0
	for _, in := range list {
		for v := math.Ceil(in.low - 0.5); v <= in.high+0.5 && tried < 1<<16; v++ {
			tried++
			s := value(int(v))
			if s > score+1e-9 || s > score-1e-9 && math.Abs(v) < math.Abs(float64(p)) {
				p, score = int(v), max(s, score)
			}
		}
	}
	return p, score
}

// mostPosition bounds positions that are solved for.
const mostPosition = 1 << 22

// fitted is the frequency of one pair.
type fitted struct {
	frequency float64
	deviation float64 // standard deviation
	phase     float64 // the angle at position 0
	coherence float64 // 1: the angles are on a line
	known     bool
}

// fitFrequency fits the angles of r, modulo 2 pi, by a line in the positions, which are sorted
// and distinct. noise bounds from below how certain the frequency is.
func fitFrequency(positions []int64, r []complex128, noise float64) (best fitted) {
	n := len(positions)
	if n < 2 {
		return best
	}
	type lag struct {
		distance int64
		sum      complex128
	}
	lags := map[int64]complex128{}
	for i := range n {
		for j := i + 1; j < n; j++ {
			lags[positions[j]-positions[i]] += cmplx.Conj(r[i]) * r[j]
		}
	}
	sorted := make([]lag, 0, len(lags))
	for d, sum := range lags {
		sorted = append(sorted, lag{d, sum})
	}
	slices.SortFunc(sorted, func(a, b lag) int { return cmp.Compare(a.distance, b.distance) })
	total := 0.0
	for _, z := range r {
		total += cmplx.Abs(z)
	}
	if !(total > 0) {
		return best
	}
	first := float64(sorted[0].distance)
	turns := min(math.Ceil(first/2), 512)
	for k := -turns; k <= turns; k++ {
		start := (cmplx.Phase(sorted[0].sum) + 2*math.Pi*k) / first
		if math.Abs(start) > math.Pi*1.0001 {
			continue
		}
		frequency, sure, deviation := start, 0.0, 0.0
		for i, l := range sorted {
			d := float64(l.distance)
			if i > 0 && d*deviation > 1 {
				break
			}
			w := cmplx.Abs(l.sum) * d * d
			if !(w > 0) {
				continue
			}
			e := cmplx.Phase(l.sum * cmplx.Rect(1, -frequency*d))
			if i > 0 {
				frequency += e / d * w / (sure + w)
			}
			sure += w
			deviation = max(noise, 1e-6) / d
		}
		sum := complex(0, 0)
		for i, z := range r {
			sum += z * cmplx.Rect(1, -frequency*float64(positions[i]))
		}
		f := fitted{frequency, deviation, cmplx.Phase(sum), cmplx.Abs(sum) / total, true}
		alike := max(1e-9, noise*noise)
		switch {
		case f.coherence > best.coherence+alike, f.coherence > best.coherence-alike && math.Abs(f.frequency) < math.Abs(best.frequency):
			best = f
		}
	}
	return best
}

func allFinite(x []float32) bool {
	return !slices.ContainsFunc(x, func(v float32) bool { return math.IsInf(float64(v), 0) || math.IsNaN(float64(v)) })
}
